/** Counts values in buckets by size. */
export interface Histogram {
  observe(value: number): void;
}
