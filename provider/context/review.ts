import type { Scope } from '../../kinds/claims/scopes.js';

/** About whom, for whom and why claims are asked for. */
export interface ClaimsReviewRequest {
  readonly account: string;
  readonly client: string;
  readonly purpose: 'Preview' | 'Release';
  /** The consent that an answer is good for. */
  readonly decision: string;
  readonly scopes: readonly Scope[];
}

/** Values by scope; undefined for those of a service that gave none. */
export type Reviewed = ReadonlyMap<string, Readonly<Record<string, unknown>> | undefined>;
