import { statfsSync } from 'node:fs';
import { totalmem } from 'node:os';

/** The bounds of a write buffer in bytes, and its share of the memory and of the disk. */
const bufferBounds = { least: 8 << 20, most: 64 << 20, ofMemory: 32, ofDisk: 64 } as const;

/**
 * How much of the disk each kind of write leaves to the others, in write buffers: values to deletes,
 * and deletes to compaction and to the tables that LevelDB writes in the background.
 */
const sparedBuffers = { values: 8, deletes: 3, upkeep: 2 } as const;

/**
 * Returns how many bytes of rows a store in a directory keeps in memory before it writes them to a
 * table: the more, the less often a row is written again (docs/design/storage.md#the-write-buffer).
 */
export function writeBufferFor(directory: string): number {
  const { blocks, bsize } = statfsSync(directory);
  const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity);
  const { least, most, ofMemory, ofDisk } = bufferBounds;
  const share = Math.floor(Math.min(memory / ofMemory, (blocks * bsize) / ofDisk));
  return Math.min(most, Math.max(least, share));
}

/** Returns the free bytes of the disk of a directory. */
export function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

/**
 * The space of the disk of a store. LevelDB must not come to a full disk: after a write that failed
 * it takes no other until it is opened again.
 */
export class Space {
  readonly #directory: string;
  readonly #bufferBytes: number;

  constructor(directory: string, writeBufferBytes: number) {
    this.#directory = directory;
    this.#bufferBytes = writeBufferBytes;
  }

  /** Returns whether `bytes` of a kind of write fit on the disk beside what they leave to others. */
  fits(bytes: number, kind: keyof typeof sparedBuffers): boolean {
    return freeBytes(this.#directory) >= bytes + sparedBuffers[kind] * this.#bufferBytes;
  }
}
