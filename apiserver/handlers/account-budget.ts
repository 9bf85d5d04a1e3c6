import type { Caller } from '../../registry/kind.js';
import type { Limits } from '../../registry/limit-settings.js';
import type { NetworkLimits } from '../../registry/network-limits.js';

/** A day in seconds. */
const day = 86_400;

/**
 * Counts a change of an account and its bytes before anything is done. Throws 429 above the daily
 * budget, which operators and callers without an account do not have. `now` in ms since the epoch.
 */
export async function spendAccountBudget(
  networkLimits: NetworkLimits,
  limits: Limits,
  caller: Caller | undefined,
  bytes: number,
  now: number,
): Promise<void> {
  if (caller?.type !== 'Account' || caller.operator) return;
  await networkLimits.spend(
    { name: 'accountchanges', max: limits.accountChanges, seconds: day, block: 20 },
    caller.account,
    now,
  );
  await networkLimits.spend(
    { name: 'accountbytes', max: limits.accountBytes, seconds: day, block: 64 << 10 },
    caller.account,
    now,
    Math.max(1, bytes),
  );
}
