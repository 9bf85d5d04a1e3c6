/**
 * A cache of decisions in two generations: keeps the most recently used, up to twice
 * `generationSize` entries.
 */
export class DecisionCache<V> {
  #recent = new Map<string, V>();
  #previous = new Map<string, V>();
  readonly #generationSize: number;

  constructor(generationSize: number) {
    this.#generationSize = generationSize;
  }

  get size(): number {
    return this.#recent.size + this.#previous.size;
  }

  get(key: string): V | undefined {
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const previous = this.#previous.get(key);
    if (previous !== undefined) {
      this.#previous.delete(key);
      this.set(key, previous);
    }
    return previous;
  }

  /**
   * Stores a decision. When the recent generation is full, entries not used since then are evicted.
   */
  set(key: string, value: V): void {
    if (this.#recent.size >= this.#generationSize) {
      this.#previous = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, value);
  }
}
