import type { Claims, Client, KoaContext, Provider, ProviderContext } from 'oidc-provider';
import { builtInProvider, type Scope } from '../../kinds/apps/claims/scopes.js';
import { Grant, grantName } from '../../kinds/apps/grant.js';
import type { Transaction } from '../../registry/kind.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import { upsert } from '../../registry/store/upsert.js';
import { recordTokens } from '../adapter/session-events.js';
import type { GrantObject, ProviderServices } from '../context/context.js';
import { currentUnitOfWork, requestState } from '../context/current-request.js';
import { StateKey } from '../context/request-state.js';
import { jsonOf } from '../context/response.js';

type Disclosures = GrantObject['status']['disclosures'];

/**
 * A disclosed claim: its name, the scope it was agreed to with, and the provider that supplies it.
 */
interface DisclosedClaim {
  readonly claim: string;
  readonly scope: string;
  readonly provider: string;
}

/**
 * The resolution of disclosure times in milliseconds, so that not every request of a busy Client
 * costs a commit.
 */
const resolutionMs = 300_000;

/** The scope of each released claim; other claims belong to `openid`. */
const scopesOfClaims = new StateKey<ReadonlyMap<string, Scope>>();
/** The claims that this request discloses, by Grant. */
const disclosed = new StateKey<Map<string, ReadonlySet<string>>>();

/** Remembers the scope of each released claim for the record of the disclosure. */
export function rememberScopes(
  released: Iterable<readonly [Scope, Readonly<Record<string, unknown>>]>,
): void {
  const state = requestState();
  const scopes = new Map(state.get(scopesOfClaims));
  for (const [scope, values] of released) {
    for (const claim of Object.keys(values)) scopes.set(claim, scope);
  }
  state.set(scopesOfClaims, scopes);
}

/**
 * Makes oidc-provider record in the Grant the claims of ID tokens and userinfo responses, and each
 * use, in the commit that precedes the response.
 */
export function recordDisclosures(services: ProviderServices, provider: Provider): void {
  const { result } = provider.Claims.prototype;
  provider.Claims.prototype.result = async function resultWithDisclosure(this: Claims) {
    const claims = await result.call(this);
    const names = Object.keys(claims).filter((name) => claims[name] !== undefined);
    discloseWithRequest(services, this.available.sub, this.client, names);
    return claims;
  };
  const { payload } = provider.IdToken.prototype;
  provider.IdToken.prototype.payload = async function recorded() {
    if (this.extra.sid !== undefined) {
      discloseWithRequest(services, this.available.sub, this.client, ['sid']);
    }
    return payload.call(this);
  };
  provider.on('grant.success', ({ oidc }: ProviderContext) => {
    const { AccessToken: token } = oidc.entities;
    if (token?.accountId === undefined) return;
    const { accountId: account, clientId: client, sessionUid: uid } = token;
    discloseWithRequest(services, account, token, []);
    if (uid !== undefined) recordTokens(services, { account, uid, client });
  });
}

/**
 * Records the claims of an introspection response (RFC 7662 §2.2) in the Grant of the Client that the
 * token was issued to.
 */
export function discloseIntrospection(
  services: ProviderServices,
  { oidc, body }: KoaContext,
): void {
  const response = jsonOf(body);
  const token = oidc?.entities.AccessToken ?? oidc?.entities.RefreshToken;
  if (oidc?.route !== 'introspection' || !response.active || token?.accountId === undefined) return;
  discloseWithRequest(
    services,
    token.accountId,
    token,
    ['sub', 'sid', 'acr', 'auth_time'].filter((claim) => response[claim] !== undefined),
  );
}

/** Records claims in the Grant of the Client, in the commit that precedes the response. */
export function discloseWithRequest(
  services: ProviderServices,
  account: string,
  { clientId }: Pick<Client, 'clientId'>,
  claims: readonly string[],
): void {
  const unitOfWork = currentUnitOfWork();
  if (!unitOfWork) return;
  const name = grantName(account, clientId);
  const byGrant = unitOfWork.state.mapOf(disclosed);
  const known = new Set([...(byGrant.get(name) ?? []), ...claims]);
  byGrant.set(name, known);
  const scopes = unitOfWork.state.get(scopesOfClaims);
  unitOfWork.defer(`disclosed ${name}`, (tx) =>
    recordDisclosure(
      tx,
      name,
      [...known].map((claim) => disclosedClaim(claim, scopes?.get(claim))),
    ),
  );
}

const disclosedClaim = (claim: string, scope?: Scope): DisclosedClaim => ({
  claim,
  scope: scope?.name ?? 'openid',
  provider: (scope?.provider ?? builtInProvider).name,
});

/** Records the claims of a logout token, in a commit of its own. */
export async function discloseLogout(
  services: ProviderServices,
  account: string,
  client: string,
  claims: readonly string[],
): Promise<void> {
  const disclosedClaims = claims.map((claim) => disclosedClaim(claim));
  await services.store.change(services.store.systemCall(), (tx) =>
    recordDisclosure(tx, grantName(account, client), disclosedClaims),
  );
}

/**
 * Records a use and the disclosed claims, without values, in a Grant, unless they are recorded already
 * or there is no Grant.
 */
const recordDisclosure = (
  tx: Transaction,
  name: string,
  claims: readonly DisclosedClaim[],
): Promise<void> =>
  upsert(tx, Grant, name, (grant) => {
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

const isRecent = (timestamp: string, now: number): boolean =>
  now - Date.parse(timestamp) <= resolutionMs;

/**
 * Returns disclosures with the claims disclosed at `now` (ms since the epoch), or undefined if
 * nothing changes. Claims of a scope that were first and last disclosed together share an entry.
 */
export function withClaims(
  disclosures: Disclosures,
  claims: readonly DisclosedClaim[],
  now: number,
): Disclosures | undefined {
  const rows = disclosures.flatMap(({ claims: names, ...rest }) =>
    names.map((claim) => ({ ...rest, claim })),
  );
  const rowOf = ({ claim, scope, provider }: DisclosedClaim) =>
    rows.find((row) => row.claim === claim && row.scope === scope && row.provider === provider);
  const changed = claims.filter((claim) => {
    const row = rowOf(claim);
    return !row || !isRecent(row.lastTimestamp, now);
  });
  if (changed.length === 0) return undefined;
  for (const disclosure of changed) {
    const lastTimestamp = recentTimestamp(rows, disclosure.scope, now) ?? toTimestamp(now);
    const row = rowOf(disclosure);
    if (row) {
      row.lastTimestamp = lastTimestamp;
    } else {
      rows.push({ ...disclosure, firstTimestamp: lastTimestamp, lastTimestamp });
    }
  }
  return groupRows(rows);
}

type Row = Omit<Disclosures[number], 'claims'> & { readonly claim: string };

/**
 * Returns the time of a recent disclosure of the scope. New claims reuse it, so that they share an
 * entry.
 */
const recentTimestamp = (rows: readonly Row[], scope: string, now: number): string | undefined =>
  rows
    .filter((row) => row.scope === scope && isRecent(row.lastTimestamp, now))
    .map((row) => row.lastTimestamp)
    .sort()
    .at(-1);

function groupRows(rows: readonly Row[]): Disclosures {
  const entries = new Map<string, Disclosures[number]>();
  for (const { claim, scope, provider, firstTimestamp, lastTimestamp } of rows) {
    const key = JSON.stringify([scope, provider, firstTimestamp, lastTimestamp]);
    const entry = entries.get(key) ?? {
      scope,
      claims: [],
      provider,
      firstTimestamp,
      lastTimestamp,
    };
    entry.claims.push(claim);
    entries.set(key, entry);
  }
  return [...entries.values()];
}
