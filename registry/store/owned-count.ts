import type { Entry, Range, Storage } from '../../storage/storage.js';
import type { Transaction } from '../kind.js';
import { toStatusError } from '../status/storage-errors.js';

/** How many objects one commit evicts, so that listing them is rare. */
const evictionBatch = 25;

/** The objects of one owner that are counted: their keys, the key of the count, the maximum. */
export interface CountedObjects {
  readonly range: Range;
  readonly countKey: string;
  readonly max: number;
  /** How long an object is kept, in milliseconds. */
  readonly retentionMs: number;
  /** Returns the keys that go with an object. */
  readonly dependentKeys?: (entry: Entry) => readonly string[];
}

/**
 * Counts an object of an owner in the commit that creates it, and evicts the oldest above the
 * maximum in the same commit. Expired objects remain counted until the next eviction. Objects that
 * are never updated only: the oldest are those with the lowest revision.
 */
export async function countOwned(
  tx: Transaction,
  storage: Storage,
  counted: CountedObjects,
): Promise<void> {
  const { countKey, max, retentionMs } = counted;
  const current = await tx.read(countKey);
  let count = current ? Number(current.value.toString()) : 0;
  if (count + 1 > max) count = await evictOldest(tx, storage, counted);
  tx.write(countKey, Buffer.from(String(count + 1)), Date.now() + retentionMs);
}

/** Deletes the oldest objects; returns how many remain. */
async function evictOldest(
  tx: Transaction,
  storage: Storage,
  { range, max, dependentKeys }: CountedObjects,
): Promise<number> {
  const { entries } = await toStatusError(storage.list(range));
  const newestFirst = [...entries].sort((a, b) => b.revision - a.revision);
  const oldest = newestFirst.slice(Math.max(max, entries.length) - evictionBatch);
  const keys = oldest.flatMap((entry) => [entry.key, ...(dependentKeys?.(entry) ?? [])]);
  tx.add({ checks: [], writes: keys.map((key) => ({ delete: key })) });
  return entries.length - oldest.length;
}
