import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import type { RootDatabase } from 'lmdb';

const step = 1 << 20;
const lookEvery = 64 << 10;
const zeros = Buffer.alloc(64 << 10);

/**
 * Keeps the file a megabyte longer than what of it is used. A flush that must also make a new
 * length of the file durable takes up to half as long again as one of bytes within it.
 */
export class Preallocator {
  readonly #root: RootDatabase<Buffer, string>;
  readonly #file: number;
  #sinceLook = lookEvery;

  constructor(root: RootDatabase<Buffer, string>, path: string) {
    this.#root = root;
    this.#file = openSync(path, 'r+');
  }

  /**
   * To be told, between transactions, how many bytes the next one has; a disk that is full is for
   * the transaction to find out.
   */
  reach(bytes: number): void {
    this.#sinceLook += bytes;
    if (this.#sinceLook < lookEvery) return;
    this.#sinceLook = 0;
    try {
      // Inside a transaction nobody else writes: what lies beyond the pages in use is nobody's.
      this.#root.transactionSync(() => {
        this.#lengthen();
      });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    }
  }

  #lengthen(): void {
    const { pageSize, lastPageNumber } = this.#root.getStats() as {
      pageSize: number;
      lastPageNumber: number;
    };
    const { size } = fstatSync(this.#file);
    if (size - (lastPageNumber + 1) * pageSize >= step) return;
    for (let at = size; at < size + step; at += zeros.length)
      writeSync(this.#file, zeros, 0, zeros.length, at);
  }

  close(): void {
    closeSync(this.#file);
  }
}
