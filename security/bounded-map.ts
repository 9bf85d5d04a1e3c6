/** A map of at most `max` entries; a further one evicts the entry that was set longest ago. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #max: number;
  /** Yields the oldest key. A new iterator would step over the deleted ones before it. */
  readonly #oldest = this.keys();

  constructor(max: number) {
    super();
    this.#max = max;
  }

  override set(key: K, value: V): this {
    this.delete(key);
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
