import type { Call, Transaction } from '../../registry/kind.js';
import type { Limits } from '../../registry/limits/limit-settings.js';
import type { Limit } from '../../registry/limits/rate-limit.js';
import { jsonValue } from '../../registry/schema/json-value.js';
import { dayMs } from '../../registry/schema/units.js';
import { tooManyRequestsUntil } from '../../registry/status/status.js';
import { digest } from '../../security/keyring.js';

/**
 * Whose wrong codes count together for an address: browsers that signed in with it before, or all
 * others. Neither can lock the codes of the other.
 */
export type Requester = 'known' | 'stranger';

/**
 * The stored count of wrong codes for one address, over all interactions and browsers. Times in ms
 * since the epoch; `rests` counts lockouts.
 */
interface WrongCodeRecord {
  count: number;
  at: number;
  restUntil: number;
  rests: number;
  restedAt: number;
}

const recordTtlMs = 30 * dayMs;

type ThrottleContext = Pick<Call, 'now' | 'settings'>;

/** Returns whether the browser has a cookie of an earlier sign-in with the address. */
export const requesterOf = (call: Pick<Call, 'ports'>, address: string): Requester =>
  call.ports.knowsBrowser(address) ? 'known' : 'stranger';

/**
 * Returns the limit on wrong codes by client network, with a ceiling over all networks beyond which
 * codes are locked for everyone. A known browser is exempt from the ceiling, since it can only try
 * its own address.
 */
export function wrongCodes(
  { wrongCodesPerNetwork, wrongCodesInAll, wrongCodeWindow }: Limits,
  requester: Requester = 'stranger',
): Limit {
  return {
    name: 'wrongcodes',
    setting: 'wrongCodesPerNetwork',
    max: wrongCodesPerNetwork,
    seconds: wrongCodeWindow / 1000,
    block: 2,
    ...(requester === 'stranger' && { inAll: wrongCodesInAll, inAllSetting: 'wrongCodesInAll' }),
  };
}

/** Returns true while no code is accepted or mailed: the ceiling for all networks is reached. */
export const areCodesLocked = async (
  call: Pick<Call, 'usedShare' | 'settings'>,
): Promise<boolean> => (await call.usedShare(wrongCodes(call.settings.limits))) >= 1;

const keyOf = (address: string, requester: Requester): string =>
  `limits/wrongcodes-${requester}/${digest(address)}`;

/**
 * Returns the record of an address, decayed until now: in each `wrongCodeDecay`, the count by its
 * ceiling and the lockouts by one.
 */
async function readRecord(
  tx: Transaction,
  key: string,
  { now, settings: { limits } }: ThrottleContext,
): Promise<WrongCodeRecord> {
  const stored = await tx.read(key);
  if (!stored) return { count: 0, at: now, restUntil: 0, rests: 0, restedAt: now };
  const wrong = jsonValue<WrongCodeRecord>(stored);
  const decayIntervalMs = limits.wrongCodeDecay / limits.wrongCodesPerAddress;
  const forgotten = Math.floor(Math.max(0, now - wrong.at) / decayIntervalMs);
  const rested = Math.floor(Math.max(0, now - wrong.restedAt) / limits.wrongCodeDecay);
  return {
    count: Math.max(0, wrong.count - forgotten),
    at: wrong.at + forgotten * decayIntervalMs,
    restUntil: wrong.restUntil,
    rests: Math.max(0, wrong.rests - rested),
    restedAt: rested > 0 ? now : wrong.restedAt,
  };
}

/** Returns until when codes are locked for an address (ms since the epoch), or 0. */
export async function lockedUntil(
  tx: Transaction,
  address: string,
  requester: Requester,
  call: ThrottleContext,
): Promise<number> {
  const { restUntil } = await readRecord(tx, keyOf(address, requester), call);
  return restUntil > call.now ? restUntil : 0;
}

/** Throws 429 while codes are locked for an address; `advice` says what to do instead. */
export async function assertCodesNotLocked(
  tx: Transaction,
  address: string,
  requester: Requester,
  call: ThrottleContext,
  advice = '',
): Promise<void> {
  const until = await lockedUntil(tx, address, requester, call);
  if (until > 0) {
    throw tooManyRequestsUntil(until, call.now, `too many wrong codes for this address${advice}`);
  }
}

/**
 * Counts a wrong code. A successful sign-in does not reset the count. At
 * `limits.wrongCodesPerAddress`, codes are locked for `codeRest`, doubled with each lockout up to
 * `codeRestMax`.
 */
export async function countWrongCode(
  tx: Transaction,
  address: string,
  requester: Requester,
  call: ThrottleContext,
): Promise<void> {
  const key = keyOf(address, requester);
  const wrong = await readRecord(tx, key, call);
  wrong.count += 1;
  const { limits } = call.settings;
  if (wrong.count >= limits.wrongCodesPerAddress) {
    wrong.restUntil = call.now + Math.min(limits.codeRest * 2 ** wrong.rests, limits.codeRestMax);
    wrong.rests += 1;
    wrong.restedAt = call.now;
    wrong.count = 0;
  }
  tx.write(key, Buffer.from(JSON.stringify(wrong)), call.now + recordTtlMs);
}
