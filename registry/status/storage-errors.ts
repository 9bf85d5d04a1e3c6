import { TooLargeError, UnavailableError, UnknownOutcomeError } from '../../storage/storage.js';
import { internalError, timeout, unavailable } from './status.js';

/**
 * Maps a storage error to a Status error: 503 if nothing was written, 504 if the outcome is
 * unknown. Returns other errors unchanged.
 */
export function statusErrorOf(error: unknown): unknown {
  if (error instanceof UnavailableError) {
    return unavailable(error.full ? 'the store has no room' : 'the store cannot be reached');
  }
  if (error instanceof UnknownOutcomeError) {
    return timeout('it is not known whether the change was made');
  }
  return error instanceof TooLargeError ? internalError() : error;
}

/** Throws a storage error as a Status error; for `catch` and `then`. */
export function throwStatusError(error: unknown): never {
  throw statusErrorOf(error);
}

/** Rejects with a Status error where storage work rejects with its own. */
export const toStatusError = <T>(work: Promise<T>): Promise<T> => work.catch(throwStatusError);
