import { errors, type Token, type TokenContext } from 'oidc-provider';
import type { AccountObject, ProviderServices } from '../context/context.js';
import { signInOfGrant } from './grant-sign-in.js';
import { decideShare, decideSignIn } from './policy.js';

/** The scopes that a refresh needs: the identity, offline access, and the command's API. */
const vitalScopes: ReadonlySet<string> = new Set(['openid', 'offline_access', 'api']);

/**
 * Applies the current policy to a refresh, with the facts of the original sign-in. Throws
 * `invalid_grant` (RFC 6749 §5.2) without consuming the token if policy refuses the sign-in or a
 * vital scope. Removes other refused scopes that have no claims; claims are decided when they are
 * released.
 */
export async function applyRefreshPolicy(
  services: ProviderServices,
  { oidc: { client, grant } }: TokenContext,
  account: AccountObject,
  token: Pick<Token, 'scope'>,
): Promise<void> {
  const { clientId } = client;
  const signedIn = await signInOfGrant(services, account.metadata.name, clientId, grant.jti);
  if (!(await decideSignIn(services, account, clientId, signedIn)).allowed) {
    throw new errors.InvalidGrant('policy refuses the sign-in');
  }
  const scopes = new Set(token.scope?.split(' '));
  for (const { name } of services.claims
    .scopes()
    .filter(
      (scope) =>
        scopes.has(scope.name) && (vitalScopes.has(scope.name) || scope.claims.length === 0),
    )) {
    if ((await decideShare(services, account, clientId, name, signedIn)).allowed) continue;
    if (vitalScopes.has(name)) throw new errors.InvalidGrant('policy refuses a scope');
    grant.rejectOIDCScope(name);
  }
}
