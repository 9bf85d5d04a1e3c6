import type { AudienceObject } from '../../kinds/apps/audience/audience.js';
import {
  type AudienceConsent,
  grantedScopesOf,
  rejectedScopesOf,
} from '../../kinds/apps/audience/grant-audiences.js';
import { audienceScopeID } from '../../kinds/apps/claims/scope-id.js';
import type { Decision } from '../../registry/kind.js';
import type { SignedIn } from '../adapter/accounts.js';
import { audiencesOf, type RequestedAudience } from '../adapter/audiences.js';
import type { GrantObject, ProviderServices } from '../context/context.js';
import { decideScopes, refusedScopes } from './policy.js';

/** Who shares with whom, and the sign-in that it derives from. */
export interface Sharing {
  readonly account: string;
  readonly client: string;
  readonly signedIn: SignedIn;
}

/** A consent to the scopes of an Audience, and the decisions about them by scope id. */
export type DecidedConsent = AudienceConsent & { readonly decisions: Map<string, Decision> };

/** Returns a consent to these scopes of an Audience, without those that policy refuses now. */
export async function decideAudience(
  services: ProviderServices,
  { account, client, signedIn }: Sharing,
  { audience, scopes }: RequestedAudience,
  rejected: readonly string[] = [],
): Promise<DecidedConsent> {
  const id = (scope: string): string => audienceScopeID(audience.metadata.name, scope);
  const decisions = await decideScopes(services, account, client, scopes.map(id), signedIn);
  const refused = refusedScopes(decisions);
  return {
    audience,
    scopes: scopes.filter((scope) => !refused.has(id(scope))),
    rejected: [...rejected, ...scopes.filter((scope) => refused.has(id(scope)))],
    decisions,
  };
}

/**
 * Returns the consents to Audiences in a recorded Grant, without scopes that policy refuses now, and
 * without Audiences that the Client may no longer request.
 */
export async function rememberedAudiences(
  services: ProviderServices,
  sharing: Sharing,
  grant: GrantObject,
): Promise<DecidedConsent[]> {
  const audiences = await audiencesOf(services, sharing.client);
  const consents = await Promise.all(
    audiences.map((audience) =>
      decideAudience(
        services,
        sharing,
        { audience, scopes: knownScopes(audience, grantedScopesOf(grant, audience)) },
        rejectedScopesOf(grant, audience),
      ),
    ),
  );
  return consents.filter(({ scopes, rejected }) => scopes.length + rejected.length > 0);
}

/** Returns the scopes that an Audience still has. */
const knownScopes = ({ spec }: AudienceObject, scopes: readonly string[]): string[] =>
  scopes.filter((scope) => spec.scopes.some(({ name }) => name === scope));

/** Returns whether a recorded Grant decides about every scope of an Audience that is requested. */
export const coversAudience = (
  grant: GrantObject,
  { audience, scopes }: RequestedAudience,
): boolean => {
  const decided = [...grantedScopesOf(grant, audience), ...rejectedScopesOf(grant, audience)];
  return scopes.every((scope) => decided.includes(scope));
};
