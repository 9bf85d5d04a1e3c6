import type { SnapshotItem } from '../snapshot/format.js';
import type { Batch, Change, Revision } from '../storage.js';
import {
  currentKey,
  encodeLog,
  encodeRecord,
  expiryKey,
  logKey,
  noValue,
  versionKey,
} from './row-encoding.js';

/** A row to write or to delete. */
export type Operation =
  | { readonly type: 'put'; readonly key: string; readonly value: Buffer }
  | { readonly type: 'del'; readonly key: string };

/** Rows that are written together. */
class Rows {
  readonly operations: Operation[] = [];
  /** About how many bytes they have. */
  bytes = 0;

  put(key: string, value: Buffer): void {
    this.operations.push({ type: 'put', key, value });
    this.bytes += key.length + value.length;
  }

  delete(key: string): void {
    this.operations.push({ type: 'del', key });
    this.bytes += key.length;
  }

  /**
   * Adds the rows of a key's entry at `revision`, or of its deletion. The expiry index has a row of a
   * key at its expiry or before: one that is later than before needs no other.
   */
  putChange({ key, entry, before }: Change, revision: Revision): void {
    if (!entry) {
      this.put(versionKey(key, revision), noValue);
      return this.delete(currentKey(key));
    }
    this.put(versionKey(key, revision), encodeRecord(entry));
    this.put(currentKey(key), Buffer.from(String(revision), 'latin1'));
    const { expires } = entry;
    if (expires !== undefined && expires < (before?.expires ?? Infinity))
      this.put(expiryKey(expires, key), noValue);
  }
}

/** Returns the rows that make batches durable. */
export function rowsOfBatches(batches: readonly Batch[]): Rows {
  const rows = new Rows();
  for (const batch of batches) {
    rows.put(logKey(batch.revision), encodeLog(batch));
    for (const change of batch.changes) rows.putChange(change, batch.revision);
  }
  return rows;
}

/** Returns the rows of restored records, all at the base revision and without history. */
export function rowsOfRestored(items: readonly SnapshotItem[], base: Revision): Rows {
  const rows = new Rows();
  for (const item of items)
    rows.putChange({ key: item.key, entry: { ...item, revision: base } }, base);
  return rows;
}
