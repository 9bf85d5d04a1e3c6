import type { Provider } from 'oidc-provider';
import { Account } from '../kinds/people/account/account.js';
import { isSessionValid } from '../kinds/people/account/end-sessions.js';
import { operators } from '../kinds/people/group/group.js';
import type { OperatorPasskeyFacts } from '../kinds/people/group/operator-passkeys.js';
import { withAddedPasskey } from '../kinds/people/session/added-passkey.js';
import { Session } from '../kinds/people/session/session.js';
import type { AuthenticationRequest, Authenticator } from '../registry/authenticator.js';
import type { Caller } from '../registry/kind.js';
import { unauthorized } from '../registry/status/status.js';
import { toStatusError } from '../registry/status/storage-errors.js';
import { BoundedMap } from '../security/bounded-map.js';
import { nameOf } from '../security/keyring.js';
import { accountCaller, callerFor, canSignIn } from './adapter/accounts.js';
import { apiAudience, commandClient } from './adapter/built-in-clients.js';
import type { AccountObject, ProviderServices, SessionObject } from './context/context.js';
import { isSigned } from './context/cookies.js';
import { recordKey } from './context/records.js';
import { sessionName } from './context/session-name.js';
import { signInOfGrant } from './interaction/grant-sign-in.js';

const verifiedCookie = (
  services: ProviderServices,
  presented: AuthenticationRequest,
  name: string,
): string | undefined => {
  const value = presented.cookie(name);
  return value &&
    isSigned(
      services.secrets.keys,
      services.pages.cookies,
      presented.request.headers.cookie,
      name,
      value,
    )
    ? value
    : undefined;
};

/** Authenticates the browser that holds the cookie of the requested interaction. */
export const interactionAuthenticator =
  (services: ProviderServices): Authenticator =>
  (presented) => {
    if (presented.boundName === undefined) return undefined;
    const uid = verifiedCookie(services, presented, services.pages.cookies.interaction);
    if (!uid || nameOf(uid) !== presented.boundName) return undefined;
    services.signIns.noteActivity(presented.boundName);
    const interaction = presented.boundName;
    return { type: 'Browser', interaction, session: interaction, expires: Infinity };
  };

const cacheSize = 20_000;

/** Authenticates a person by the session cookie; a stale cookie is anonymous. */
export function sessionAuthenticator(services: ProviderServices): Authenticator {
  const cache: SessionKeyCache = {
    keys: new BoundedMap(cacheSize),
    version: services.secrets.keys.version,
  };
  const names = new BoundedMap<string, string>(cacheSize);
  const accounts = services.store.reader(Account);
  const sessions = services.store.reader(Session);
  return async (presented) => {
    const key = sessionKey(services, presented, cache);
    if (key === undefined) return undefined;
    const knownName = names.get(key);
    const name = knownName ?? (await sessionNameByKey(services, key));
    const reading = name === undefined ? undefined : sessions.cached(name);
    const session = reading instanceof Promise ? await reading : reading;
    if (name === undefined || session?.internal.recordKey !== key) {
      names.delete(key);
      return undefined;
    }
    if (knownName === undefined) names.set(key, name);
    const readingAccount = accounts.cached(session.status.account);
    const account = readingAccount instanceof Promise ? await readingAccount : readingAccount;
    if (!account) return undefined;
    const { address } = account.status.email;
    const groups =
      services.policy.groups.cachedGroupsOf(address) ??
      (await toStatusError(services.policy.groups.groupsOf(address)));
    return callerOf(services, session, account, {
      groups,
      ...(groups.includes(operators) &&
        (await toStatusError(services.policy.operatorPasskeys.currentFacts()))),
    });
  };
}

/**
 * Session keys by Cookie header and key version: a signature by a dropped key must not be served
 * from the cache.
 */
interface SessionKeyCache {
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
  cache: SessionKeyCache,
): string | undefined {
  const { keys } = cache;
  if (cache.version !== services.secrets.keys.version) {
    keys.clear();
    cache.version = services.secrets.keys.version;
  }
  const { authorization, cookie } = presented.request.headers;
  if (cookie === undefined || authorization !== undefined) return undefined;
  const known = keys.get(cookie);
  if (known !== undefined) return known;
  const id = verifiedCookie(services, presented, services.pages.cookies.session);
  if (!id) return undefined;
  const key = recordKey('Session', id);
  if (cookie.length <= 1_024) keys.set(cookie, key);
  return key;
}

/** Returns the name of the Session object of a library session. */
async function sessionNameByKey(
  services: ProviderServices,
  key: string,
): Promise<string | undefined> {
  const { entry } = await toStatusError(services.store.storage.get(key));
  const payload = entry && services.secrets.records.open(key, 'Session', entry.value);
  return payload?.accountId && payload.uid
    ? sessionName(payload.accountId, payload.uid)
    : undefined;
}

/** The groups of a person and, for an operator, the facts about operators' passkeys. */
type Standing = { readonly groups: readonly string[] } & Partial<OperatorPasskeyFacts>;

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
    internal.epoch < services.secrets.epoch
  ) {
    return undefined;
  }
  if (!canSignIn(account) || !isSessionValid(account, metadata.name, internal.loginSeconds)) {
    return undefined;
  }
  return accountCaller(services, account, groups, {
    session: metadata.name,
    expires: internal.expires,
    ...withAddedPasskey(
      {
        authenticated: internal.loginSeconds,
        methods: status.methods,
        assurance: status.assurance,
      },
      internal.addedPasskey,
    ),
    ...have,
  });
}

/**
 * Authenticates the command by an access token whose audience is this API, with the sign-in of the
 * person who connected it. Throws 401 for any other token. Tokens at the provider's own paths are
 * left to oidc-provider.
 */
export const bearerAuthenticator =
  (services: ProviderServices, current: () => Provider): Authenticator =>
  async ({ request }) => {
    const token = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (!token || request.url?.startsWith('/oauth2/')) return undefined;
    const provider = current();
    const found = await provider.AccessToken.find(token);
    const isAccepted =
      found &&
      found.aud === apiAudience(services.settings.baseURL) &&
      found.clientId === commandClient &&
      !found.jkt &&
      found.scope?.split(' ').includes('api');
    const grant =
      isAccepted && found.grantId ? await provider.Grant.find(found.grantId) : undefined;
    const { accountId } = grant ?? {};
    if (
      !grant ||
      !accountId ||
      accountId !== found?.accountId ||
      grant.clientId !== commandClient
    ) {
      throw unauthorized();
    }
    const account = await services.store.reader(Account).cached(accountId);
    if (!account || !canSignIn(account)) throw unauthorized();
    const { name } = account.metadata;
    const signedIn = await signInOfGrant(services, name, commandClient, grant.jti);
    return { ...(await callerFor(services, account, signedIn)), byToken: true };
  };
