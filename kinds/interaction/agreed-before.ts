import type { Call, ObjectOf } from '../../registry/kind.js';
import { Audience } from '../apps/audience/audience.js';
import { grantedScopesOf } from '../apps/audience/grant-audiences.js';
import { parseAudienceScopeID } from '../apps/claims/scope-id.js';
import type { Scope } from '../apps/claims/scopes.js';
import type { Client } from '../apps/client/client.js';
import { Grant, grantName, isGrantValid } from '../apps/grant.js';

type GrantObject = ObjectOf<typeof Grant>;
type ClientObject = ObjectOf<typeof Client>;

/**
 * Returns a Grant if it still holds for the Client, which is absent for a built-in one and for one
 * with a metadata document.
 */
export const grantInForce = (
  grant: GrantObject | undefined,
  client: ClientObject | undefined,
  now: number,
): GrantObject | undefined => {
  const made = { uid: client?.metadata.uid ?? '', firstParty: client?.spec.firstParty };
  return grant && isGrantValid(grant, made, now) ? grant : undefined;
};

/**
 * Returns whether the person agreed to a scope before, of the same claims provider or of the same
 * Audience. A page shows the values again, those of further claims too.
 */
export async function findAgreedScopes(
  call: Call,
  account: string,
  { name, object }: { readonly name: string; readonly object: ClientObject | undefined },
): Promise<(id: string, scope: Scope | undefined) => Promise<boolean>> {
  const stored = await call.store(Grant).get(grantName(account, name));
  const grant = grantInForce(stored, object, call.now);
  if (!grant) return () => Promise.resolve(false);
  return async (id, scope) => {
    if (!scope) return grant.spec.scopes.includes(id);
    if (!scope.audience) return grant.spec.scopes.includes(id) && isOfSameProvider(grant, scope);
    const audience = await call.store(Audience).cached(scope.audience.name);
    const parsed = parseAudienceScopeID(id);
    return Boolean(audience && parsed && grantedScopesOf(grant, audience).includes(parsed.scope));
  };
}

/** Returns whether the person agreed to get a scope from its provider; true for built-in scopes. */
const isOfSameProvider = ({ internal }: GrantObject, { name, provider, values }: Scope): boolean =>
  Boolean(values) || !internal.claims || internal.claims[name]?.provider === provider.name;
