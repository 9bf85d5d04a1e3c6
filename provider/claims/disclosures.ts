import type { Claims, Client, KoaContext, Provider } from 'oidc-provider';
import { Grant, grantName } from '../../kinds/grant.js';
import { builtInProvider, type Scope } from '../../kinds/claims/scopes.js';
import type { StagedWrites } from '../../registry/kind.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { currentUnitOfWork } from '../context/unit-of-work.js';
import type { ProviderServices, GrantObject } from '../context/context.js';
import { recordTokens } from '../adapter/session-events.js';

type Disclosures = GrantObject['status']['disclosures'];

/** One claim that leaves: its name, the scope it was agreed to with, and who supplies it. */
interface LeavingClaim {
  readonly claim: string;
  readonly scope: string;
  readonly provider: string;
}

/**
 * Times are kept to within so many milliseconds, so that a busy Client costs no commit for each
 * request.
 */
const coarse = 300_000;

/**
 * Where this unit of work keeps the scope that each claim was released for; every other claim comes
 * with `openid`.
 */
const scopesMemo = 'scopes of claims';

/** Keeps which scope each claim was released for, for what is recorded as it leaves. */
export function rememberScopes(
  released: Iterable<readonly [Scope, Readonly<Record<string, unknown>>]>,
): void {
  const scopes = new Map<string, Scope>();
  for (const [scope, values] of released)
    for (const claim of Object.keys(values)) scopes.set(claim, scope);
  currentUnitOfWork()?.memo.set(scopesMemo, scopes);
}

/**
 * Has the library record on the Grant what it puts into ID tokens and userinfo answers, and each
 * use, in the commit that the answer waits for.
 */
export function recordDisclosures(services: ProviderServices, provider: Provider): void {
  const { result } = provider.Claims.prototype;
  provider.Claims.prototype.result = async function recorded(this: Claims) {
    const claims = await result.call(this);
    const names = Object.keys(claims).filter((name) => claims[name] !== undefined);
    discloseWithRequest(services, this.available.sub, this.client, names);
    return claims;
  };
  const { payload } = provider.IdToken.prototype;
  provider.IdToken.prototype.payload = async function recorded() {
    if (this.extra.sid !== undefined)
      discloseWithRequest(services, this.available.sub, this.client, ['sid']);
    return payload.call(this);
  };
  provider.on('grant.success', ({ oidc }: KoaContext) => {
    const {
      accountId: account,
      sessionUid: uid,
      clientId: client,
    } = oidc?.entities.AccessToken ?? {};
    if (account === undefined) return;
    discloseWithRequest(services, account, oidc!.client!, []);
    if (uid !== undefined) recordTokens(services, { account, uid, client: client! });
  });
}

/** What an introspection answer tells of a person (RFC 7662 §2.2). */
export function discloseIntrospection(
  services: ProviderServices,
  { oidc, body }: KoaContext,
): void {
  const told = body as { readonly active?: boolean; readonly sub?: string; readonly sid?: string };
  const account = (oidc?.entities.AccessToken ?? oidc?.entities.RefreshToken)?.accountId;
  if (oidc?.route !== 'introspection' || !told.active || account === undefined) return;
  discloseWithRequest(
    services,
    account,
    oidc.client!,
    (['sub', 'sid'] as const).filter((claim) => told[claim] !== undefined),
  );
}

function discloseWithRequest(
  services: ProviderServices,
  account: string,
  { clientId }: Pick<Client, 'clientId'>,
  claims: readonly string[],
): void {
  const unitOfWork = currentUnitOfWork();
  if (!unitOfWork) return;
  const name = grantName(account, clientId);
  const key = `disclosed ${name}`;
  const all = new Set([
    ...((unitOfWork.memo.get(key) as Set<string> | undefined) ?? []),
    ...claims,
  ]);
  unitOfWork.memo.set(key, all);
  const scopes = unitOfWork.memo.get(scopesMemo) as ReadonlyMap<string, Scope> | undefined;
  unitOfWork.defer(key, () =>
    disclosurePart(
      services,
      name,
      [...all].map((claim) => leaving(claim, scopes?.get(claim))),
    ),
  );
}

const leaving = (claim: string, scope?: Scope): LeavingClaim => ({
  claim,
  scope: scope?.name ?? 'openid',
  provider: (scope?.provider ?? builtInProvider).name,
});

/** Records what a logout token told a Client, in a commit of its own. */
export async function discloseLogout(
  services: ProviderServices,
  account: string,
  client: string,
  claims: readonly string[],
): Promise<void> {
  for (let tries = 0; tries < 5; tries += 1) {
    const part = await disclosurePart(
      services,
      grantName(account, client),
      claims.map((claim) => leaving(claim)),
    );
    if (part.writes.length === 0 || (await services.store.commit([part])).committed) return;
  }
}

/**
 * What writes a use and the claims that leave with it into a Grant, never their values; nothing
 * where it says so already, or where there is none.
 */
const disclosurePart = (
  services: ProviderServices,
  name: string,
  claims: readonly LeavingClaim[],
): Promise<StagedWrites> =>
  services.store.stage(Grant, name, (grant) => {
    if (!grant) return 'leave';
    const now = Date.now();
    const { lastUsedTimestamp: last } = grant.status;
    const disclosures = withClaims(grant.status.disclosures, claims, now);
    if (!disclosures && last !== undefined && isRecent(last, now)) return 'leave';
    grant.status.firstUsedTimestamp ??= toTimestamp(now);
    grant.status.lastUsedTimestamp = toTimestamp(now);
    if (disclosures) grant.status.disclosures = disclosures;
    return grant;
  });

const isRecent = (timestamp: string, now: number): boolean => now - Date.parse(timestamp) <= coarse;

/**
 * Returns disclosures with what leaves `now` (ms since the epoch) added, or undefined where they
 * say so already. Claims of a scope that first and last left together share an entry.
 */
export function withClaims(
  disclosures: Disclosures,
  claims: readonly LeavingClaim[],
  now: number,
): Disclosures | undefined {
  const rows = disclosures.flatMap(({ claims: names, ...rest }) =>
    names.map((claim) => ({ ...rest, claim })),
  );
  const rowOf = ({ claim, scope, provider }: LeavingClaim) =>
    rows.find((row) => row.claim === claim && row.scope === scope && row.provider === provider);
  const news = claims.filter((one) => {
    const row = rowOf(one);
    return !row || !isRecent(row.lastTimestamp, now);
  });
  if (news.length === 0) return undefined;
  for (const one of news) {
    const lastTimestamp = recentOf(rows, one.scope, now) ?? toTimestamp(now);
    const row = rowOf(one);
    if (row) row.lastTimestamp = lastTimestamp;
    else rows.push({ ...one, firstTimestamp: lastTimestamp, lastTimestamp });
  }
  return grouped(rows);
}

type Row = Omit<Disclosures[number], 'claims'> & { readonly claim: string };

/**
 * The time that claims of a scope left a moment ago: what leaves now goes by it, so that they stay
 * in one entry.
 */
const recentOf = (rows: readonly Row[], scope: string, now: number): string | undefined =>
  rows
    .filter((row) => row.scope === scope && isRecent(row.lastTimestamp, now))
    .map((row) => row.lastTimestamp)
    .sort()
    .at(-1);

function grouped(rows: readonly Row[]): Disclosures {
  const entries = new Map<string, Disclosures[number]>();
  for (const { claim, scope, provider, firstTimestamp, lastTimestamp } of rows) {
    const key = JSON.stringify([scope, provider, firstTimestamp, lastTimestamp]);
    const entry = entries.get(key) ?? {
      scope,
      claims: [],
      provider,
      ...(firstTimestamp && { firstTimestamp }),
      lastTimestamp,
    };
    entry.claims.push(claim);
    entries.set(key, entry);
  }
  return [...entries.values()];
}
