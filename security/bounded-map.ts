/** A map of at most `max` entries: one more takes the place of the one that was set longest ago. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #max: number;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    if (this.size >= this.#max) this.delete(this.keys().next().value!);
    return super.set(key, value);
  }

  /** Returns what stands under a key, made where nothing does. */
  getOrMake(key: K, make: () => V): V {
    const known = this.get(key);
    if (known !== undefined) return known;
    const made = make();
    this.set(key, made);
    return made;
  }
}
