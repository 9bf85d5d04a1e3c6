import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import type { Revise } from './layout.js';
import {
  digestBytes,
  decodeHead,
  endBytes,
  endMark,
  frameBytes,
  headMost,
  plausible,
  type Header,
  type SnapshotItem,
} from './format.js';

const chunkBytes = 1 << 20;
const pageBytes = 4 << 20;
const pageItems = 1000;

/** A snapshot that was read through and is whole. */
export interface Snapshot {
  readonly file: string;
  readonly header: Header;
  /** How many records it has. */
  readonly items: number;
  readonly bytes: number;
  readonly digest: Buffer;
}

/**
 * Reads a snapshot through; throws one sentence where it is none, of another format, cut short or
 * damaged.
 */
export async function verifySnapshot(file: string): Promise<Snapshot> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error(`there is no file ${file}`) : error;
  });
  try {
    const bytes = (await handle.stat()).size;
    const { header, length } = decodeHead(file, await readAt(handle, 0, Math.min(headMost, bytes)));
    const end =
      bytes < length + endBytes
        ? Buffer.alloc(0)
        : await readAt(handle, bytes - endBytes, endBytes);
    if (!end.subarray(10, 10 + endMark.length).equals(endMark))
      throw new Error(`${file} is cut short: its end is missing`);
    const digest = end.subarray(-digestBytes);
    if (!(await digestOf(handle, bytes - digestBytes)).equals(digest))
      throw new Error(`${file} is damaged: its checksum is wrong`);
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
  for (let at = 0; at < bytes; ) {
    const chunk = await readAt(handle, at, Math.min(chunkBytes, bytes - at));
    if (chunk.length === 0) break;
    hash.update(chunk);
    at += chunk.length;
  }
  return hash.digest();
}

/**
 * The records of a snapshot, some megabytes at a time; throws behind the last where these were not
 * the bytes that had been verified.
 */
export async function* readItems(snapshot: Snapshot): AsyncGenerator<readonly SnapshotItem[]> {
  const handle = await open(snapshot.file, 'r');
  try {
    const reader = new Reader(handle, snapshot);
    let page: SnapshotItem[] = [];
    let bytes = 0;
    let last = '';
    let items = 0;
    await reader.take(decodeHead(snapshot.file, await readAt(handle, 0, headMost)).length);
    for (let item = await readItem(reader); item; item = await readItem(reader)) {
      if (item.key <= last) reader.refuse();
      last = item.key;
      items += 1;
      page.push(item);
      bytes += item.value.length;
      if (page.length < pageItems && bytes < pageBytes) continue;
      yield page;
      [page, bytes] = [[], 0];
    }
    await reader.take(endBytes - digestBytes - 2);
    if (items !== snapshot.items || !reader.digest().equals(snapshot.digest)) reader.refuse();
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
  for await (const items of readItems(snapshot))
    yield items.map(revise).filter((item) => item !== undefined);
}

async function readItem(reader: Reader): Promise<SnapshotItem | undefined> {
  const keyLength = (await reader.take(2)).readUInt16BE();
  if (keyLength === 0) return undefined;
  const frame = await reader.take(frameBytes - 2);
  const valueLength = frame.readUInt32BE(0);
  const expires = frame.readDoubleBE(4);
  if (!plausible(keyLength, valueLength)) reader.refuse();
  const key = (await reader.take(keyLength)).toString('latin1');
  const value = await reader.take(valueLength);
  return expires === 0 ? { key, value } : { key, value, expires };
}

/** Reads a file from its beginning, and proves what it read. */
class Reader {
  readonly #handle: FileHandle;
  readonly #file: string;
  readonly #hash = createHash('sha256');
  #held: Buffer = Buffer.alloc(0);
  #position = 0;

  constructor(handle: FileHandle, { file }: Snapshot) {
    this.#handle = handle;
    this.#file = file;
  }

  async take(length: number): Promise<Buffer> {
    if (this.#held.length < length) await this.#fill(length);
    const taken = this.#held.subarray(0, length);
    this.#held = this.#held.subarray(length);
    this.#hash.update(taken);
    return taken;
  }

  digest(): Buffer {
    return this.#hash.digest();
  }

  refuse(): never {
    throw new Error(`${this.#file} was changed while it was read, or is damaged`);
  }

  async #fill(length: number): Promise<void> {
    while (this.#held.length < length) {
      const chunk = await readAt(
        this.#handle,
        this.#position,
        Math.max(chunkBytes, length - this.#held.length),
      );
      if (chunk.length === 0) this.refuse();
      this.#position += chunk.length;
      this.#held = Buffer.concat([this.#held, chunk]);
    }
  }
}
