import { statfs } from 'node:fs/promises';
import { constants } from 'node:os';

const { EIO, ENOSPC, EDQUOT } = constants.errno;
const mapFull = -30792;
const full = new Set([ENOSPC, EDQUOT, mapFull]);
const nearlyFull = 1 << 20;

/** Why lmdb could not write, with its number for that. */
export type CommitError = Error & { code?: number };

/** The reason of a failed transaction, which lmdb hands over within another error. */
export async function reasonOf(
  error: Error & { commitError?: Promise<never> },
): Promise<CommitError> {
  return error.commitError ? error.commitError.catch((reason: Error) => reason) : error;
}

/**
 * Whether there was no space; lmdb reports a write cut short, as the last one before a full disk
 * often is, as an input/output error.
 */
export async function isFull({ code = 0 }: CommitError, directory: string): Promise<boolean> {
  if (code !== EIO) return full.has(code);
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize < nearlyFull;
}
