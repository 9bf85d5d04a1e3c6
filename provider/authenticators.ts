import { BoundedMap } from '../security/bounded-map.js';
import type { Provider } from 'oidc-provider';
import { Account } from '../kinds/account/account.js';
import { operators } from '../kinds/group/group.js';
import type { OperatorsHave } from '../kinds/group/operator-passkeys.js';
import { isSessionValid } from '../kinds/account/end-sessions.js';
import { Session } from '../kinds/session/session.js';
import type { Authenticator, AuthenticationRequest } from '../registry/authenticator.js';
import { toStatusError } from '../registry/storage-errors.js';
import { nameOf } from '../security/keyring.js';
import type { Caller } from '../registry/kind.js';
import { forbidden, unauthorized } from '../registry/status.js';
import { accountCaller, callerFor, isAlive } from './adapter/accounts.js';
import { grantSignIn } from './interaction/grant-sign-in.js';
import { apiAudience, command } from './adapter/built-in-clients.js';
import { isSigned } from './context/cookies.js';
import type { AccountObject, ProviderServices, SessionObject } from './context/context.js';
import { sessionName } from './context/session-name.js';
import { recordKey } from './context/records.js';

const signed = (
  services: ProviderServices,
  presented: AuthenticationRequest,
  name: string,
): string | undefined => {
  const value = presented.cookie(name);
  return value &&
    isSigned(services.keys, services.cookies, presented.request.headers.cookie, name, value)
    ? value
    : undefined;
};

/** Authenticates the browser that holds the cookie of the requested interaction. */
export const interactionAuthenticator =
  (services: ProviderServices): Authenticator =>
  async (presented) => {
    if (presented.boundName === undefined) return undefined;
    const uid = signed(services, presented, services.cookies.interaction);
    if (!uid || nameOf(uid) !== presented.boundName) return undefined;
    services.touched(presented.boundName);
    return { type: 'Browser', interaction: presented.boundName };
  };

const remembered = 20_000;

/**
 * Authenticates a person by the session cookie; a stale cookie is anonymous. Synchronous if session
 * and account are cached.
 */
export function sessionAuthenticator(services: ProviderServices): Authenticator {
  const found: Found = { keys: new BoundedMap(remembered), version: services.keys.version };
  const names = new BoundedMap<string, string>(remembered);
  const [sessions, accounts] = [services.store.reader(Session), services.store.reader(Account)];
  const later = async (key: string): Promise<Caller | undefined> => {
    const session = await sessionBehind(services, names, key);
    if (!session) return undefined;
    const account = await accounts.cached(session.status.account);
    if (!account) return undefined;
    const groups = await toStatusError(services.groups.of(account.status.email.address));
    return callerOf(services, session, account, {
      groups,
      ...(groups.includes(operators) && (await toStatusError(services.operatorPasskeys.of()))),
    });
  };
  return (presented) => {
    const key = sessionKey(services, presented, found);
    if (key === undefined) return undefined;
    const name = names.get(key);
    const session = name === undefined ? undefined : sessions.peekCached(name);
    const account = session && accounts.peekCached(session.status.account);
    const standing = account && standingOf(services, account);
    return standing && session!.internal.recordKey === key
      ? callerOf(services, session!, account, standing)
      : later(key);
  };
}

/**
 * Session keys by Cookie header and key version: a signature by a dropped key must not be served
 * from the cache.
 */
interface Found {
  readonly keys: BoundedMap<string, string>;
  version: number;
}

/**
 * Returns the storage key of the session in a Cookie header; cached, because every request of a
 * page sends the same header.
 */
function sessionKey(
  services: ProviderServices,
  presented: AuthenticationRequest,
  found: Found,
): string | undefined {
  const { keys } = found;
  if (found.version !== services.keys.version) {
    keys.clear();
    found.version = services.keys.version;
  }
  const { authorization, cookie } = presented.request.headers;
  if (cookie === undefined || authorization !== undefined) return undefined;
  const known = keys.get(cookie);
  if (known !== undefined) return known;
  const id = signed(services, presented, services.cookies.session);
  if (!id) return undefined;
  const key = recordKey('Session', id);
  if (cookie.length <= 1_024) keys.set(cookie, key);
  return key;
}

/**
 * The projection that names this library session as its own: from the coherent cache, once the name
 * is known.
 */
async function sessionBehind(
  services: ProviderServices,
  names: Map<string, string>,
  key: string,
): Promise<SessionObject | undefined> {
  const known = names.get(key) ?? (await nameBehind(services, key));
  if (!known) return undefined;
  const session = await services.store.reader(Session).cached(known);
  if (session?.internal.recordKey !== key) {
    names.delete(key);
    return undefined;
  }
  names.set(key, known);
  return session;
}

async function nameBehind(services: ProviderServices, key: string): Promise<string | undefined> {
  const { entry } = await toStatusError(services.storage.get(key));
  const payload = entry && services.records.open(key, 'Session', entry.value);
  return payload?.accountId && payload.uid
    ? sessionName(payload.accountId, payload.uid)
    : undefined;
}

/** The groups someone is in and, of an operator, what is known of operators' passkeys. */
type Standing = { readonly groups: readonly string[] } & Partial<OperatorsHave>;

/** The same without waiting; undefined where memory cannot be trusted at this moment. */
function standingOf(services: ProviderServices, account: AccountObject): Standing | undefined {
  const groups = services.groups.held(account.status.email.address);
  if (!groups?.includes(operators)) return groups && { groups };
  const have = services.operatorPasskeys.held();
  return have && { groups, ...have };
}

function callerOf(
  services: ProviderServices,
  session: SessionObject,
  account: AccountObject,
  { groups, ...have }: Standing,
): Caller | undefined {
  const { metadata, internal, status } = session;
  if (
    metadata.deletionTimestamp ||
    internal.expires <= Date.now() ||
    internal.epoch < services.epoch
  )
    return undefined;
  if (
    !isAlive(account) ||
    !isSessionValid(account.internal.signedOut, metadata.name, internal.loginSeconds)
  )
    return undefined;
  return accountCaller(services, account, groups, {
    session: metadata.name,
    authenticated: internal.loginSeconds,
    methods: status.methods,
    assurance: status.assurance,
    ...have,
  });
}

/**
 * The command, by an access token whose audience is this API, as signed in as the person was who
 * connected it; any other token is not good, and a browser may not send one. The provider's own
 * paths judge theirs.
 */
export const bearerAuthenticator =
  (services: ProviderServices, current: () => Provider): Authenticator =>
  async ({ request }) => {
    const token = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (!token || request.url?.startsWith('/oauth2/')) return undefined;
    if (request.headers.origin !== undefined || request.headers['sec-fetch-site'] !== undefined)
      throw forbidden('a browser may not send a token');
    const provider = current();
    const found = await provider.AccessToken.find(token);
    const good =
      found &&
      found.aud === apiAudience(services.settings.baseURL) &&
      found.clientId === command &&
      !found.jkt &&
      found.scope?.split(' ').includes('api');
    const grant = good && found.grantId ? await provider.Grant.find(found.grantId) : undefined;
    if (!grant || grant.accountId !== found?.accountId || grant.clientId !== command)
      throw unauthorized();
    const account = await services.store.reader(Account).cached(grant.accountId!);
    if (!account || !isAlive(account)) throw unauthorized();
    return callerFor(
      services,
      account,
      await grantSignIn(services, account.metadata.name, command, grant.jti),
    );
  };
