import { constants } from 'node:os';
import { UnavailableError } from '../storage.js';
import type { RootDatabase } from 'lmdb';
import { freeBytes, type Space } from './space.js';

const { EIO, ENOSPC, EDQUOT } = constants.errno;
const mapFull = -30792;
const fullErrors = new Set([ENOSPC, EDQUOT, mapFull]);
const minFreeBytes = 1 << 20;

/** An lmdb error with its error number. */
type CommitError = Error & { code?: number; commitError?: Promise<never> };

/** The lmdb environment of a store. */
interface Environment {
  readonly directory: string;
  readonly root: RootDatabase<Buffer, number>;
  readonly space: Space;
}

/** The error of a store without space. */
export const noSpace = (cause?: Error): UnavailableError =>
  new UnavailableError('no space is left for the store', { full: true, ...(cause && { cause }) });

/**
 * Runs `change` in a durable lmdb transaction that writes about `bytes`. Throws UnavailableError if
 * they do not fit beside `spared` bytes, else the reason of lmdb.
 */
export async function writeTransaction(
  { root, space, directory }: Environment,
  bytes: number,
  spared: number,
  change: () => void,
): Promise<void> {
  if (!space.fits(bytes, spared)) throw noSpace();
  try {
    await root.batch(change);
  } catch (error) {
    const reason = await unwrap(error as CommitError);
    throw isFull(reason, directory) ? noSpace(reason) : reason;
  }
}

/** Returns the cause of a failed transaction, which lmdb wraps in another error. */
async function unwrap(error: CommitError): Promise<CommitError> {
  return error.commitError ? error.commitError.catch((reason: CommitError) => reason) : error;
}

/**
 * Returns whether the disk was full. lmdb reports a short write, which is often the last one before
 * a full disk, as an input/output error.
 */
const isFull = ({ code = 0 }: CommitError, directory: string): boolean =>
  code === EIO ? freeBytes(directory) < minFreeBytes : fullErrors.has(code);
