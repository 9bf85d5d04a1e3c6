import type { Decision } from '../../registry/kind.js';

/** A decision with the name of the policy that made it. */
export interface AuthorizationResponse extends Decision {
  readonly policy: string;
}
