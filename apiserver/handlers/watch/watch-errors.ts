import { expired, StatusError, unavailable } from '../../../registry/status/status.js';
import { CompactedError } from '../../../storage/storage.js';

/** Returns the Status of a watch that cannot continue. */
export function statusOf(error: unknown): StatusError {
  if (error instanceof StatusError) return error;
  return error instanceof CompactedError ? tooOld() : unavailable('the watch could not continue');
}

/** Returns the Status of a watch whose version is too old. */
export const tooOld = (): StatusError => expired('too old resource version');
