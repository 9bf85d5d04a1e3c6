import type { Batch, Entry } from '../storage.js';
import { expiryKey, tombstoneKey } from './encoding.js';
import type { Tables } from './tables.js';

const emptyValue = Buffer.alloc(1);

/** What happened to a key in some batches: its entry before the first and after the last. */
interface NetChange {
  readonly before: Entry | undefined;
  entry: Entry | undefined;
}

/**
 * Brings the tables to the revision of the last batch of the log, in one transaction. A key that was
 * written several times is written once.
 */
export async function applyToTables(tables: Tables, batches: readonly Batch[]): Promise<void> {
  const last = batches.at(-1);
  if (!last) return;
  await tables.root.batch(() => {
    for (const [key, change] of netChanges(batches)) putChange(tables, key, change);
    putTombstones(tables, batches);
    void tables.system.put('applied', Buffer.from(String(last.revision)));
  });
}

function netChanges(batches: readonly Batch[]): Map<string, NetChange> {
  const net = new Map<string, NetChange>();
  for (const { changes } of batches)
    for (const { key, entry, before } of changes) {
      const earlier = net.get(key);
      if (earlier) earlier.entry = entry;
      else net.set(key, { before, entry });
    }
  return net;
}

function putChange({ current, expiry }: Tables, key: string, { before, entry }: NetChange): void {
  if (entry) void current.put(key, entry);
  else if (before) void current.remove(key);
  if (before?.expires === entry?.expires) return;
  if (before?.expires !== undefined) void expiry.remove(expiryKey(before.expires, key));
  if (entry?.expires !== undefined) void expiry.put(expiryKey(entry.expires, key), emptyValue);
}

function putTombstones({ tombstones }: Tables, batches: readonly Batch[]): void {
  for (const { revision, changes } of batches)
    for (const { key, entry } of changes)
      if (!entry) void tombstones.put(tombstoneKey(key, revision), emptyValue);
}
