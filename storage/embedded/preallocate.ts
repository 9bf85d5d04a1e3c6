import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import type { RootDatabase } from 'lmdb';

/** How many bytes the file is extended by, and kept beyond the pages in use. */
const stepBytes = 1 << 20;
/** How many bytes are written between checks of the file's length. */
const checkEveryBytes = 64 << 10;
const zeros = Buffer.alloc(64 << 10);

/**
 * Keeps the file of an lmdb environment a megabyte longer than its pages in use. A flush that also
 * has to make a new file length durable takes up to half as long again.
 */
export class Preallocator {
  readonly #root: RootDatabase<Buffer, number>;
  readonly #file: number;
  #bytesSinceCheck = checkEveryBytes;

  constructor(root: RootDatabase<Buffer, number>, path: string) {
    this.#root = root;
    this.#file = openSync(path, 'r+');
  }

  /**
   * Makes room for a transaction of `bytes`; call it between transactions. Ignores disk errors,
   * which the transaction reports.
   */
  reserve(bytes: number): void {
    this.#bytesSinceCheck += bytes;
    if (this.#bytesSinceCheck < checkEveryBytes) return;
    this.#bytesSinceCheck = 0;
    try {
      // Inside a transaction no other process writes, so the bytes past the last page are free.
      this.#root.transactionSync(() => {
        this.#extend();
      });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    }
  }

  /** Closes its own file descriptor. */
  close(): void {
    closeSync(this.#file);
  }

  #extend(): void {
    const { pageSize, lastPageNumber } = this.#root.getStats() as {
      pageSize: number;
      lastPageNumber: number;
    };
    const { size } = fstatSync(this.#file);
    if (size - (lastPageNumber + 1) * pageSize >= stepBytes) return;
    for (let offset = size; offset < size + stepBytes; offset += zeros.length)
      writeSync(this.#file, zeros, 0, zeros.length, offset);
  }
}
