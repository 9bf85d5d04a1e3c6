import { keysOf } from '../schema/typed-entries.js';
import {
  count,
  duration,
  type LimitSetting,
  parseLimit,
  percent,
  rateLimitBounds,
  size,
} from './limit-setting.js';
import { recordLimits } from './record-limits.js';
import { signInLimits } from './sign-in-limits.js';

export { type LimitSetting, limitFault, parseLimit } from './limit-setting.js';

const tokenBounds = 'less breaks Clients, and what is stolen counts for as long';

/**
 * Every limit by key. In code, durations are milliseconds, sizes are bytes, and percentages are
 * numbers from 0 to 100.
 */
export const limitSettings = {
  ...signInLimits,
  authorizationRequestSize: size(
    '8Ki',
    ['2Ki', '15Ki'],
    'a request with a signed hint must fit, and what is kept of it can be asked for by anyone',
    'Bytes of an authorization, pushed, device or sign-out request.',
  ),
  authorizationParameterSize: size(
    '1Ki',
    ['256', '4Ki'],
    'scopes must fit, and all of it is kept',
    'Bytes of a request parameter without a limit of its own.',
  ),
  signInWindow: duration(
    '10m',
    ['1m', '24h'],
    rateLimitBounds,
    'Window in which bytes of sign-ins are counted.',
  ),
  signInBytesPerNetwork: size(
    '2Mi',
    ['64Ki', '1Gi'],
    rateLimitBounds,
    'Bytes stored for requests of one client network in signInWindow.',
  ),
  signInBytesInAll: size(
    '128Mi',
    ['1Mi', '64Gi'],
    rateLimitBounds,
    'Bytes stored for requests of all client networks in signInWindow.',
  ),
  stateSize: size(
    '4Ki',
    ['128', '8Ki'],
    'Clients keep their own state in it, and all of it is kept',
    'Bytes of the parameter state.',
  ),
  nonceSize: size(
    '512',
    ['64', '4Ki'],
    'a nonce is random characters, and all of it is kept',
    'Bytes of the parameter nonce.',
  ),
  redirectUriSize: size(
    '2Ki',
    ['256', '4Ki'],
    'the redirect URIs of Clients must fit, and all of it is kept',
    'Bytes of the parameter redirect_uri.',
  ),
  signedParameterSize: size(
    '4Ki',
    ['1Ki', '15Ki'],
    'what Clients sign must fit, and anyone may send one',
    'Bytes of the parameters id_token_hint, client_assertion and request.',
  ),
  requestsPerNetwork: count(
    120,
    [10, 1_000_000],
    rateLimitBounds,
    'Authorization requests from one client network in a minute; the same number each for pushed ' +
      'requests, device authorization requests, user codes and sign-outs.',
  ),
  clientDocumentsPerNetwork: count(
    10,
    [1, 100_000],
    rateLimitBounds,
    'Metadata documents fetched for one client network in a minute.',
  ),
  clientDocumentsInAll: count(
    60,
    [10, 1_000_000],
    'fewer keep people from signing in, more send requests to others for anyone who asks',
    'Metadata documents fetched in a minute, for the whole service.',
  ),
  clientDocumentsPerHost: count(
    20,
    [1, 1_000_000],
    rateLimitBounds,
    'Metadata documents fetched from one host in a minute, for the whole service.',
  ),
  clientDocumentRetry: duration(
    '1m',
    ['1s', '1h'],
    'shorter sends more requests to others, longer keeps people from signing in',
    'How long a metadata document that could not be used is not fetched again.',
  ),
  proofsPerNetwork: count(
    60,
    [10, 1_000_000],
    rateLimitBounds,
    'Attempts to sign in (by code, link or passkey) from one client network in a minute; the ' +
      'same number of codes for new addresses.',
  ),
  passkeysPerNetwork: count(
    60,
    [10, 1_000_000],
    rateLimitBounds,
    'Passkeys that one client network may register in a minute; the same number of WebAuthn challenges.',
  ),
  challengesPerSession: count(
    60,
    [5, 10_000],
    rateLimitBounds,
    'WebAuthn challenges for one sign-in or session in two hours.',
  ),
  changesPerNetwork: count(
    120,
    [10, 1_000_000],
    rateLimitBounds,
    'Updates and patches of accounts, passkeys and grants from one client network in a minute.',
  ),
  exportsPerNetwork: count(
    10,
    [1, 100_000],
    rateLimitBounds,
    'Exports of accounts from one client network in a minute.',
  ),
  recoveriesPerAccountDay: count(
    5,
    [1, 100],
    rateLimitBounds,
    'Recoveries that a person may start for their account in a day; each sends mail.',
  ),
  invitationAcceptsPerNetwork: count(
    30,
    [5, 100_000],
    rateLimitBounds,
    'Attempts to become the first operator by the printed link, from one client network in a minute.',
  ),
  recoveryCancelsPerNetwork: count(
    30,
    [5, 100_000],
    rateLimitBounds,
    'Attempts to cancel a recovery by the link in a mail, from one client network in a minute.',
  ),
  wrongSecretsPerNetwork: count(
    20,
    [3, 100_000],
    rateLimitBounds,
    'Wrong client secrets for one Client from one client network in wrongCodeWindow.',
  ),
  wrongUserCodesPerSession: count(
    5,
    [2, 1_000],
    rateLimitBounds,
    'Wrong user codes (device authorization) from one browser in wrongCodeWindow.',
  ),
  wrongUserCodesPerNetwork: count(
    20,
    [5, 100_000],
    rateLimitBounds,
    'Wrong user codes (device authorization) from one client network in wrongCodeWindow.',
  ),
  codeRest: duration(
    '15m',
    ['1m', '24h'],
    'less lets a guesser go on, more locks people out',
    'First pause of the codes of an address: mails have only the link, and codes are ' +
      'refused. Doubles each time.',
  ),
  codeRestMax: duration(
    '24h',
    ['1m', '168h'],
    'less lets a guesser go on, more locks people out',
    'Longest pause of the codes of an address.',
  ),
  recoveryWait: duration(
    '48h',
    ['1h', '720h'],
    'the owner needs time to see that someone takes the account over, and to get back in',
    'How long a recovery waits before the account loses its passkeys, and how long a ' +
      'passkey that was added after an email sign-in waits before it counts in full.',
  ),
  policyReplay: duration(
    '20s',
    ['1s', '5m'],
    'a replay takes a share of the processor all the time',
    'How long the dry run of a Policy evaluates earlier decisions; it counts those that it did not ' +
      'reach.',
  ),
  authorizationCodeLifetime: duration(
    '60s',
    ['10s', '10m'],
    'RFC 6749 4.1.2 recommends ten minutes at most',
    'Lifetime of an authorization code.',
  ),
  accessTokenLifetime: duration('1h', ['1m', '24h'], tokenBounds, 'Lifetime of an access token.'),
  idTokenLifetime: duration('1h', ['1m', '24h'], tokenBounds, 'Lifetime of an ID token.'),
  refreshTokenLifetime: duration(
    '336h',
    ['5m', '8760h'],
    tokenBounds,
    'Lifetime of a refresh token. For a public Client, each use replaces it; for a Client ' +
      'that authenticates, a use in its last third does.',
  ),
  refreshTokenTotalLifetime: duration(
    '8760h',
    ['5m', '26280h'],
    tokenBounds,
    'Maximum total lifetime of the refresh tokens of one sign-in.',
  ),
  deviceCodeLifetime: duration(
    '10m',
    ['1m', '30m'],
    'a code that is shown to people can be passed on',
    'How long a device has for its sign-in (RFC 8628).',
  ),
  passkeysPerAccount: count(
    20,
    [2, 100],
    'fewer leave no spare one, and each is read at every change',
    'Passkeys of an account.',
  ),
  sessionsPerAccount: count(
    50,
    [2, 500],
    'fewer sign people out at random, and each is read at a sign-in',
    'Sessions of an account; above it, the least recently used one ends.',
  ),
  watchesPerSession: count(
    20,
    [2, 1_000],
    'a page needs some, and each holds memory',
    'Concurrent watches of one session or sign-in, on each replica.',
  ),
  watchesPerAccount: count(
    100,
    [2, 10_000],
    'a person has several sessions, and each watch holds memory',
    'Concurrent watches of one account, in all its sessions, on each replica.',
  ),
  watchesOfPersons: count(
    5_000,
    [100, 100_000],
    'each page has some, and each holds memory',
    'Concurrent watches of all accounts, on each replica.',
  ),
  watchesOfNetwork: count(
    200,
    [10, 10_000],
    'offices share a network, and each holds memory',
    'Concurrent watches of sign-ins from one client network, on each replica.',
  ),
  watchesOfStrangers: count(
    4_000,
    [100, 100_000],
    'each sign-in has one, and each holds memory',
    'Concurrent watches of sign-ins from all client networks, on each replica.',
  ),
  listPageSize: count(
    500,
    [50, 5_000],
    'less makes lists slow, and a page is held in memory',
    'Objects in one page of a list.',
  ),
  requestBodySize: size(
    '256Ki',
    ['128Ki', '4Mi'],
    'a Policy must fit, and a body is held in memory',
    'Bytes of a request body; for sign-ins and passkeys at most 64Ki.',
  ),
  memoryShare: percent(
    '80%',
    ['20%', '95%'],
    'less refuses what there is room for, and more leaves none for what goes on',
    'Used share of the heap or cgroup limit, whichever is higher, above which new watches ' +
      'and large bodies are refused.',
  ),
  memoryBodySize: size(
    '64Ki',
    ['16Ki', '4Mi'],
    'people must be able to sign in, and a larger body is held in memory',
    'Bytes above which a body is large, for memoryShare.',
  ),
  ownedMetadataSize: size(
    '4Ki',
    ['1Ki', '256Ki'],
    'owner references must fit, and all of it is kept',
    'Bytes of labels, annotations and owner references of one object that an account owns.',
  ),
  accountChanges: count(
    1_000,
    [50, 1_000_000],
    'less ends an ordinary afternoon, and each leaves a decision',
    'Changes by one account in a day; operators have no limit.',
  ),
  accountBytes: size(
    '4Mi',
    ['256Ki', '1Gi'],
    'less ends an ordinary afternoon, and much of it is kept',
    'Bytes of the changes by one account in a day.',
  ),
  ...recordLimits,
  requestHeaderSize: size(
    '16Ki',
    ['8Ki', '64Ki'],
    'cookies and tokens must fit, and anyone may send one',
    'Bytes of one request’s header.',
  ),
  requestTimeout: duration(
    '60s',
    ['10s', '10m'],
    'slow lines need some time, and a connection is held as long',
    'How long a request may take to arrive.',
  ),
  watchTimeout: duration(
    '30m',
    ['1m', '24h'],
    'less is polling, and a longer one hardly ever ends',
    'Minimum duration of a watch without a timeout; it ends at a random time within twice that.',
  ),
} as const satisfies Record<string, LimitSetting>;

/** The key of a limit. */
export type LimitName = keyof typeof limitSettings;

/** Every limit as a number: milliseconds, bytes, counts, percent. */
export type Limits = Readonly<Record<LimitName, number>>;

const names = keysOf(limitSettings);

/** Pairs of limits of which the first may not exceed the second, with the reason. */
const orderedPairs: readonly (readonly [LimitName, LimitName, string])[] = [
  ['emailResendWait', 'emailCodeLifetime', 'a code would end before another may be asked for'],
  ['emailCodeLifetime', 'interactionLifetime', 'a code would outlive the sign-in it is for'],
  ['sessionIdleLifetime', 'sessionLifetime', 'no session lasts longer than the longest'],
  ['refreshTokenLifetime', 'refreshTokenTotalLifetime', 'no token lasts longer than all of them'],
  ['codeRest', 'codeRestMax', 'no pause is longer than the longest'],
  ['signInIdle', 'interactionLifetime', 'no sign-in lasts longer than the longest'],
  [
    'recentSignIn',
    'sessionIdleLifetime',
    'a session would end before its sign-in is no longer recent',
  ],
];

/** Returns the limits that contradict another, each with the problem. */
export function limitContradictions(limits: Limits): [LimitName, string][] {
  return orderedPairs
    .filter(([less, more]) => limits[less] > limits[more])
    .map(([less, more, why]) => [less, `at most limits.${more}: ${why}`]);
}

/** The limits of a service that sets none. */
export const defaultLimits = Object.fromEntries(
  names.map((name) => [name, parseLimit(limitSettings[name], limitSettings[name].default)]),
) as Limits;
