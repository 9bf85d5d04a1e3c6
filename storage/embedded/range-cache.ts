import type { Page, Range } from '../storage.js';

/**
 * Pages kept at once, pages remembered to have been asked for, and the most bytes that one may
 * have.
 */
const max = { pages: 16, asked: 64, bytes: 512 << 10 };
/** Entries that make a page worth it. */
const least = 32;

/** A page, with where its range ends: what follows it was counted, too. */
interface Held {
  readonly range: Range;
  readonly page: Page;
}

/**
 * The latest pages of long ranges, from the second time they are asked for until something in their
 * range changes: whoever lists the same again is handed the very same entries, and whoever goes
 * through all pages once leaves none behind.
 */
export class RangeCache {
  readonly #held = new Map<string, Held>();
  readonly #asked = new Set<string>();

  get(key: string): Page | undefined {
    return this.#held.get(key)?.page;
  }

  keep(key: string, range: Range, page: Page): void {
    if (!this.#again(key)) return;
    if (
      page.entries.length < least ||
      page.entries.reduce((sum, { value }) => sum + value.length, 0) > max.bytes
    )
      return;
    if (this.#held.size >= max.pages) this.#held.delete(this.#held.keys().next().value!);
    this.#held.set(key, { range, page });
  }

  /** Lets go of what does not hold any more. */
  changed(name: string): void {
    for (const [key, { range }] of this.#held)
      if (name >= range.start && name < range.end) this.#held.delete(key);
  }

  /** Whether it was asked for before, as far as that is remembered. */
  #again(key: string): boolean {
    if (this.#asked.delete(key)) {
      this.#asked.add(key);
      return true;
    }
    if (this.#asked.size >= max.asked) this.#asked.delete(this.#asked.keys().next().value!);
    this.#asked.add(key);
    return false;
  }
}
