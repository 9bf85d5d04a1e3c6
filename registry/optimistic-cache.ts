import type { Change, Check, Entry, Lost, Revision, Write } from '../storage/storage.js';

/** So many entries are remembered, and so many bytes of values. */
const max = { entries: 10_000, bytes: 16 << 20 };

/**
 * What this replica last knew of the keys it writes: of its own commits, of the races it lost, and
 * of what the others changed since. A commit may begin from it, since its checks prove what it
 * began from; nothing may be refused or answered on the strength of it.
 */
export class OptimisticCache {
  readonly #known = new Map<string, Entry>();
  #bytes = 0;

  /** What stood under a key when it was last heard of; undefined where nothing is known. */
  get(key: string): Entry | undefined {
    return this.#known.get(key);
  }

  /**
   * A commit of this replica was made: what it had read and wrote again is what is likely to be
   * written again.
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

  /** A commit lost its race: this stands there instead. */
  lost({ winners }: Lost): void {
    for (const [key, entry] of winners)
      if (entry) this.#keep(entry);
      else this.#forget(key);
  }

  /** The store told of a change, by whomever. */
  changed({ key, entry }: Change): void {
    if (!this.#known.has(key)) return;
    if (entry) this.#keep(entry);
    else this.#forget(key);
  }

  /** The newest of a key stays; what was written longest ago makes room. */
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
