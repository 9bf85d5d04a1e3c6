import { toStatusError } from '../../registry/storage-errors.js';
import type { Transaction } from '../../registry/kind.js';
import type { Store } from '../../registry/store.js';
import { objectKey } from '../../registry/encoded-object.js';
import { decisionCountKey } from '../../kinds/policy/decision-count-key.js';
import { keptMs, PolicyDecision } from '../../kinds/policy/policy-decision.js';
import { singlesOf } from './names.js';

/** As many go in one commit, so that the rest is listed seldom. */
const going = 40;

/**
 * Counts a decision of an account in the commit that writes it, so that there are never more than
 * may be: beyond that the oldest go in the same commit. Those that have expired meanwhile are
 * counted until then.
 */
export async function countDecision(tx: Transaction, store: Store, account: string): Promise<void> {
  const key = decisionCountKey(account);
  const held = await tx.read(key);
  let count = held ? Number(held.value.toString()) : 0;
  if (count + 1 > store.settings.limits.decisionsPerAccount)
    count = await makeRoom(tx, store, account);
  tx.write(key, Buffer.from(String(count + 1)), Date.now() + keptMs);
}

/** Deletes the oldest, which come last; answers how many stay. */
async function makeRoom(tx: Transaction, store: Store, account: string): Promise<number> {
  const { start, end } = singlesOf(account);
  const { entries } = await toStatusError(
    store.storage.list({
      start: objectKey(PolicyDecision, start),
      end: objectKey(PolicyDecision, end),
    }),
  );
  const stay = Math.max(store.settings.limits.decisionsPerAccount, entries.length) - going;
  const oldest = entries.slice(stay);
  tx.add({ checks: [], writes: oldest.map(({ key }) => ({ delete: key })) });
  return entries.length - oldest.length;
}
