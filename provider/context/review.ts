import type { Scope } from '../../kinds/apps/claims/scopes.js';

/** A request for claims: the person, the Client and the purpose. */
export interface ClaimsReviewRequest {
  readonly account: string;
  readonly client: string;
  readonly purpose: 'Preview' | 'Release';
  /** Identifies the consent decision that a cached response is valid for. */
  readonly decision: string;
  readonly scopes: readonly Scope[];
}

/** The values by scope; undefined for scopes whose provider returned none. */
export type ReviewedClaims = ReadonlyMap<string, Readonly<Record<string, unknown>> | undefined>;
