import { limits, type Revision } from '../storage.js';

/**
 * A snapshot file: `vestibule snapshot 1`, a line of JSON ({@link Header}), then records in order
 * of their keys; a record is the lengths of key (2 bytes) and value (4), the expiry in milliseconds
 * as a double (0: none), key, value. After them two zero bytes, how many there are as a double,
 * {@link endMark}, and the SHA-256 of everything before it. Numbers are big-endian.
 */
export const format = 1;

/** What a snapshot says of itself. */
export interface Header {
  /** The release that wrote it. */
  readonly release: string;
  /** When it was begun, RFC 3339. */
  readonly time: string;
  readonly store: 'embedded' | 'etcd';
  /** The revision that all of it stood at. */
  readonly revision: Revision;
  readonly epoch: number;
}

/** A key as it lies in a snapshot; its revision there counts for nothing elsewhere. */
export interface SnapshotItem {
  readonly key: string;
  readonly value: Buffer;
  readonly expires?: number;
}

export const endMark = Buffer.from('complete', 'latin1');
export const digestBytes = 32;
/** Bytes before each key. */
export const frameBytes = 14;
/** Zero bytes, number of records, mark, digest. */
export const endBytes = 2 + 8 + endMark.length + digestBytes;
/** Most bytes of the two lines a snapshot begins with. */
export const headMost = 4096;

/** The two lines a snapshot begins with. */
export const encodeHead = (header: Header): Buffer =>
  Buffer.from(`vestibule snapshot ${format}\n${JSON.stringify(header)}\n`);

/**
 * The lines that {@link encodeHead} wrote, and how many bytes they take; throws one sentence about
 * `file` where it is something else.
 */
export function decodeHead(file: string, bytes: Buffer): { header: Header; length: number } {
  const [, number, line] =
    /^vestibule snapshot (\d{1,9})\n(.*)\n/.exec(bytes.toString('latin1')) ?? [];
  if (number === undefined || line === undefined) {
    throw new Error(
      /^vestibule snapshot \d/.test(bytes.toString('latin1', 0, 20))
        ? `${file} is cut short or damaged`
        : `${file} is not a snapshot of vestibule`,
    );
  }
  if (Number(number) !== format)
    throw new Error(
      `${file} has snapshot format ${number}, and this release reads format ${format}: restore ` +
        'it with the release that wrote it, or a newer one',
    );
  const length = `vestibule snapshot ${number}\n${line}\n`.length;
  return { header: parseHeader(file, Buffer.from(line, 'latin1').toString()), length };
}

function parseHeader(file: string, text: string): Header {
  try {
    const header = JSON.parse(text) as Header;
    if (
      Number.isSafeInteger(header.revision) &&
      Number.isSafeInteger(header.epoch) &&
      header.revision > 0 &&
      header.epoch >= 0
    )
      return header;
  } catch {
    /* said below */
  }
  throw new Error(`${file} is not a valid snapshot: malformed header on line 2`);
}

/** One record. */
export function encodeItem({ key, value, expires }: SnapshotItem): Buffer {
  const record = Buffer.allocUnsafe(frameBytes + key.length + value.length);
  record.writeUInt16BE(key.length, 0);
  record.writeUInt32BE(value.length, 2);
  record.writeDoubleBE(expires ?? 0, 6);
  record.write(key, frameBytes, 'latin1');
  value.copy(record, frameBytes + key.length);
  return record;
}

/** What stands behind the last record, except the digest. */
export function encodeEnd(records: number): Buffer {
  const end = Buffer.alloc(endBytes - digestBytes);
  end.writeDoubleBE(records, 2);
  endMark.copy(end, 10);
  return end;
}

/** Whether the lengths before a record can be those of one. */
export const plausible = (key: number, value: number): boolean =>
  key <= limits.keyBytes && value <= limits.commitBytes;
