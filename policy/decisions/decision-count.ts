import { toStatusError } from '../../registry/storage-errors.js';
import type { Transaction } from '../../registry/kind.js';
import type { Store } from '../../registry/store.js';
import { objectKey } from '../../registry/encoded-object.js';
import { decisionCountKey } from '../../kinds/policy/decision-count-key.js';
import { retentionMs, PolicyDecision } from '../../kinds/policy/policy-decision.js';
import { singleEventRange } from './names.js';

/** How many decisions one commit evicts, so that listing them is rare. */
const evictionBatch = 40;

/**
 * Counts a decision of an account in the commit that writes it, and evicts the oldest above the
 * limit in the same commit. Expired decisions remain counted until the next eviction.
 */
export async function countDecision(tx: Transaction, store: Store, account: string): Promise<void> {
  const key = decisionCountKey(account);
  const current = await tx.read(key);
  let count = current ? Number(current.value.toString()) : 0;
  if (count + 1 > store.settings.limits.decisionsPerAccount)
    count = await evictOldest(tx, store, account);
  tx.write(key, Buffer.from(String(count + 1)), Date.now() + retentionMs);
}

/** Deletes the oldest decisions, which are last in key order; returns how many remain. */
async function evictOldest(tx: Transaction, store: Store, account: string): Promise<number> {
  const { start, end } = singleEventRange(account);
  const { entries } = await toStatusError(
    store.storage.list({
      start: objectKey(PolicyDecision, start),
      end: objectKey(PolicyDecision, end),
    }),
  );
  const keepCount =
    Math.max(store.settings.limits.decisionsPerAccount, entries.length) - evictionBatch;
  const oldest = entries.slice(keepCount);
  tx.add({ checks: [], writes: oldest.map(({ key }) => ({ delete: key })) });
  return entries.length - oldest.length;
}
