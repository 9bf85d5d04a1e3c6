import type { Caller } from '../../registry/kind.js';
import type { Limits } from '../../registry/limit-settings.js';
import type { NetworkLimits } from '../../registry/network-limits.js';

/** A day, in seconds. */
const day = 86_400;

/**
 * Counts a change that an account asks for, and its bytes, before anything is done; 429 where it
 * has changed as much as it may in a day. Operators and callers that are no accounts have no such
 * budget. Time in ms since the epoch.
 */
export async function spendAccountBudget(
  counted: NetworkLimits,
  limits: Limits,
  caller: Caller | undefined,
  bytes: number,
  now: number,
): Promise<void> {
  if (caller?.type !== 'Account' || caller.operator) return;
  await counted.spend(
    { name: 'accountchanges', max: limits.accountChanges, seconds: day, block: 20 },
    caller.account,
    now,
  );
  await counted.spend(
    { name: 'accountbytes', max: limits.accountBytes, seconds: day, block: 64 << 10 },
    caller.account,
    now,
    Math.max(1, bytes),
  );
}
