import { statfs } from 'node:fs/promises';
import { constants } from 'node:os';

const { EIO, ENOSPC, EDQUOT } = constants.errno;
const mapFull = -30792;
const fullErrors = new Set([ENOSPC, EDQUOT, mapFull]);
const minFreeBytes = 1 << 20;

/** An lmdb error with its error number. */
export type CommitError = Error & { code?: number };

/** Returns the cause of a failed transaction, which lmdb wraps in another error. */
export async function unwrapCommitError(
  error: Error & { commitError?: Promise<never> },
): Promise<CommitError> {
  return error.commitError ? error.commitError.catch((reason: Error) => reason) : error;
}

/**
 * Returns whether the disk was full. lmdb reports a short write, which is often the last one before
 * a full disk, as an input/output error.
 */
export async function isFull({ code = 0 }: CommitError, directory: string): Promise<boolean> {
  if (code !== EIO) return fullErrors.has(code);
  const disk = await statfs(directory).catch(() => undefined);
  return disk !== undefined && disk.bavail * disk.bsize < minFreeBytes;
}
