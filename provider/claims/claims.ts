import {
  errors,
  type Account as LibraryAccount,
  type ProviderContext,
  type Token,
} from 'oidc-provider';
import type { Scope } from '../../kinds/claims/scopes.js';
import { refusalMessage } from '../../registry/authorizer.js';
import { accountObject, type SignedIn } from '../adapter/accounts.js';
import { grantSignIn } from '../interaction/grant-sign-in.js';
import { clientObject } from '../adapter/clients.js';
import { rememberScopes } from './disclosures.js';
import type { AccountObject, ProviderServices } from '../context/context.js';
import { withProviderErrors } from '../context/errors.js';
import { judgeRefresh } from '../interaction/refresh-policy.js';
import { mayShare } from '../interaction/policy.js';
import { signedInBy } from '../interaction/prompts.js';
import { supply } from './release.js';

/**
 * The account behind a subject for the library, at authorization, token, refresh and userinfo;
 * undefined ends what was asked for. A refresh is put to policy here; one with a token that was
 * used is the library's to answer.
 */
export async function findAccount(
  services: ProviderServices,
  ctx: ProviderContext,
  sub: string,
  token?: Token,
): Promise<LibraryAccount | undefined> {
  const account = await accountObject(services, sub);
  if (account && token?.kind === 'RefreshToken' && ctx.oidc.route === 'token' && !token.consumed)
    await judgeRefresh(services, ctx, account, token);
  return (
    account && {
      accountId: sub,
      claims: (use, scope) => claimsFor(services, ctx, account, { use, scope }),
    }
  );
}

/**
 * What leaves for a Client: agreed scopes alone, each put to policy again; the ID token carries
 * what the Client asked to have there.
 */
async function claimsFor(
  services: ProviderServices,
  ctx: ProviderContext,
  account: AccountObject,
  asked: { use: 'id_token' | 'userinfo'; scope: string },
): Promise<Record<string, unknown> & { sub: string }> {
  const sub = account.metadata.name;
  const client = ctx.oidc.client!.clientId;
  const signedIn = await signedInFor(services, ctx, sub);
  await refuseIdentity(services, account, client, { use: asked.use, signedIn });
  const wanted =
    asked.use === 'id_token'
      ? new Set((await clientObject(services, client))?.spec.idTokenClaims)
      : undefined;
  if (wanted?.size === 0) return { sub };
  const agreed = new Set(
    ctx.oidc.grant?.getOIDCScopeFiltered(new Set(asked.scope.split(' '))).split(' '),
  );
  const scopes = services
    .scopes()
    .filter(
      (scope) =>
        agreed.has(scope.name) &&
        scope.name !== 'openid' &&
        scope.claims.some(({ name }) => !wanted || wanted.has(name)),
    );
  const released = await release(services, account, client, scopes, signedIn);
  const leaving = [...released]
    .map(([scope, values]) => [scope, only(values, wanted)] as const)
    .filter(([, values]) => Object.keys(values).length > 0);
  rememberScopes(leaving);
  return { ...Object.assign({}, ...leaving.map(([, values]) => values)), sub };
}

/**
 * Refuses where policy does not let the Client know who it is: 403 at userinfo, with the words of
 * the rule (RFC 6750 3.1), `invalid_grant` at the token endpoint.
 */
async function refuseIdentity(
  services: ProviderServices,
  account: AccountObject,
  client: string,
  { use, signedIn }: { use: 'id_token' | 'userinfo'; signedIn: SignedIn },
): Promise<void> {
  const decision = await mayShare(services, account, client, 'openid', signedIn);
  if (decision.allowed) return;
  if (use === 'id_token') throw new errors.InvalidGrant('policy refuses scope openid');
  throw new errors.InsufficientScope(inDescription(refusalMessage(decision)), 'openid');
}

/** A text in the characters of an `error_description` (RFC 6749 5.2), which is a header too. */
const inDescription = (text: string): string =>
  text.replaceAll('"', "'").replaceAll(/[^\x20-\x5b\x5d-\x7e]/gu, '?');

/** How the sign-in was done that what leaves now goes back to. */
async function signedInFor(
  services: ProviderServices,
  ctx: ProviderContext,
  account: string,
): Promise<SignedIn> {
  const { session, grant, client } = ctx.oidc;
  if (session?.accountId === account) return signedInBy(services, session);
  return grant ? grantSignIn(services, account, client!.clientId, grant.jti) : {};
}

async function release(
  services: ProviderServices,
  account: AccountObject,
  client: string,
  scopes: readonly Scope[],
  signedIn: SignedIn,
): Promise<Map<Scope, Record<string, unknown>>> {
  const released = new Map<Scope, Record<string, unknown>>();
  const allowed: Scope[] = [];
  for (const scope of scopes) {
    if ((await mayShare(services, account, client, scope.name, signedIn)).allowed)
      allowed.push(scope);
  }
  const groups = await withProviderErrors(services.groups.of(account.status.email.address));
  const supplied = await supply(
    services,
    account,
    client,
    allowed.filter((scope) => !scope.values),
  );
  for (const scope of allowed) {
    const values =
      scope.values?.({ account, sub: account.metadata.name, groups }) ??
      supplied.get(scope.name) ??
      {};
    released.set(scope, only(values, new Set(scope.claims.map((claim) => claim.name))));
  }
  return released;
}

const only = (
  values: Record<string, unknown>,
  names: ReadonlySet<string> | undefined,
): Record<string, unknown> =>
  names ? Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name))) : values;
