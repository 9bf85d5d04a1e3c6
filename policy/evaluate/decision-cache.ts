import type { DecisionCacheKey } from './cache-key.js';

/** The decisions of one generation. Keys of one encoder are short, which a common map would need to prefix. */
class Generation<V> {
  size = 0;
  readonly #decisions = new Map<DecisionCacheKey, Map<string, V>>();

  get(encoder: DecisionCacheKey, key: string): V | undefined {
    return this.#decisions.get(encoder)?.get(key);
  }

  set(encoder: DecisionCacheKey, key: string, value: V): void {
    const decisions = this.#decisions.get(encoder) ?? new Map<string, V>();
    this.#decisions.set(encoder, decisions.set(key, value));
    this.size += 1;
  }
}

/**
 * A cache of decisions in two generations: keeps the most recently used, up to twice
 * `generationSize` entries.
 */
export class DecisionCache<V> {
  #recent = new Generation<V>();
  #previous = new Generation<V>();
  readonly #generationSize: number;

  constructor(generationSize: number) {
    this.#generationSize = generationSize;
  }

  get size(): number {
    return this.#recent.size + this.#previous.size;
  }

  get(encoder: DecisionCacheKey, key: string): V | undefined {
    const recent = this.#recent.get(encoder, key);
    if (recent !== undefined) return recent;
    const previous = this.#previous.get(encoder, key);
    if (previous !== undefined) this.set(encoder, key, previous);
    return previous;
  }

  /**
   * Stores a decision. When the recent generation is full, entries not used since then are evicted.
   */
  set(encoder: DecisionCacheKey, key: string, value: V): void {
    if (this.#recent.size >= this.#generationSize) {
      this.#previous = this.#recent;
      this.#recent = new Generation();
    }
    this.#recent.set(encoder, key, value);
  }
}
