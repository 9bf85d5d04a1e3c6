import type { Change, Entry, Revision } from '../storage.js';

const header = 16;

/** A stored value: revision and expiry as doubles (0: none), then the bytes. */
function encodeRecord(entry: Entry): Buffer {
  const record = Buffer.allocUnsafe(header + entry.value.length);
  writeRecord(entry, record, 0);
  return record;
}

/** The entry that {@link encodeRecord} wrote under `key`, sharing the record's memory. */
function decodeRecord(key: string, record: Buffer): Entry {
  const revision = record.readDoubleBE(0);
  const expires = record.readDoubleBE(8);
  const value = record.subarray(header);
  return expires === 0 ? { key, value, revision } : { key, value, revision, expires };
}

const subarray = Uint8Array.prototype.subarray;

/**
 * Reads records for lmdb straight out of its reused buffer, whose `length` alone is right; the key
 * is left for the reader to fill in.
 */
export const recordEncoding = {
  encode: encodeRecord,
  decode(record: Buffer): Entry {
    const revision = record.readDoubleBE(0);
    const expires = record.readDoubleBE(8);
    const value = Buffer.allocUnsafe(record.length - header);
    value.set(subarray.call(record, header, record.length));
    return expires === 0 ? { key: '', value, revision } : { key: '', value, revision, expires };
  },
};

/** The entry that lmdb read under `key`. */
export function keyed(key: string, entry: Entry): Entry {
  (entry as { key: string }).key = key;
  return entry;
}

/**
 * The changes of one revision with both values of each: lengths, key, what stood before, what
 * stands after.
 */
export function encodeLog(changes: readonly Change[]): Buffer {
  const log = Buffer.allocUnsafe(changes.reduce((sum, change) => sum + logSize(change), 0));
  let offset = 0;
  for (const { key, before, entry } of changes) {
    offset = log.writeUInt16BE(key.length, offset);
    offset = log.writeUInt32BE(recordSize(before), offset);
    offset = log.writeUInt32BE(recordSize(entry), offset);
    offset += log.write(key, offset, 'latin1');
    if (before) offset = writeRecord(before, log, offset);
    if (entry) offset = writeRecord(entry, log, offset);
  }
  return log;
}

/** The changes that {@link encodeLog} wrote, one at a time. */
export function* decodeLog(log: Buffer): Generator<Change> {
  for (let offset = 0; offset < log.length; ) {
    const start = offset + 10 + log.readUInt16BE(offset);
    const middle = start + log.readUInt32BE(offset + 2);
    const end = middle + log.readUInt32BE(offset + 6);
    const key = log.toString('latin1', offset + 10, start);
    yield {
      key,
      ...(start < middle && { before: decodeRecord(key, log.subarray(start, middle)) }),
      ...(middle < end && { entry: decodeRecord(key, log.subarray(middle, end)) }),
    };
    offset = end;
  }
}

const logSize = ({ key, before, entry }: Change): number =>
  10 + key.length + recordSize(before) + recordSize(entry);
const recordSize = (entry: Entry | undefined): number => (entry ? header + entry.value.length : 0);

function writeRecord(entry: Entry, target: Buffer, offset: number): number {
  target.writeDoubleBE(entry.revision, offset);
  target.writeDoubleBE(entry.expires ?? 0, offset + 8);
  entry.value.copy(target, offset + header);
  return offset + header + entry.value.length;
}

const width = 14;
const padded = (number: number): string =>
  Math.max(0, Math.trunc(number)).toString(16).padStart(width, '0');

/**
 * Where the deletion of `key` at `revision` is noted; the space sorts before every character of a
 * key.
 */
export const tombstoneKey = (key: string, revision: Revision): string =>
  `${key} ${padded(revision)}`;

/** The parts of a {@link tombstoneKey}. */
export const splitTombstoneKey = (text: string): { key: string; revision: Revision } => ({
  key: text.slice(0, -width - 1),
  revision: Number.parseInt(text.slice(-width), 16),
});

/**
 * Where an entry that expires (milliseconds since the epoch) stands in the index, in order of time.
 */
export const expiryKey = (expires: number, key: string): string => `${padded(expires)} ${key}`;

/** The parts of an {@link expiryKey}. */
export const splitExpiryKey = (text: string): { expires: number; key: string } => ({
  expires: Number.parseInt(text.slice(0, width), 16),
  key: text.slice(width + 1),
});
