/** What values are counted in by how large they are. */
export interface Histogram {
  observe(value: number): void;
}
