/** The pauses after the first failures and after many, in milliseconds. */
interface BackoffBounds {
  readonly min: number;
  readonly max: number;
}

/**
 * Returns the pause before the next try in milliseconds: doubled by each failure after the first,
 * and spread, so that clients do not return at once.
 */
export const backoffMs = (failureCount: number, { min, max }: BackoffBounds): number =>
  Math.min(max, min * 2 ** Math.min(failureCount - 1, 10)) * (0.5 + Math.random() / 2);
