import type { Scope } from '../../kinds/apps/claims/scopes.js';
import { Grant, grantName } from '../../kinds/apps/grant.js';
import type { AccountObject, GrantObject, ProviderServices } from '../context/context.js';
import { libraryError, withProviderErrors } from '../context/errors.js';

type Values = Record<string, unknown>;

/**
 * Returns the agreed claims that claims providers supply for the scopes. Throws 503 if a provider
 * with failurePolicy Fail fails.
 */
export async function suppliedClaims(
  services: ProviderServices,
  account: AccountObject,
  client: string,
  scopes: readonly Scope[],
): Promise<Map<string, Values>> {
  if (scopes.length === 0) return new Map();
  const { name } = account.metadata;
  const grant = await withProviderErrors(services.store.reader(Grant).get(grantName(name, client)));
  const agreed = scopes.flatMap((scope) => {
    const claims = agreedClaims(grant, scope);
    return claims.size > 0 ? [{ scope, claims }] : [];
  });
  const reviewed = await services.claims.reviews.requestClaims({
    account: name,
    client,
    purpose: 'Release',
    decision: String(grant?.internal.decision ?? 0),
    scopes: agreed.map(({ scope }) => scope),
  });
  return new Map(
    agreed.map(({ scope, claims }) => {
      const values = reviewed.get(scope.name);
      if (
        !values &&
        services.claims.scopeIndex.provider(scope.provider.name)?.spec.failurePolicy === 'Fail'
      ) {
        throw libraryError(503, 'temporarily_unavailable', 'a claims provider cannot be reached');
      }
      const agreedValues = Object.entries(values ?? {}).filter(([claim]) => claims.has(claim));
      if (values && agreedValues.length < Object.keys(values).length) {
        services.runtime.count('claims_not_agreed');
      }
      return [scope.name, Object.fromEntries(agreedValues)];
    }),
  );
}

/**
 * Returns the claims of a scope that the person agreed to get from this provider; all for a
 * first-party Client.
 */
function agreedClaims(
  grant: GrantObject | undefined,
  { name, provider, claims }: Scope,
): ReadonlySet<string> {
  const names = claims.map((claim) => claim.name);
  const known = grant?.internal.claims;
  if (!known) return new Set(grant ? names : []);
  const agreed = known[name];
  return new Set(
    agreed?.provider === provider.name
      ? names.filter((claim) => agreed.claims.includes(claim))
      : [],
  );
}
