import { digest } from '../../security/keyring.js';
import { jsonValue } from '../schema/json-value.js';
import { StatusError } from '../status/status.js';
import type { LimitName, Limits } from './limit-settings.js';

/**
 * At most `max` uses in a window of `seconds` for each subject, counted in the store over all
 * replicas.
 */
export interface Limit {
  readonly name: string;
  readonly max: number;
  readonly seconds: number;
  /** The setting of `max`. */
  readonly setting?: LimitName;
  /** The ceiling for all networks, if the limit is by network. */
  readonly inAll?: number;
  /** The setting of `inAll`. */
  readonly inAllSetting?: LimitName;
  /**
   * The largest block that a replica reserves, and loses if it is killed; a tenth of the window by
   * default.
   */
  readonly block?: number;
}

/** 429 of a limit that a transaction counts. */
export class LimitRefusedError extends StatusError {
  readonly limit: Limit;

  constructor(limit: Limit, retryAfterSeconds: number) {
    super('TooManyRequests', 'too many requests, please try again later', { retryAfterSeconds });
    this.limit = limit;
  }
}

/** Returns a limit from the settings. */
export type LimitOf = (limits: Limits) => Limit;

/** Returns a limit by name; the setting is the number of uses per minute. */
export const perMinute =
  (name: string, setting: LimitName): LimitOf =>
  (limits) => ({ name, max: limits[setting], seconds: 60, setting });

/** Returns the storage key of a limit for a subject, which is hashed. */
export const limitKey = (limit: Limit, subject: string): string =>
  `limits/${limit.name}/${digest(subject)}`;

const slots = 64;

/** The uses of a limit: the end of each slot of time, and how many there were. */
type Uses = [time: number, count: number][];

/**
 * Adds one use at `now` (ms) to a log of uses, or throws 429. The sliding window is exact up to 64
 * uses. Above, uses are grouped into 64ths of the window, and each counts until its group has
 * passed, so that the log stays short.
 */
export function addUse(
  limit: Limit,
  log: Buffer | undefined,
  now: number,
): { value: Buffer; expires: number } {
  const window = limit.seconds * 1000;
  const slot = limit.max > slots ? window / slots : 1;
  const uses = (log ? jsonValue<Uses>({ value: log }) : []).filter(([time]) => time > now - window);
  let excess = uses.reduce((sum, [, count]) => sum + count, 0) - limit.max;
  if (excess >= 0) {
    const [freeing] = uses.find(([, count]) => {
      excess -= count;
      return excess < 0;
    })!;
    throw new LimitRefusedError(limit, Math.max(1, Math.ceil((freeing + window - now) / 1000)));
  }
  const time = Math.ceil(now / slot) * slot;
  const newest = uses.at(-1);
  if (newest && slot > 1 && newest[0] >= time) {
    newest[1] += 1;
  } else {
    uses.push([time, 1]);
  }
  return { value: Buffer.from(JSON.stringify(uses)), expires: time + window };
}

/** Returns the log without its newest use. */
export function withoutNewestUse(log: Buffer): Buffer {
  const uses = jsonValue<Uses>({ value: log });
  const newest = uses.at(-1);
  if (newest) newest[1] -= 1;
  if (newest?.[1] === 0) uses.pop();
  return Buffer.from(JSON.stringify(uses));
}

/** Returns a limit with its maximum multiplied by `factor`. */
export const scaleLimit = (limit: Limit, factor: number): Limit =>
  factor === 1
    ? limit
    : {
        ...limit,
        max: Math.ceil(limit.max * factor),
        ...(limit.inAll !== undefined && { inAll: Math.ceil(limit.inAll * factor) }),
      };
