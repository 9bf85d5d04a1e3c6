import type { Account as LibraryAccount, ProviderContext, Token } from 'oidc-provider';
import { Grant, grantName } from '../kinds/grant.js';
import type { Scope } from '../kinds/scopes.js';
import { toTimestamp } from '../registry/timestamp.js';
import { accountObject, type SignedIn } from './accounts.js';
import { signInBehind } from './behind.js';
import { clientObject } from './clients.js';
import type { AccountObject, Foundation, GrantObject } from './foundation.js';
import { reach } from './reach.js';
import { judgeRefresh } from './refresh.js';
import { mayShare } from './sharing.js';
import { signedInBy } from './signin.js';
import { supply } from './supply.js';

/** The account behind a subject for the library, at authorization, token, refresh and userinfo; undefined ends what was asked for. A refresh is put to policy here; one with a token that was used is the library's to answer. */
export async function findAccount(on: Foundation, ctx: ProviderContext, sub: string, token?: Token): Promise<LibraryAccount | undefined> {
  const account = await accountObject(on, sub);
  if (account && token?.kind === 'RefreshToken' && ctx.oidc.route === 'token' && !token.consumed) await judgeRefresh(on, ctx, account, token);
  return account && { accountId: sub, claims: (use, scope) => claimsFor(on, ctx, account, { use, scope }) };
}

/** What leaves for a Client: agreed scopes alone, each put to policy again; the ID token carries what the Client asked to have there. */
async function claimsFor(on: Foundation, ctx: ProviderContext, account: AccountObject, asked: { use: 'id_token' | 'userinfo'; scope: string }): Promise<Record<string, unknown> & { sub: string }> {
  const sub = account.metadata.name;
  const client = ctx.oidc.client!.clientId;
  const wanted = asked.use === 'id_token' ? new Set((await clientObject(on, client))?.spec.idTokenClaims) : undefined;
  if (wanted?.size === 0) return { sub };
  const agreed = new Set(ctx.oidc.grant?.getOIDCScopeFiltered(new Set(asked.scope.split(' '))).split(' '));
  const scopes = on.scopes().filter((scope) => agreed.has(scope.name) && scope.name !== 'openid' && scope.claims.some(({ name }) => !wanted || wanted.has(name)));
  const released = await release(on, account, client, scopes, scopes.length > 0 ? await signedInFor(on, ctx, sub) : {});
  const leaving = [...released].map(([scope, values]) => [scope, only(values, wanted)] as const).filter(([, values]) => Object.keys(values).length > 0);
  if (leaving.length > 0) on.afterwards(() => noteDisclosures(on, grantName(sub, client), leaving));
  return { ...Object.assign({}, ...leaving.map(([, values]) => values)), sub };
}

/** How the sign-in was done that what leaves now goes back to. */
async function signedInFor(on: Foundation, ctx: ProviderContext, account: string): Promise<SignedIn> {
  const { session, grant, client } = ctx.oidc;
  if (session?.accountId === account) return signedInBy(on, session);
  return grant ? signInBehind(on, account, client!.clientId, grant.jti) : {};
}

async function release(on: Foundation, account: AccountObject, client: string, scopes: readonly Scope[], signedIn: SignedIn): Promise<Map<Scope, Record<string, unknown>>> {
  const released = new Map<Scope, Record<string, unknown>>();
  const allowed: Scope[] = [];
  for (const scope of scopes) {
    if ((await mayShare(on, account, client, scope.name, signedIn)).allowed) allowed.push(scope);
  }
  const groups = await reach(on.groups.of(account.status.email.address));
  const supplied = await supply(on, account, client, allowed.filter((scope) => !scope.values));
  for (const scope of allowed) {
    const values = scope.values?.({ account, sub: account.metadata.name, groups }) ?? supplied.get(scope.name) ?? {};
    released.set(scope, only(values, new Set(scope.claims.map((claim) => claim.name))));
  }
  return released;
}

const only = (values: Record<string, unknown>, names: ReadonlySet<string> | undefined): Record<string, unknown> =>
  names ? Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name))) : values;

const coarse = 300_000;

/** Writes into our Grant which claims left and when, to within five minutes, never their values. */
async function noteDisclosures(on: Foundation, name: string, leaving: readonly (readonly [Scope, Record<string, unknown>])[]): Promise<void> {
  const now = Date.now();
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const part = await on.store.stage(Grant, name, (grant) => grant && isNews(grant, leaving, now) ? disclosed(grant, leaving, now) : 'leave');
    if (part.writes.length === 0 || (await on.store.commit([part])).committed) return;
  }
}

function isNews(grant: GrantObject, leaving: readonly (readonly [Scope, Record<string, unknown>])[], now: number): boolean {
  return leaving.some(([scope, values]) => {
    const known = grant.status.disclosures.find((disclosure) => disclosure.scope === scope.name);
    return !known || now - Date.parse(known.lastTimestamp) > coarse || Object.keys(values).some((claim) => !known.claims.includes(claim));
  });
}

function disclosed(grant: GrantObject, leaving: readonly (readonly [Scope, Record<string, unknown>])[], now: number): GrantObject {
  const lastTimestamp = toTimestamp(now);
  const others = grant.status.disclosures.filter((known) => !leaving.some(([scope]) => scope.name === known.scope));
  const news = leaving.map(([scope, values]) => ({ scope: scope.name, claims: Object.keys(values), provider: scope.provider.name, lastTimestamp }));
  grant.status.disclosures = [...others, ...news];
  grant.status.lastUsedTimestamp = lastTimestamp;
  return grant;
}
