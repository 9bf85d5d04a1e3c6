/**
 * What was remembered does not stand any more, or there was nothing to prove it: whatever was
 * decided on it is to be decided anew, on what stands.
 */
export class StaleCacheError extends Error {
  override readonly name = 'StaleCacheError';
}
