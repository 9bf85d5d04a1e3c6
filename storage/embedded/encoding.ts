import type { Change, Entry, Revision } from '../storage.js';

const headerBytes = 16;

/** Encodes a stored value: revision and expiry as doubles (0: none), then the bytes. */
function encodeRecord(entry: Entry): Buffer {
  const record = Buffer.allocUnsafe(headerBytes + entry.value.length);
  writeRecord(entry, record, 0);
  return record;
}

/** Decodes an entry that {@link encodeRecord} wrote; shares the record's memory. */
function decodeRecord(key: string, record: Buffer): Entry {
  const revision = record.readDoubleBE(0);
  const expires = record.readDoubleBE(8);
  const value = record.subarray(headerBytes);
  return expires === 0 ? { key, value, revision } : { key, value, revision, expires };
}

const subarray = Uint8Array.prototype.subarray;

/**
 * Decodes records directly from lmdb's reused buffer, of which only `length` is valid. The reader
 * fills in the key.
 */
export const recordEncoding = {
  encode: encodeRecord,
  decode(record: Buffer): Entry {
    const revision = record.readDoubleBE(0);
    const expires = record.readDoubleBE(8);
    const value = Buffer.allocUnsafe(record.length - headerBytes);
    value.set(subarray.call(record, headerBytes, record.length));
    return expires === 0 ? { key: '', value, revision } : { key: '', value, revision, expires };
  },
};

/** Sets the key of an entry that lmdb read. */
export function withKey(key: string, entry: Entry): Entry {
  (entry as { key: string }).key = key;
  return entry;
}

/** Encodes the changes of one revision: lengths, key, entry before, entry after. */
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

/** Decodes the changes that {@link encodeLog} wrote, one at a time. */
export function* decodeLog(log: Buffer): Generator<Change> {
  for (let offset = 0; offset < log.length; ) {
    const start = offset + 10 + log.readUInt16BE(offset);
    const entryStart = start + log.readUInt32BE(offset + 2);
    const end = entryStart + log.readUInt32BE(offset + 6);
    const key = log.toString('latin1', offset + 10, start);
    yield {
      key,
      ...(start < entryStart && { before: decodeRecord(key, log.subarray(start, entryStart)) }),
      ...(entryStart < end && { entry: decodeRecord(key, log.subarray(entryStart, end)) }),
    };
    offset = end;
  }
}

const logSize = ({ key, before, entry }: Change): number =>
  10 + key.length + recordSize(before) + recordSize(entry);
const recordSize = (entry: Entry | undefined): number =>
  entry ? headerBytes + entry.value.length : 0;

function writeRecord(entry: Entry, target: Buffer, offset: number): number {
  target.writeDoubleBE(entry.revision, offset);
  target.writeDoubleBE(entry.expires ?? 0, offset + 8);
  entry.value.copy(target, offset + headerBytes);
  return offset + headerBytes + entry.value.length;
}

const hexDigits = 14;
const toHex = (number: number): string =>
  Math.max(0, Math.trunc(number)).toString(16).padStart(hexDigits, '0');

/**
 * Returns the key of the tombstone for `key` deleted at `revision`. The space sorts before every
 * character of a key.
 */
export const tombstoneKey = (key: string, revision: Revision): string =>
  `${key} ${toHex(revision)}`;

/** Splits a {@link tombstoneKey}. */
export const splitTombstoneKey = (text: string): { key: string; revision: Revision } => ({
  key: text.slice(0, -hexDigits - 1),
  revision: Number.parseInt(text.slice(-hexDigits), 16),
});

/** Returns the key of an expiry index entry, in order of time (milliseconds since the epoch). */
export const expiryKey = (expires: number, key: string): string => `${toHex(expires)} ${key}`;

/** Splits an {@link expiryKey}. */
export const splitExpiryKey = (text: string): { expires: number; key: string } => ({
  expires: Number.parseInt(text.slice(0, hexDigits), 16),
  key: text.slice(hexDigits + 1),
});
