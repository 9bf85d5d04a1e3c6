import { TooLargeError, UnavailableError, UnknownOutcomeError } from '../storage/storage.js';
import { internalError, timeout, unavailable } from './status.js';

/**
 * Storage's own errors as Status errors: nothing written 503, perhaps written 504; anything else as
 * it was.
 */
export function statusErrorOf(error: unknown): unknown {
  if (error instanceof UnavailableError)
    return unavailable(error.full ? 'the store has no room' : 'the store cannot be reached');
  if (error instanceof UnknownOutcomeError)
    return timeout('it is not known whether the change was made');
  return error instanceof TooLargeError ? internalError() : error;
}

/** Waits for work on the store, whose failures are then Status errors. */
export async function toStatusError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw statusErrorOf(error);
  }
}
