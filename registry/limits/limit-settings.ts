import { keysOf } from '../schema/typed-entries.js';
import { count, duration, type LimitSetting, parseLimit, percent, size } from './limit-setting.js';

export { type LimitSetting, limitFault, parseLimit } from './limit-setting.js';

/**
 * The limits of every API server by key. In code, durations are milliseconds, sizes are bytes, and
 * percentages are numbers from 0 to 100.
 */
export const serverLimits = {
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
  networkFactorMiddle: count(
    2,
    [1, 256],
    'what a site shares is more than one subscriber has, and less than all of them',
    'Factor by which a /56 of IPv6 may exceed the limit of a /64, for every limit by network.',
  ),
  networkFactorWide: count(
    4,
    [1, 1_000],
    'what a site shares is more than one subscriber has, and less than all of them',
    'Factor by which a /48 of IPv6 may exceed the limit of a /64, and a /24 of IPv4 that of one address.',
  ),
  limitRecords: count(
    6_000,
    [100, 1_000_000],
    'fewer refuse networks that were not seen before, more fill the store',
    'New records of limits in a minute, for the whole service.',
  ),
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
export type LimitName = keyof Limits;

/**
 * Every limit as a number: milliseconds, bytes, counts, percent. Kinds add theirs by declaration
 * merging.
 */
export interface Limits extends Readonly<Record<keyof typeof serverLimits, number>> {}

/** Returns the limits of a table of which none is set. */
export const defaultsOf = <K extends string>(
  settings: Readonly<Record<K, LimitSetting>>,
): Readonly<Record<K, number>> =>
  Object.fromEntries(
    keysOf(settings).map((name) => [name, parseLimit(settings[name], settings[name].default)]),
  ) as Record<K, number>;
