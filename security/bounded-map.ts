/** A map of at most `max` entries; a further one evicts the entry that was set longest ago. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #max: number;
  /**
   * Yields the oldest key. A new iterator would step over the deleted ones before it, and an old one
   * keeps every table that the map has had since it was asked last.
   */
  #oldest = this.keys();
  #setCount = 0;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    this.#setCount += 1;
    if (this.#setCount > this.size) {
      this.#oldest = this.keys();
      this.#setCount = 0;
    }
    if (this.size >= this.#max) this.delete(this.#oldest.next().value!);
    return super.set(key, value);
  }

  /** Returns the value of a key; creates it if absent. */
  getOrCreate(key: K, create: () => V): V {
    const existing = this.get(key);
    if (existing !== undefined) return existing;
    const created = create();
    this.set(key, created);
    return created;
  }
}
