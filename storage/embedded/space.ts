import { closeSync, fstatSync, openSync, statfsSync, writeSync } from 'node:fs';
import type { Database, RootDatabase } from 'lmdb';

/** How many bytes the file is extended by, and kept beyond the pages in use. */
const stepBytes = 1 << 20;
/** For how many bytes {@link Space.fits} is asked between two measurements. */
const checkEveryBytes = 256 << 10;
/** With less space than this, it is measured before each transaction. */
const scarceBytes = 16 << 20;
const zeros = Buffer.alloc(64 << 10);

interface PageCounts {
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

interface RootStats extends PageCounts {
  readonly lastPageNumber: number;
  readonly free: PageCounts;
}

/**
 * How much space each kind of transaction leaves to the others: values to deletes, and deletes to
 * the upkeep of the store, which makes space.
 */
export const sparedBytes = { values: 1 << 20, deletes: 512 << 10, upkeep: 256 << 10 } as const;

/** Returns the free bytes of the disk of a directory. */
export function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

/**
 * The space that an lmdb environment can still fill: on the disk, after the last page of its file,
 * and in free pages.
 *
 * - lmdb must not be asked to write to a full disk. It formats the message of that error into a
 *   buffer that is too short, which can end the process.
 * - The file is kept a megabyte longer than its pages in use. A flush that also has to make a new
 *   file length durable takes up to half as long again.
 */
export class Space {
  readonly #root: RootDatabase<Buffer, number>;
  readonly #others: readonly Database<unknown, string>[];
  readonly #directory: string;
  readonly #file: number;
  #bytesSinceCheck = checkEveryBytes;
  /** The bytes on the disk and after the last page of the file. */
  #consecutive = 0;
  /** The bytes of free pages. */
  #scattered = 0;

  constructor(
    root: RootDatabase<Buffer, number>,
    others: readonly Database<unknown, string>[],
    directory: string,
    path: string,
  ) {
    this.#root = root;
    this.#others = others;
    this.#directory = directory;
    this.#file = openSync(path, 'r+');
  }

  /**
   * Returns whether a transaction of `bytes` fits and leaves `spared` bytes, and makes the file
   * longer for it; call it between transactions. Free pages count for an eighth: a large value needs
   * several in a row, which lmdb does not always find.
   */
  fits(bytes: number, spared: number): boolean {
    this.#bytesSinceCheck += bytes;
    if (this.#bytesSinceCheck >= checkEveryBytes || this.#consecutive < scarceBytes)
      this.#measure();
    return (
      this.#consecutive >= bytes + spared / 4 &&
      this.#consecutive + this.#scattered / 8 >= bytes + spared
    );
  }

  /** Closes its own file descriptor. */
  close(): void {
    closeSync(this.#file);
  }

  #measure(): void {
    this.#bytesSinceCheck = 0;
    // Inside a transaction no other process writes, so the bytes past the last page are free.
    this.#root.transactionSync(() => {
      const stats = this.#root.getStats() as RootStats;
      const end = (stats.lastPageNumber + 1) * stats.pageSize;
      this.#extend(end);
      this.#consecutive = this.#onDisk(end);
      this.#scattered = this.#freePages(stats);
    });
  }

  /** Writes zeros to the end of the file. A full disk is no error: then the rest is not written. */
  #extend(end: number): void {
    const { size } = fstatSync(this.#file);
    if (size - end >= stepBytes) return;
    try {
      for (let offset = size; offset < size + stepBytes; offset += zeros.length)
        writeSync(this.#file, zeros, 0, zeros.length, offset);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    }
  }

  #onDisk(end: number): number {
    return freeBytes(this.#directory) + Math.max(0, fstatSync(this.#file).size - end);
  }

  /** Returns the bytes of the pages that no table uses. */
  #freePages(root: RootStats): number {
    const tables = [
      root,
      root.free,
      ...this.#others.map((other) => other.getStats() as PageCounts),
    ];
    const used = tables.reduce(
      (sum, { treeBranchPageCount, treeLeafPageCount, overflowPages }) =>
        sum + treeBranchPageCount + treeLeafPageCount + overflowPages,
      0,
    );
    return Math.max(0, root.lastPageNumber - 1 - used) * root.pageSize;
  }
}
