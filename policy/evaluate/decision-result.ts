import type { Alternative } from '../../kinds/policy/alternatives.js';
import type { Decision } from '../../registry/kind.js';

/** A decision with the name of the policy that made it. */
export interface AuthorizationResponse extends Decision {
  readonly policy: string;
  /** Of a refusal that was explained: what would have permitted it. */
  readonly alternatives?: readonly Alternative[];
}
