import type { Page, Range } from '../storage.js';

/** Pages kept at once, entries that make a page worth it, and the most bytes that one may have. */
const most = { pages: 16, bytes: 512 << 10 };
const least = 32;

/** A page, with where its range ends: what follows it was counted, too. */
interface Held { readonly range: Range; readonly page: Page }

/** The latest pages of long ranges, each until something in its range changes: whoever lists the same again is handed the very same entries. */
export class Pages {
  readonly #held = new Map<string, Held>();

  get(key: string): Page | undefined { return this.#held.get(key)?.page }

  keep(key: string, range: Range, page: Page): void {
    if (page.entries.length < least || page.entries.reduce((sum, { value }) => sum + value.length, 0) > most.bytes) return;
    if (this.#held.size >= most.pages) this.#held.delete(this.#held.keys().next().value!);
    this.#held.set(key, { range, page });
  }

  /** Lets go of what does not hold any more. */
  changed(name: string): void {
    for (const [key, { range }] of this.#held) if (name >= range.start && name < range.end) this.#held.delete(key);
  }
}
