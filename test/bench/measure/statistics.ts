/** The middle of some numbers; of an even count the mean of the two in the middle. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The value that a `share` of the sorted numbers does not exceed; 0 where there are none. */
export const percentile = (sorted: ArrayLike<number>, share: number): number =>
  sorted.length === 0 ? 0 : sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;

/** How far numbers that should agree lie apart: largest over smallest. */
export const spreadOf = (numbers: readonly number[]): number =>
  Math.max(...numbers) / Math.min(...numbers);
