import {
  type ClientContext,
  errors,
  type Account as LibraryAccount,
  type Token,
} from 'oidc-provider';
import { nameFallbackOf } from '../../kinds/apps/claims/name-fallback.js';
import type { Scope } from '../../kinds/apps/claims/scopes.js';
import { idTokenClaimsOf } from '../../kinds/apps/client/client-report.js';
import { refusalMessage } from '../../registry/authorizer.js';
import { digest } from '../../security/keyring.js';
import { accountObject, type SignedIn } from '../adapter/accounts.js';
import { audienceOf } from '../adapter/audiences.js';
import { clientObject } from '../adapter/clients.js';
import { findRefreshAnswer, repeatAnswer } from '../adapter/refresh-answer.js';
import { type AccountObject, isTokenRequest, type ProviderServices } from '../context/context.js';
import { withProviderErrors } from '../context/errors.js';
import { signInOfGrant } from '../interaction/grant-sign-in.js';
import { decideShare } from '../interaction/policy.js';
import { signInOfSession } from '../interaction/prompts.js';
import { applyRefreshPolicy } from '../interaction/refresh-policy.js';
import { discloseWithRequest, rememberScopes } from './disclosures.js';
import { suppliedClaims } from './release.js';

/**
 * Returns the account of a subject for oidc-provider at authorization, token, refresh and userinfo;
 * undefined ends the request. Policy decides each refresh here, except one with a used token, which gets
 * the answer of before, or which oidc-provider handles as reuse.
 */
export async function findAccount(
  services: ProviderServices,
  ctx: ClientContext,
  sub: string,
  token?: Token,
): Promise<LibraryAccount | undefined> {
  const account = await accountObject(services, sub);
  if (account && token?.kind === 'RefreshToken' && isTokenRequest(ctx)) {
    const answer = token.consumed
      ? await findRefreshAnswer(services, ctx.oidc, digest(token.jti))
      : undefined;
    if (!token.consumed || answer) await applyRefreshPolicy(services, ctx, account, token);
    if (answer) repeatAnswer(answer);
  }
  return (
    account && {
      accountId: sub,
      claims: (use, scope) => claimsFor(services, ctx, account, { use, scope }),
    }
  );
}

/**
 * Returns the claims for a Client: those of agreed scopes that policy still permits. The ID token
 * carries only the claims that the Client has there.
 */
async function claimsFor(
  services: ProviderServices,
  ctx: ClientContext,
  account: AccountObject,
  request: { use: 'id_token' | 'userinfo'; scope: string },
): Promise<Record<string, unknown> & { sub: string }> {
  const sub = account.metadata.name;
  const client = ctx.oidc.client.clientId;
  const signedIn = await signInOf(services, ctx, sub);
  await assertIdentityShared(services, account, client, { use: request.use, signedIn });
  const idTokenClaims =
    request.use === 'id_token'
      ? new Set(idTokenClaimsOf((await clientObject(services, client))?.spec))
      : undefined;
  if (idTokenClaims?.size === 0) return { sub };
  const agreed = new Set(
    ctx.oidc.grant?.getOIDCScopeFiltered(new Set(request.scope.split(' '))).split(' '),
  );
  const wanted = { agreed, wanted: idTokenClaims, signedIn };
  return { ...(await releaseClaims(services, account, client, wanted)), sub };
}

/**
 * Returns the claims of an access token for an Audience that wants some (RFC 9068 §2.2.2), and records
 * them as disclosed: consented ones of the Client that policy permits now.
 */
export async function audienceClaims(
  services: ProviderServices,
  ctx: ClientContext,
  { accountId = '', clientId, resourceServer }: Token,
): Promise<Record<string, unknown>> {
  const identifier = resourceServer?.audience;
  const audience =
    identifier === undefined ? undefined : await audienceOf(services, clientId, identifier);
  const wanted = new Set(audience?.spec.claims);
  const account = wanted.size > 0 ? await accountObject(services, accountId) : undefined;
  if (!account) return {};
  const all = new Set(services.claims.scopes().map(({ name }) => name));
  const claims = await releaseClaims(services, account, clientId, {
    agreed: new Set(ctx.oidc.grant?.getOIDCScopeFiltered(all).split(' ')),
    wanted,
    signedIn: await signInOf(services, ctx, accountId),
  });
  discloseWithRequest(services, accountId, { clientId }, Object.keys(claims));
  return claims;
}

/** Returns the claims of agreed scopes that policy permits, and remembers their scopes. */
async function releaseClaims(
  services: ProviderServices,
  account: AccountObject,
  client: string,
  {
    agreed,
    wanted,
    signedIn,
  }: Omit<Requested, 'scopes'> & { wanted: ReadonlySet<string> | undefined },
): Promise<Record<string, unknown>> {
  const scopes = services.claims
    .scopes()
    .filter(
      (scope) =>
        agreed.has(scope.name) &&
        scope.name !== 'openid' &&
        scope.claims.some(({ name }) => !wanted || wanted.has(name)),
    );
  const released = await releaseScopes(services, account, client, { scopes, agreed, signedIn });
  const disclosed = [...released]
    .map(([scope, values]) => [scope, pick(values, wanted)] as const)
    .filter(([, values]) => Object.keys(values).length > 0);
  rememberScopes(disclosed);
  return Object.assign({}, ...disclosed.map(([, values]) => values));
}

/**
 * Throws if policy does not permit scope openid: 403 with the rule's message at userinfo (RFC 6750
 * §3.1), `invalid_grant` at the token endpoint.
 */
async function assertIdentityShared(
  services: ProviderServices,
  account: AccountObject,
  client: string,
  { use, signedIn }: { use: 'id_token' | 'userinfo'; signedIn: SignedIn },
): Promise<void> {
  const decision = await decideShare(services, account, client, 'openid', signedIn);
  if (decision.allowed) return;
  if (use === 'id_token') throw new errors.InvalidGrant('policy refuses scope openid');
  throw new errors.InsufficientScope(toErrorDescription(refusalMessage(decision)), 'openid');
}

/**
 * Returns the text in the characters of an `error_description` (RFC 6749 §5.2), which is also a
 * header value.
 */
const toErrorDescription = (text: string): string =>
  text.replaceAll('"', "'").replaceAll(/[^\x20-\x5b\x5d-\x7e]/gu, '?');

/** Returns the sign-in that the requested claims derive from. */
async function signInOf(
  services: ProviderServices,
  ctx: ClientContext,
  account: string,
): Promise<SignedIn> {
  const { session, grant, client } = ctx.oidc;
  if (session?.accountId === account) return signInOfSession(services, session);
  return grant ? signInOfGrant(services, account, client.clientId, grant.jti) : {};
}

/** What a Client requests of the claims of a person. */
interface Requested {
  readonly scopes: readonly Scope[];
  /** All scopes that the person agreed to. */
  readonly agreed: ReadonlySet<string>;
  readonly signedIn: SignedIn;
}

async function releaseScopes(
  services: ProviderServices,
  account: AccountObject,
  client: string,
  { scopes, agreed, signedIn }: Requested,
): Promise<Map<Scope, Record<string, unknown>>> {
  const released = new Map<Scope, Record<string, unknown>>();
  const isPermitted = async (scope: string): Promise<boolean> =>
    (await decideShare(services, account, client, scope, signedIn)).allowed;
  const allowed: Scope[] = [];
  for (const scope of scopes) if (await isPermitted(scope.name)) allowed.push(scope);
  const { address } = account.status.email;
  const nameFallback =
    scopes.some(({ name }) => name === 'profile') &&
    agreed.has('email') &&
    (await isPermitted('email'))
      ? nameFallbackOf(address, services.settings.nameFallback)
      : undefined;
  const groups = await withProviderErrors(services.policy.groups.groupsOf(address));
  const supplied = await suppliedClaims(
    services,
    account,
    client,
    allowed.filter((scope) => !scope.values),
  );
  for (const scope of allowed) {
    const values =
      scope.values?.({ account, sub: account.metadata.name, groups, nameFallback }) ??
      supplied.get(scope.name) ??
      {};
    released.set(scope, pick(values, new Set(scope.claims.map((claim) => claim.name))));
  }
  return released;
}

const pick = (
  values: Record<string, unknown>,
  names: ReadonlySet<string> | undefined,
): Record<string, unknown> =>
  names ? Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name))) : values;
