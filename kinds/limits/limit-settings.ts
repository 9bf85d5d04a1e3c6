import {
  count,
  duration,
  type LimitSetting,
  rateLimitBounds,
  size,
} from '../../registry/limits/limit-setting.js';
import {
  defaultsOf,
  type LimitName,
  type Limits,
  serverLimits,
} from '../../registry/limits/limit-settings.js';
import { recordLimits } from './record-limits.js';
import { signInLimits } from './sign-in-limits.js';

const tokenBounds = 'less breaks Clients, and what is stolen counts for as long';

/** Every limit by key: those of the kinds, and those of every API server. */
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
  ...serverLimits,
} as const satisfies Record<string, LimitSetting>;

declare module '../../registry/limits/limit-settings.js' {
  interface Limits extends Readonly<Record<keyof typeof limitSettings, number>> {}
}

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

/** Returns the pairs of limits of which the first exceeds the second, with the reason. */
export function limitContradictions(
  limits: Limits,
): { less: LimitName; more: LimitName; why: string }[] {
  return orderedPairs
    .filter(([less, more]) => limits[less] > limits[more])
    .map(([less, more, why]) => ({ less, more, why }));
}

/** The limits of a service that sets none. */
export const defaultLimits: Limits = defaultsOf(limitSettings);
