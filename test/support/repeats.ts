import { StatusError } from '../../registry/status/status.js';

/** What a store that is late makes of a request. */
const late: ReadonlySet<string> = new Set([
  '503 the store cannot be reached',
  '503 the service cannot reach its store; try again shortly',
  '504 it is not known whether the change was made',
  '503 The service is not available just now',
  '504 Something went wrong here',
]);

/** Counts the repeats of a suite for a store that was late, which are few or fail a test. */
export const repeats = {
  left: 3,
  /** Returns whether a late answer may be repeated, and says so on standard error. */
  allows(answer: string): boolean {
    if (!late.has(answer) || repeats.left === 0) return false;
    repeats.left -= 1;
    process.stderr.write(`repeated, ${repeats.left} more allowed: ${answer}\n`);
    return true;
  },
};

/** Does the work, and again where the store was late before anything was written. */
export async function repeated<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StatusError) || !repeats.allows(`503 ${error.message}`)) throw error;
    }
  }
}
