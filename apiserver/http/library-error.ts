import { timeout, unavailable } from '../../registry/status.js';

/**
 * What the provider's library says of the store, in this API's words: it carries the HTTP status
 * alone.
 */
export function fromLibrary(error: unknown): unknown {
  const status = (error as { statusCode?: unknown } | undefined)?.statusCode;
  if (status === 503) return unavailable('the store cannot be reached');
  return status === 504 ? timeout('it is not known whether the change was made') : error;
}
