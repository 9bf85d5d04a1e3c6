import {
  type Change,
  type Check,
  type Entry,
  type Lost,
  ownBytes,
  type Revision,
  type Write,
} from '../../storage/storage.js';

/** The limits of the cache: entries, and bytes of their values. */
const limits = { entries: 10_000, bytes: 16 << 20 };

/**
 * The last known versions of the keys that this replica writes. A change starts from them to save a
 * read, and the checks of its commit prove them. They are never used to answer or refuse a request.
 */
export class OptimisticCache {
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  /** Returns the last known entry of a key, or undefined. */
  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  /**
   * Records a commit of this replica: keys that were read and written are likely to be written
   * again.
   */
  recordCommit(checks: readonly Check[], writes: readonly Write[], revision: Revision): void {
    const read = new Set(checks.map(({ key }) => key));
    for (const write of writes) {
      if (!('put' in write)) {
        this.#delete(write.delete);
      } else if (read.has(write.put)) {
        this.#set({
          key: write.put,
          value: ownBytes(write.value),
          revision,
          ...(write.expires !== undefined && { expires: write.expires }),
          ...(write.decoded && { decoded: write.decoded }),
        });
      }
    }
  }

  /** Records a conflict: `winners` are the current entries. */
  recordConflict({ winners }: Lost): void {
    for (const [key, entry] of winners) {
      if (entry) {
        this.#set(entry);
      } else {
        this.#delete(key);
      }
    }
  }

  /** Records a change that any replica made. */
  recordChange({ key, entry }: Change): void {
    if (!this.#entries.has(key)) return;
    if (entry) {
      this.#set(entry);
    } else {
      this.#delete(key);
    }
  }

  /** Keeps the newest version of a key; evicts the oldest entries above the limits. */
  #set(entry: Entry): void {
    const current = this.#entries.get(entry.key);
    if (current && current.revision >= entry.revision) return;
    this.#delete(entry.key);
    this.#entries.set(entry.key, entry);
    this.#bytes += entry.value.length;
    for (const key of this.#entries.keys()) {
      if (this.#entries.size <= limits.entries && this.#bytes <= limits.bytes) return;
      this.#delete(key);
    }
  }

  #delete(key: string): void {
    this.#bytes -= this.#entries.get(key)?.value.length ?? 0;
    this.#entries.delete(key);
  }
}
