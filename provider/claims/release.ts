import { Grant, grantName } from '../../kinds/grant.js';
import type { Scope } from '../../kinds/claims/scopes.js';
import type { AccountObject, ProviderServices, GrantObject } from '../context/context.js';
import { libraryError, withProviderErrors } from '../context/errors.js';

type Values = Record<string, unknown>;

/**
 * What other services supply of these scopes at a release, no more than was agreed; 503 where one
 * fails that may not be left out.
 */
export async function supply(
  services: ProviderServices,
  account: AccountObject,
  client: string,
  scopes: readonly Scope[],
): Promise<Map<string, Values>> {
  if (scopes.length === 0) return new Map();
  const { name } = account.metadata;
  const grant = await withProviderErrors(services.store.reader(Grant).get(grantName(name, client)));
  const agreed = scopes.flatMap((scope) => {
    const claims = claimsAgreed(grant, scope);
    return claims.size > 0 ? [{ scope, claims }] : [];
  });
  const reviewed = await services.reviews.ask({
    account: name,
    client,
    purpose: 'Release',
    decision: String(grant?.internal.decision ?? 0),
    scopes: agreed.map(({ scope }) => scope),
  });
  return new Map(
    agreed.map(({ scope, claims }) => {
      const values = reviewed.get(scope.name);
      if (!values && services.suppliers.named(scope.provider.name)?.spec.failurePolicy === 'Fail')
        throw libraryError(
          503,
          'temporarily_unavailable',
          'a service that supplies claims cannot be reached',
        );
      const within = Object.entries(values ?? {}).filter(([claim]) => claims.has(claim));
      if (values && within.length < Object.keys(values).length) services.count('claims_not_agreed');
      return [scope.name, Object.fromEntries(within)];
    }),
  );
}

/**
 * Of a scope's claims those that someone agreed to get from this very service; of a first party,
 * all.
 */
function claimsAgreed(
  grant: GrantObject | undefined,
  { name, provider, claims }: Scope,
): ReadonlySet<string> {
  const all = claims.map((claim) => claim.name);
  const known = grant?.internal.claims;
  if (!known) return new Set(grant ? all : []);
  const agreed = known[name];
  return new Set(
    agreed?.provider === provider.name ? all.filter((claim) => agreed.claims.includes(claim)) : [],
  );
}
