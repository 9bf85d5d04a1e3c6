import { timeout, unavailable } from '../../registry/status/status.js';

/**
 * Maps an error of the provider's library about the store to a Status error; the library passes
 * only the HTTP status.
 */
export function fromLibrary(error: unknown): unknown {
  const status = (error as { statusCode?: unknown } | undefined)?.statusCode;
  if (status === 503) return unavailable('the store cannot be reached');
  return status === 504 ? timeout('it is not known whether the change was made') : error;
}
