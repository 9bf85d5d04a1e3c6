import { limits, type Revision } from '../storage.js';

/**
 * The version of the snapshot format: `vestibule snapshot 1`, a line of JSON ({@link Header}), then
 * records in key order. A record is the length of key (2 bytes) and value (4), the expiry in
 * milliseconds as a double (0: none), key, value. The end is two zero bytes, the number of records
 * as a double, {@link endMark}, and the SHA-256 of everything before it. Numbers are big-endian.
 */
export const format = 1;

/** The header of a snapshot. */
export interface Header {
  /** The release that wrote it. */
  readonly release: string;
  /** When it was started, RFC 3339. */
  readonly time: string;
  readonly store: 'embedded' | 'etcd';
  /** The revision of all records. */
  readonly revision: Revision;
  readonly epoch: number;
}

/** A record of a snapshot; it has no revision of its own. */
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
/** The largest size of the first two lines in bytes. */
export const maxHeadBytes = 4096;

/** Encodes the first two lines. */
export const encodeHead = (header: Header): Buffer =>
  Buffer.from(`vestibule snapshot ${format}\n${JSON.stringify(header)}\n`);

/**
 * Decodes the lines that {@link encodeHead} wrote, and their length in bytes. Throws a message
 * about `file` if they are malformed.
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
  if (Number(number) !== format) {
    throw new Error(
      `${file} has snapshot format ${number}, and this release reads format ${format}: restore ` +
        'it with the release that wrote it, or a newer one',
    );
  }
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
    ) {
      return header;
    }
  } catch {
    /* said below */
  }
  throw new Error(`${file} is not a valid snapshot: malformed header on line 2`);
}

/** Encodes one record. */
export function encodeItem({ key, value, expires }: SnapshotItem): Buffer {
  const record = Buffer.allocUnsafe(frameBytes + key.length + value.length);
  record.writeUInt16BE(key.length, 0);
  record.writeUInt32BE(value.length, 2);
  record.writeDoubleBE(expires ?? 0, 6);
  record.write(key, frameBytes, 'latin1');
  value.copy(record, frameBytes + key.length);
  return record;
}

/** Encodes what follows the last record, without the digest. */
export function encodeEnd(records: number): Buffer {
  const end = Buffer.alloc(endBytes - digestBytes);
  end.writeDoubleBE(records, 2);
  endMark.copy(end, 10);
  return end;
}

/** Returns whether the lengths of key and value are within the limits. */
export const arePlausibleLengths = (key: number, value: number): boolean =>
  key <= limits.keyBytes && value <= limits.commitBytes;
