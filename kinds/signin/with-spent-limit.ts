import type { Call } from '../../registry/kind.js';
import type { Limit } from '../../registry/limits/rate-limit.js';
import { StatusError } from '../../registry/status/status.js';

/**
 * Counts one against a limit by client network before `work`, and takes it back if `work` is
 * refused. After a Timeout it stays counted, because the commit may have happened.
 */
export async function withSpentLimit<T>(
  call: Call,
  limit: Limit,
  work: () => Promise<T>,
): Promise<T> {
  await call.spend(limit);
  try {
    return await work();
  } catch (error) {
    if (error instanceof StatusError && error.reason !== 'Timeout') call.refund(limit);
    throw error;
  }
}
