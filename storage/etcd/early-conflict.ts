import { keyOf } from '../limits.js';
import { isMet } from '../preconditions.js';
import type { Committed, Entry, Lost, Revision } from '../storage.js';
import type { QueuedTxn } from './nested-txn.js';

/** The entries of the keys that a batch wrote, as of its revision. */
export type WrittenEntries = ReadonlyMap<string, Entry | undefined>;

/** Returns what the committed members of a batch wrote. */
export function writtenBy(
  txns: readonly QueuedTxn[],
  results: readonly (Committed | Lost)[],
): WrittenEntries {
  const written = new Map<string, Entry | undefined>();
  txns.forEach(({ writes }, i) => {
    const { committed, revision } = results[i]!;
    if (committed)
      for (const write of writes)
        written.set(
          keyOf(write),
          'put' in write ? toEntry(write.put, write.value, write.expires, revision) : undefined,
        );
  });
  return written;
}

/**
 * Returns the loss of a transaction that was queued while the batch was written, if all its checks
 * are on keys that the batch wrote and one fails.
 */
export function detectConflict(
  { checks }: QueuedTxn,
  written: WrittenEntries,
  revision: Revision,
): Lost | undefined {
  if (checks.length === 0 || !checks.every(({ key }) => written.has(key))) return undefined;
  const failed = checks.filter((check) => !isMet(check, written.get(check.key)));
  if (failed.length === 0) return undefined;
  return {
    committed: false,
    revision,
    winners: new Map(failed.map(({ key }) => [key, written.get(key)])),
  };
}

const toEntry = (
  key: string,
  value: Buffer,
  expires: number | undefined,
  revision: Revision,
): Entry => (expires === undefined ? { key, value, revision } : { key, value, revision, expires });
