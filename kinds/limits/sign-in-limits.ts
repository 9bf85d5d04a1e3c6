import {
  count,
  duration,
  type LimitSetting,
  percent,
  rateLimitBounds,
} from '../../registry/limits/limit-setting.js';

const tooShortToUse = 'people cannot finish in less, and what is not used should end';

/** The limits of sign-ins, their mails and codes, and the sessions that follow. */
export const signInLimits = {
  interactionLifetime: duration(
    '1h',
    ['5m', '24h'],
    tooShortToUse,
    'How long a sign-in may take. Its record and cookie stay twice as long.',
  ),
  signInIdle: duration(
    '10m',
    ['2m', '24h'],
    tooShortToUse,
    'How long an unverified sign-in lasts without a request from its browser.',
  ),
  unprovenShare: percent(
    '20%',
    ['1%', '50%'],
    'less ends sign-ins of people, and more leaves no room for anything else',
    'Share of the store for unverified sign-ins: of the etcd quota, or of 2Gi. Above it, ' +
      'the longest idle ones are deleted first.',
  ),
  emailCodeLifetime: duration(
    '10m',
    ['1m', '1h'],
    'mail takes its time, and a code is only as good as the mailbox',
    'Lifetime of an emailed code or link.',
  ),
  emailCodeDigits: count(
    8,
    [6, 8],
    'fewer are guessed, more are mistyped',
    'Digits of an emailed code.',
  ),
  emailCodeTries: count(
    5,
    [1, 10],
    'each try is a guess',
    'Attempts to enter the code of one mail.',
  ),
  emailResendWait: duration(
    '60s',
    ['10s', '10m'],
    rateLimitBounds,
    'How long to wait for another mail in the same sign-in.',
  ),
  mailWindow: duration('15m', ['1m', '24h'], rateLimitBounds, 'Window in which mails are counted.'),
  mailsPerKnownAddress: count(
    5,
    [1, 1_000],
    rateLimitBounds,
    'Mails to one address in mailWindow, for browsers that signed in with it before.',
  ),
  mailsPerAddress: count(
    5,
    [1, 1_000],
    rateLimitBounds,
    'Mails to one address in mailWindow, for all other browsers together.',
  ),
  mailsPerAddressDay: count(
    20,
    [1, 10_000],
    rateLimitBounds,
    'Mails to one address in a day, for all other browsers together.',
  ),
  knownBrowserLifetime: duration(
    '8760h',
    ['24h', '9600h'],
    'people who seldom sign in would be strangers, and browsers keep nothing for longer',
    'How long a browser can prove that it signed in with an address.',
  ),
  mailsPerInteraction: count(
    5,
    [1, 1_000],
    rateLimitBounds,
    'Mails from one sign-in in mailWindow.',
  ),
  mailsPerNetwork: count(
    20,
    [1, 100_000],
    rateLimitBounds,
    'Mails for one client network in mailWindow.',
  ),
  mailsInAll: count(
    3_000,
    [10, 10_000_000],
    rateLimitBounds,
    'Mails in mailWindow, for the whole service; mails for browsers that signed in with the ' +
      'address before do not count.',
  ),
  wrongCodeWindow: duration(
    '15m',
    ['1m', '24h'],
    rateLimitBounds,
    'Window in which wrong codes are counted.',
  ),
  wrongCodesPerNetwork: count(
    15,
    [5, 100_000],
    rateLimitBounds,
    'Wrong codes from one client network in wrongCodeWindow.',
  ),
  wrongCodesInAll: count(
    300,
    [10, 1_000_000],
    'fewer let anyone turn codes off, more are a fair chance to guess one',
    'Wrong codes in wrongCodeWindow, for the whole service; beyond that, mails have only the link.',
  ),
  wrongCodeDecay: duration(
    '24h',
    ['1h', '720h'],
    'less forgets who guesses, more never forgives',
    'Time after which wrongCodesPerAddress wrong codes of an address, and one of its pauses, are forgotten.',
  ),
  wrongCodesPerAddress: count(
    100,
    [10, 1_000],
    'fewer let anyone lock people out of codes, more are a fair chance to guess one',
    'Wrong codes in a row for one address, after which its codes are paused; links and passkeys keep working.',
  ),
  invitationLifetime: duration(
    '168h',
    ['1h', '8760h'],
    'people read their mail within days, and an invitation that waits for years is forgotten',
    'How long an Invitation can be accepted if its creator does not say.',
  ),
  invitationsPerAddressDay: count(
    5,
    [1, 1_000],
    rateLimitBounds,
    'Invitations mailed to one address in a day.',
  ),
  invitationsPerAccountDay: count(
    200,
    [1, 1_000_000],
    rateLimitBounds,
    'Invitations that one account sends in a day.',
  ),
  accessRequestsPerAccountDay: count(
    20,
    [1, 1_000_000],
    rateLimitBounds,
    'AccessRequests that one account makes in a day.',
  ),
  sessionIdleLifetime: duration(
    '336h',
    ['5m', '2160h'],
    'less asks for a sign-in all day, and a lost device stays signed in for as long',
    'How long a session lasts without use.',
  ),
  sessionLifetime: duration(
    '2160h',
    ['5m', '8760h'],
    'a sign-in that is never repeated proves nothing',
    'Maximum lifetime of a session.',
  ),
  recentSignIn: duration(
    '10m',
    ['1m', '1h'],
    'people cannot finish in less, and a browser left open is as good as a sign-in',
    'Maximum age of a sign-in that allows changes of sign-in methods.',
  ),
} as const satisfies Record<string, LimitSetting>;
