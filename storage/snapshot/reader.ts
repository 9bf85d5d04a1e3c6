import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import {
  arePlausibleLengths,
  decodeHead,
  digestBytes,
  endBytes,
  endMark,
  frameBytes,
  type Header,
  maxHeadBytes,
  type SnapshotItem,
} from './format.js';
import type { Revise } from './layout.js';

const chunkBytes = 1 << 20;
const pageBytes = 4 << 20;
const pageItems = 1000;

/** A snapshot file that was read and verified. */
export interface Snapshot {
  readonly file: string;
  readonly header: Header;
  /** The number of records. */
  readonly items: number;
  readonly bytes: number;
  readonly digest: Buffer;
}

/**
 * Reads and verifies a snapshot. Throws if the file is not a snapshot, has another format, is
 * truncated or damaged.
 */
export async function verifySnapshot(file: string): Promise<Snapshot> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error(`there is no file ${file}`) : error;
  });
  try {
    const bytes = (await handle.stat()).size;
    const { header, length } = decodeHead(
      file,
      await readAt(handle, 0, Math.min(maxHeadBytes, bytes)),
    );
    const end =
      bytes < length + endBytes
        ? Buffer.alloc(0)
        : await readAt(handle, bytes - endBytes, endBytes);
    if (!end.subarray(10, 10 + endMark.length).equals(endMark)) {
      throw new Error(`${file} is cut short: its end is missing`);
    }
    const digest = end.subarray(-digestBytes);
    if (!(await digestOf(handle, bytes - digestBytes)).equals(digest)) {
      throw new Error(`${file} is damaged: its checksum is wrong`);
    }
    return { file, header, items: end.readDoubleBE(2), bytes, digest };
  } finally {
    await handle.close();
  }
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

async function digestOf(handle: FileHandle, bytes: number): Promise<Buffer> {
  const hash = createHash('sha256');
  for (let offset = 0; offset < bytes; ) {
    const chunk = await readAt(handle, offset, Math.min(chunkBytes, bytes - offset));
    if (chunk.length === 0) break;
    hash.update(chunk);
    offset += chunk.length;
  }
  return hash.digest();
}

/**
 * Yields the records of a snapshot, some megabytes at a time. Throws after the last record if the
 * file changed since it was verified.
 */
export async function* readItems(snapshot: Snapshot): AsyncGenerator<readonly SnapshotItem[]> {
  const handle = await open(snapshot.file, 'r');
  try {
    const reader = new Reader(handle, snapshot);
    let page: SnapshotItem[] = [];
    let bytes = 0;
    let last = '';
    let items = 0;
    await reader.take(decodeHead(snapshot.file, await readAt(handle, 0, maxHeadBytes)).length);
    for (let item = await readItem(reader); item; item = await readItem(reader)) {
      if (item.key <= last) reader.fail();
      last = item.key;
      items += 1;
      page.push(item);
      bytes += item.value.length;
      if (page.length < pageItems && bytes < pageBytes) continue;
      yield page;
      [page, bytes] = [[], 0];
    }
    await reader.take(endBytes - digestBytes - 2);
    if (items !== snapshot.items || !reader.digest().equals(snapshot.digest)) reader.fail();
    if (page.length > 0) yield page;
  } finally {
    await handle.close();
  }
}

/** Reads the items of a snapshot as `revise` returns them, without those that it leaves out. */
export async function* readRevised(
  snapshot: Snapshot,
  revise: Revise,
): AsyncGenerator<readonly SnapshotItem[]> {
  for await (const items of readItems(snapshot)) {
    yield items.map(revise).filter((item) => item !== undefined);
  }
}

async function readItem(reader: Reader): Promise<SnapshotItem | undefined> {
  const keyLength = (await reader.take(2)).readUInt16BE();
  if (keyLength === 0) return undefined;
  const frame = await reader.take(frameBytes - 2);
  const valueLength = frame.readUInt32BE(0);
  const expires = frame.readDoubleBE(4);
  if (!arePlausibleLengths(keyLength, valueLength)) reader.fail();
  const key = (await reader.take(keyLength)).toString('latin1');
  const value = await reader.take(valueLength);
  return expires === 0 ? { key, value } : { key, value, expires };
}

/** Reads a file sequentially and hashes what it read. */
class Reader {
  readonly #handle: FileHandle;
  readonly #file: string;
  readonly #hash = createHash('sha256');
  #buffer: Buffer = Buffer.alloc(0);
  #position = 0;

  constructor(handle: FileHandle, { file }: Snapshot) {
    this.#handle = handle;
    this.#file = file;
  }

  async take(length: number): Promise<Buffer> {
    if (this.#buffer.length < length) await this.#fill(length);
    const taken = this.#buffer.subarray(0, length);
    this.#buffer = this.#buffer.subarray(length);
    this.#hash.update(taken);
    return taken;
  }

  digest(): Buffer {
    return this.#hash.digest();
  }

  fail(): never {
    throw new Error(`${this.#file} was changed while it was read, or is damaged`);
  }

  async #fill(length: number): Promise<void> {
    while (this.#buffer.length < length) {
      const chunk = await readAt(
        this.#handle,
        this.#position,
        Math.max(chunkBytes, length - this.#buffer.length),
      );
      if (chunk.length === 0) this.fail();
      this.#position += chunk.length;
      this.#buffer = Buffer.concat([this.#buffer, chunk]);
    }
  }
}
