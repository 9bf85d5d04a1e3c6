import type { Batch, Entry, Revision } from '../storage.js';
import { expiryKey, tombstoneKey } from './encoding.js';
import { sparedBytes } from './space.js';
import type { Tables } from './tables.js';
import { writeTransaction } from './transaction.js';

const emptyValue = Buffer.alloc(1);
/** The pages that a change of a key may copy in the other tables. */
const changeBytes = 6 * 4096;

/** What happened to a key in some batches: its entry before the first and after the last. */
interface NetChange {
  readonly before: Entry | undefined;
  entry: Entry | undefined;
}

/**
 * Brings the tables to the revision of the last of `batches` that fits on the disk, in one
 * transaction, and returns this revision. A key that was written several times is written once.
 * Throws UnavailableError if none fits.
 */
export async function applyToTables(tables: Tables, batches: readonly Batch[]): Promise<Revision> {
  const last = batches.at(-1)!;
  const bytes = batches.reduce((sum, batch) => sum + bytesToApply(batch), 0);
  if (batches.length > 1 && !tables.space.fits(bytes, sparedBytes.upkeep))
    return applyToTables(tables, batches.slice(0, batches.length >> 1));
  await writeTransaction(tables, bytes, sparedBytes.upkeep, () => {
    for (const [key, change] of netChanges(batches)) putChange(tables, key, change);
    putTombstones(tables, batches);
    void tables.system.put('applied', Buffer.from(String(last.revision)));
  });
  return last.revision;
}

const bytesToApply = ({ changes }: Batch): number =>
  changes.reduce((sum, { entry }) => sum + changeBytes + 2 * (entry?.value.length ?? 0), 0);

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
