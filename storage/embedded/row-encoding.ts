import { crc32 } from 'node:zlib';
import type { Batch, Change, Entry, Range, Revision } from '../storage.js';

const hexDigits = 14;
const maxRevision = Number.MAX_SAFE_INTEGER;
/** A checksum of four bytes, and the expiry as a double (0: none). */
const headerBytes = 12;

/** The checksum of a record, and of the key and revision that it belongs to. */
const checksum = (key: string, revision: Revision, record: Buffer): number =>
  crc32(record.subarray(4), crc32(`${key} ${revision}`));

const toHex = (number: number): string =>
  Math.max(0, Math.trunc(number)).toString(16).padStart(hexDigits, '0');

/** Rows of a table have keys with its letter, in byte order; keys of entries have no space. */
const tables = { current: 'c', expiry: 'e', log: 'l', system: 's', version: 'v' } as const;

/** Returns the key of the row that has the revision of a key's latest entry. */
export const currentKey = (key: string): string => tables.current + key;

/** Returns the key of a row of the system table. */
export const systemKey = (name: string): string => tables.system + name;

/** Returns the key of the row with the changes of a revision. */
export const logKey = (revision: Revision): string => tables.log + toHex(revision);

/** Returns the revision of a {@link logKey}. */
export const logRevision = (rowKey: string): Revision => Number.parseInt(rowKey.slice(1), 16);

/** A key past all rows of the log. */
export const endOfLog = `${tables.log}~`;

/**
 * Returns the key of the row with the entry that a key got at `revision`, or with its deletion. The
 * rows of a key begin with the latest.
 */
export const versionKey = (key: string, revision: Revision): string =>
  `${tables.version}${key} ${toHex(maxRevision - revision)}`;

/** Splits a {@link versionKey}. */
export const splitVersionKey = (rowKey: string): { key: string; revision: Revision } => ({
  key: rowKey.slice(1, -hexDigits - 1),
  revision: maxRevision - Number.parseInt(rowKey.slice(-hexDigits), 16),
});

/** Returns the key of an expiry index row, in order of time (milliseconds since the epoch). */
export const expiryKey = (expires: number, key: string): string =>
  `${tables.expiry}${toHex(expires)} ${key}`;

/** Returns the key of the entry of an {@link expiryKey}. */
export const keyOfExpiry = (rowKey: string): string => rowKey.slice(hexDigits + 2);

/** The range of the rows of the expiry index before a time. */
export const expiryRows = (before: number): { gte: string; lt: string } => ({
  gte: tables.expiry,
  lt: tables.expiry + toHex(before),
});

/** Returns the range of version rows, or current rows, of the keys of a range. */
export const rowsOf = (
  table: 'current' | 'version',
  { start, end }: Range,
): { gte: string; lt: string } => ({ gte: tables[table] + start, lt: tables[table] + end });

/** The value of a row that is only a key; of a version: the key was deleted. */
const noValue: Buffer = Buffer.alloc(0);

/** Encodes the value of an entry with its checksum and expiry. */
function encodeRecord({ key, revision, value, expires }: Entry): Buffer {
  const record = Buffer.allocUnsafe(headerBytes + value.length);
  record.writeDoubleBE(expires ?? 0, 4);
  value.copy(record, headerBytes);
  record.writeUInt32BE(checksum(key, revision, record), 0);
  return record;
}

/** The record of the entry that a key got at a revision; empty if it was deleted. */
export interface Version {
  readonly key: string;
  readonly revision: Revision;
  readonly record: Buffer;
}

/** Decodes a record; the entry shares its memory. Throws if it was changed on the disk. */
export function decodeRecord({ key, revision, record }: Version): Entry {
  if (record.length < headerBytes || checksum(key, revision, record) !== record.readUInt32BE(0)) {
    throw new Error(
      `the store is damaged: the checksum of ${key} at revision ${revision} is wrong`,
    );
  }
  const expires = record.readDoubleBE(4);
  const value = record.subarray(headerBytes);
  return expires === 0 ? { key, value, revision } : { key, value, revision, expires };
}

/** A change in the log: what is the entry now and before is in the rows of these revisions. */
export interface LogChange {
  readonly key: string;
  readonly isDeletion: boolean;
  /** The revision of the entry before; 0 if there was none. */
  readonly before: Revision;
  /** The bytes of its value. */
  readonly beforeBytes: number;
}

const encodeChange = ({ key, entry, before }: Change): string =>
  `${key} ${entry ? '=' : '-'} ${before?.revision ?? 0} ${before?.value.length ?? 0}`;

/** Encodes the row of a revision in the log: each key with the revision of its entry before. */
const encodeLog = ({ changes }: Batch): Buffer =>
  Buffer.from(changes.map(encodeChange).join('\n'), 'latin1');

/** Decodes what {@link encodeLog} wrote. */
export const decodeLog = (row: Buffer): LogChange[] =>
  row.toString('latin1').split('\n').map(decodeChange);

function decodeChange(line: string): LogChange {
  const [key = '', kind, before, beforeBytes] = line.split(' ');
  return {
    key,
    isDeletion: kind === '-',
    before: Number(before),
    beforeBytes: Number(beforeBytes),
  };
}

/** A row to write or to delete. */
export type Operation =
  | { readonly type: 'put'; readonly key: string; readonly value: Buffer }
  | { readonly type: 'del'; readonly key: string };

/** Returns the operation that writes a row. */
export const putRow = (key: string, value = noValue): Operation => ({ type: 'put', key, value });

/** Returns the operation that deletes a row. */
export const deleteRow = (key: string): Operation => ({ type: 'del', key });

/** Returns about how many bytes rows take on the disk. */
export const bytesOfRows = (rows: readonly Operation[]): number =>
  rows.reduce((sum, row) => sum + row.key.length + ('value' in row ? row.value.length : 0), 0);

/** Returns the rows that make a batch durable. */
export const rowsOfBatch = (batch: Batch): Operation[] => [
  putRow(logKey(batch.revision), encodeLog(batch)),
  ...batch.changes.flatMap((change) => rowsOfChange(change, batch.revision)),
];

/**
 * Returns the rows of a key's entry at `revision`, or of its deletion, without a row of the log. The
 * expiry index has a row of a key at its expiry or before: one that is later than before needs no other.
 */
export function rowsOfChange({ key, entry, before }: Change, revision: Revision): Operation[] {
  if (!entry) return [putRow(versionKey(key, revision)), deleteRow(currentKey(key))];
  const rows = [
    putRow(versionKey(key, revision), encodeRecord(entry)),
    putRow(currentKey(key), Buffer.from(String(revision), 'latin1')),
  ];
  const { expires } = entry;
  if (expires !== undefined && expires < (before?.expires ?? Infinity)) {
    rows.push(putRow(expiryKey(expires, key)));
  }
  return rows;
}
