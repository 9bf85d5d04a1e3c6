import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import type { RootDatabase } from 'lmdb';

/** Bytes that the file is lengthened by, and kept beyond the pages in use. */
const step = 1 << 20;
/** Bytes written between two looks at the length. */
const lookEvery = 64 << 10;
const zeros = Buffer.alloc(64 << 10);

/**
 * Keeps the file of an lmdb environment a megabyte longer than its pages in use. A flush that also
 * makes a new file length durable takes up to half as long again as a flush within the length.
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
   * Makes room for a transaction of `bytes`; call it between transactions. Errors of the disk are
   * ignored here: the transaction itself meets them.
   */
  reserve(bytes: number): void {
    this.#sinceLook += bytes;
    if (this.#sinceLook < lookEvery) return;
    this.#sinceLook = 0;
    try {
      // Inside a transaction no other process writes, so the bytes past the last page are free.
      this.#root.transactionSync(() => {
        this.#lengthen();
      });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    }
  }

  /** Closes its own descriptor of the file. */
  close(): void {
    closeSync(this.#file);
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
}
