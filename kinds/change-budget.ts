import type { Caller } from '../registry/caller.js';
import type { AnyKind, KindObject } from '../registry/kind.js';
import { daySeconds } from '../registry/schema/units.js';
import type { Store } from '../registry/store/store.js';
import type { InteractionObject } from './interaction/interaction.js';
import { naming } from './signin/interaction-naming.js';

/** A change: who makes it, and what object it is about. */
interface CountedChange {
  readonly caller: Caller;
  readonly requestInfo: { readonly type: string; readonly kind?: AnyKind };
  readonly target?: { readonly object: KindObject } | undefined;
}

/**
 * Returns what counts changes of an account and their bytes against its daily budget, in ms since the
 * epoch; it throws 429 above it.
 */
export const changeBudget =
  ({ networkLimits, settings: { limits } }: Pick<Store, 'networkLimits' | 'settings'>) =>
  async (change: CountedChange, bytes: number, now: number): Promise<void> => {
    const account = accountOf(change);
    if (account === undefined) return;
    const changes = { name: 'accountchanges', setting: 'accountChanges', block: 20 } as const;
    const sizes = { name: 'accountbytes', setting: 'accountBytes', block: 64 << 10 } as const;
    const spend = (limit: typeof changes | typeof sizes, count: number): Promise<void> =>
      networkLimits.spend(
        { ...limit, max: limits[limit.setting], seconds: daySeconds },
        account,
        now,
        count,
      );
    await spend(changes, 1);
    await spend(sizes, Math.max(1, bytes));
  };

/**
 * Returns the account that a change counts against: the caller's own, or the one that signs in by
 * the browser that is the caller. Operators and all other callers have no budget.
 */
function accountOf({ caller, requestInfo, target }: CountedChange): string | undefined {
  if (caller.type === 'Account') return caller.operator ? undefined : caller.account;
  if (caller.type !== 'Browser' || requestInfo.kind?.kind !== naming.kind || !target) {
    return undefined;
  }
  const { internal } = target.object as InteractionObject;
  return internal.login?.account ?? internal.account;
}
