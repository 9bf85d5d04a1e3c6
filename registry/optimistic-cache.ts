import type { Change, Check, Entry, Lost, Revision, Write } from '../storage/storage.js';

/** The limits of the cache: entries, and bytes of their values. */
const max = { entries: 10_000, bytes: 16 << 20 };

/**
 * The last known version of keys that this replica writes, a suggestion that saves a read: a change
 * starts from it, and the checks of its commit prove it. Nothing is answered or refused on the
 * strength of it.
 */
export class OptimisticCache {
  readonly #known = new Map<string, Entry>();
  #bytes = 0;

  /** Returns the last known entry of a key, or undefined. */
  get(key: string): Entry | undefined {
    return this.#known.get(key);
  }

  /**
   * Records a commit of this replica: keys that were read and written are likely to be written
   * again.
   */
  committed(checks: readonly Check[], writes: readonly Write[], revision: Revision): void {
    const read = new Set(checks.map(({ key }) => key));
    for (const write of writes) {
      if (!('put' in write)) this.#forget(write.delete);
      else if (read.has(write.put))
        this.#keep({
          key: write.put,
          value: write.value,
          revision,
          ...(write.expires !== undefined && { expires: write.expires }),
        });
    }
  }

  /** Records a lost race: `winners` is what stands in the store. */
  lost({ winners }: Lost): void {
    for (const [key, entry] of winners)
      if (entry) this.#keep(entry);
      else this.#forget(key);
  }

  /** Records a change that any replica made. */
  changed({ key, entry }: Change): void {
    if (!this.#known.has(key)) return;
    if (entry) this.#keep(entry);
    else this.#forget(key);
  }

  /** Keeps the newest version of a key; evicts the oldest entries above the limits. */
  #keep(entry: Entry): void {
    const held = this.#known.get(entry.key);
    if (held && held.revision >= entry.revision) return;
    this.#forget(entry.key);
    this.#known.set(entry.key, entry);
    this.#bytes += entry.value.length;
    for (const key of this.#known.keys()) {
      if (this.#known.size <= max.entries && this.#bytes <= max.bytes) return;
      this.#forget(key);
    }
  }

  #forget(key: string): void {
    this.#bytes -= this.#known.get(key)?.value.length ?? 0;
    this.#known.delete(key);
  }
}
