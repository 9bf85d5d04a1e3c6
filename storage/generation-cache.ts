interface Item<V> {
  readonly value: V;
  /** About how many bytes of memory it takes. */
  readonly size: number;
}

const itemOverhead = 256;

/**
 * What was read or written recently, in two generations of at most so many bytes. When one is full,
 * a new one begins and the one before the last is dropped, so that what is in use stays.
 */
export class GenerationCache<V> {
  readonly #maxBytes: number;
  #recent = new Map<string, Item<V>>();
  #older = new Map<string, Item<V>>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(key: string): V | undefined {
    const older = this.#older.get(key);
    if (older) this.#put(key, older);
    return this.#recent.get(key)?.value;
  }

  /** Records a value of so many bytes; one that is larger than a generation is not kept. */
  set(key: string, value: V, bytes: number): void {
    this.#put(key, { value, size: key.length + bytes + itemOverhead });
  }

  #put(key: string, item: Item<V>): void {
    this.#bytes -= this.#recent.get(key)?.size ?? 0;
    this.#recent.delete(key);
    this.#older.delete(key);
    if (item.size > this.#maxBytes) return;
    if (this.#bytes + item.size > this.#maxBytes) {
      this.#older = this.#recent;
      this.#recent = new Map();
      this.#bytes = 0;
    }
    this.#recent.set(key, item);
    this.#bytes += item.size;
  }
}
