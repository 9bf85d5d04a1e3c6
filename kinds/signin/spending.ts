import type { Call } from '../../registry/kind.js';
import type { Limit } from '../../registry/rate-limit.js';
import { StatusError } from '../../registry/status.js';

/**
 * Takes one from a limit by client network before `work`, and gives it back where `work` is refused
 * and so did nothing. What is not known to have been done counts as done.
 */
export async function spending<T>(call: Call, limit: Limit, work: () => Promise<T>): Promise<T> {
  await call.spend(limit);
  try {
    return await work();
  } catch (error) {
    if (error instanceof StatusError && error.reason !== 'Timeout') call.giveBack(limit);
    throw error;
  }
}
