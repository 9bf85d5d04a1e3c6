import { keyOf } from '../limits.js';
import { isMet } from '../preconditions.js';
import type { Committed, Entry, Lost, Revision } from '../storage.js';
import type { QueuedTxn } from './nested-txn.js';

/** What a batch left under the keys it wrote, as of its revision. */
export type Written = ReadonlyMap<string, Entry | undefined>;

/** What the members of a batch wrote that were committed. */
export function writtenBy(
  intents: readonly QueuedTxn[],
  results: readonly (Committed | Lost)[],
): Written {
  const written = new Map<string, Entry | undefined>();
  intents.forEach(({ writes }, i) => {
    const { committed, revision } = results[i]!;
    if (committed)
      for (const write of writes)
        written.set(
          keyOf(write),
          'put' in write ? entryOf(write.put, write.value, write.expires, revision) : undefined,
        );
  });
  return written;
}

/**
 * How an intent that waited while the batch was made has lost against it, if that is certain for
 * each of its checks without asking etcd.
 */
export function detectConflict(
  { checks }: QueuedTxn,
  written: Written,
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

const entryOf = (
  key: string,
  value: Buffer,
  expires: number | undefined,
  revision: Revision,
): Entry => (expires === undefined ? { key, value, revision } : { key, value, revision, expires });
