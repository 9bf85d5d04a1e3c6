import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../../observability/log.js';
import { minuteMs, secondMs } from '../../../registry/schema/units.js';
import { StatusError } from '../../../registry/status/status.js';
import { UnavailableError, UnknownOutcomeError } from '../../../storage/storage.js';

const retryForMs = minuteMs;
const retryDelayMs = secondMs;

/**
 * Starts, and for a minute again a second after each start that failed because the store did not
 * answer, with a line in the log. Other errors are thrown at once.
 */
export async function retryWhileStoreIsAway<T>(start: () => Promise<T>, log: Log): Promise<T> {
  for (const firstAt = Date.now(); ; await pause(retryDelayMs)) {
    try {
      return await start();
    } catch (error) {
      if (!isStoreAway(error) || Date.now() - firstAt > retryForMs) throw error;
      log.warn({ err: error }, 'the store is not available; starting again');
    }
  }
}

/** Returns whether the store did not answer and may do so later. */
const isStoreAway = (error: unknown): boolean =>
  error instanceof UnavailableError
    ? !error.full
    : error instanceof UnknownOutcomeError ||
      (error instanceof StatusError && ['ServiceUnavailable', 'Timeout'].includes(error.reason));
