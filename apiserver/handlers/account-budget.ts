import type { Limits } from '../../registry/limits/limit-settings.js';
import type { NetworkLimits } from '../../registry/limits/network-limits.js';
import { daySeconds } from '../../registry/schema/units.js';
import type { AuthorizedRequest } from '../http/message.js';

/**
 * Returns the account that a change counts against: the caller's own, or the one that signs in by
 * the browser that is the caller. Operators and all other callers have no budget.
 */
function accountOf({ caller, requestInfo, target }: AuthorizedRequest): string | undefined {
  if (caller.type === 'Account') return caller.operator ? undefined : caller.account;
  if (caller.type !== 'Browser' || requestInfo.type !== 'resource' || !target) return undefined;
  return requestInfo.kind.budgetAccount?.(target.object);
}

/**
 * Counts a change of an account and its bytes before anything is done; throws 429 above the daily
 * budget. `now` in ms since the epoch.
 */
export async function spendAccountBudget(
  networkLimits: NetworkLimits,
  limits: Limits,
  authorized: AuthorizedRequest,
  bytes: number,
  now: number,
): Promise<void> {
  const account = accountOf(authorized);
  if (account === undefined) return;
  await networkLimits.spend(
    {
      name: 'accountchanges',
      setting: 'accountChanges',
      max: limits.accountChanges,
      seconds: daySeconds,
      block: 20,
    },
    account,
    now,
  );
  await networkLimits.spend(
    {
      name: 'accountbytes',
      setting: 'accountBytes',
      max: limits.accountBytes,
      seconds: daySeconds,
      block: 64 << 10,
    },
    account,
    now,
    Math.max(1, bytes),
  );
}
