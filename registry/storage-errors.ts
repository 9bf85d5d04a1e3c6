import { TooLargeError, UnavailableError, UnknownOutcomeError } from '../storage/storage.js';
import { internalError, timeout, unavailable } from './status.js';

/**
 * Maps a storage error to a Status error: 503 if nothing was written, 504 if the outcome is
 * unknown. Returns other errors unchanged.
 */
export function statusErrorOf(error: unknown): unknown {
  if (error instanceof UnavailableError)
    return unavailable(error.full ? 'the store has no room' : 'the store cannot be reached');
  if (error instanceof UnknownOutcomeError)
    return timeout('it is not known whether the change was made');
  return error instanceof TooLargeError ? internalError() : error;
}

/** Awaits storage work and rethrows its errors as Status errors. */
export async function toStatusError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw statusErrorOf(error);
  }
}
