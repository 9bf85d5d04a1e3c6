import { errors, type ProviderContext, type Token } from 'oidc-provider';
import { grantSignIn } from './grant-sign-in.js';
import type { AccountObject, ProviderServices } from '../context/context.js';
import { mayShare, maySignIn } from './policy.js';

/**
 * Scopes without which a refresh makes no sense: who it is, to go on at all, and all that the
 * command's tokens are for.
 */
const vital: ReadonlySet<string> = new Set(['openid', 'offline_access', 'api']);

/**
 * Puts a refresh to the policy now in force, as the sign-in it goes back to: refused where the
 * person may not sign in to the Client any more or share what it goes on with (`invalid_grant`, RFC
 * 6749 5.2; the token stays unused); other scopes that no claims would be asked about later are
 * left out.
 */
export async function judgeRefresh(
  services: ProviderServices,
  ctx: ProviderContext,
  account: AccountObject,
  token: Token,
): Promise<void> {
  const { client, grant } = ctx.oidc;
  const { clientId } = client!;
  const signedIn = await grantSignIn(services, account.metadata.name, clientId, token.grantId!);
  if (!(await maySignIn(services, account, clientId, signedIn)).allowed)
    throw new errors.InvalidGrant('policy refuses the sign-in');
  const scopes = new Set(token.scope?.split(' '));
  for (const { name } of services
    .scopes()
    .filter(
      (scope) => scopes.has(scope.name) && (vital.has(scope.name) || scope.claims.length === 0),
    )) {
    if ((await mayShare(services, account, clientId, name, signedIn)).allowed) continue;
    if (vital.has(name)) throw new errors.InvalidGrant('policy refuses a scope');
    grant!.rejectOIDCScope(name);
  }
}
