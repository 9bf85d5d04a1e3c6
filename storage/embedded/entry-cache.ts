import type { Entry } from '../storage.js';

/** The limits of one generation: entries, and bytes of their keys and values. */
const limits = { entries: 5_000, bytes: 4 << 20 };

type Generation = Map<string, Entry | undefined>;

/**
 * The durable entries of keys that were read or written recently; undefined for an absent key. When
 * a generation is full, a new one begins and the one before the last is dropped, so that a key in
 * use stays.
 */
export class EntryCache {
  #recent: Generation = new Map();
  #older: Generation = new Map();
  #bytes = 0;

  /** Returns the entry of a key; reads it with `read` if it is not cached. */
  get(key: string, read: (key: string) => Entry | undefined): Entry | undefined {
    if (this.#recent.has(key)) return this.#recent.get(key);
    const entry = this.#older.has(key) ? this.#older.get(key) : read(key);
    this.set(key, entry);
    return entry;
  }

  /** Records the entry of a key, or that it is absent. */
  set(key: string, entry: Entry | undefined): void {
    this.#recent.set(key, entry);
    this.#bytes += key.length + (entry?.value.length ?? 0);
    if (this.#recent.size < limits.entries && this.#bytes < limits.bytes) return;
    this.#older = this.#recent;
    this.#recent = new Map();
    this.#bytes = 0;
  }
}
