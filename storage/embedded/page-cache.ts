import type { Batch, Entry, Page, Range, Revision } from '../storage.js';

/** The limits of the cache: pages, their bytes, and requests that are remembered. */
const limits = { pages: 16, bytes: 4 << 20, requests: 64 };
/** Shorter pages are not worth it. */
const minEntries = 32;
/** Bytes of an entry besides its key and its value. */
const entryOverhead = 256;

/** The latest revision, and the changes after an earlier one, if memory reaches back so far. */
interface RecentChanges {
  readonly revision: Revision;
  recent(from: Revision): readonly Batch[] | undefined;
}

interface CachedPage {
  page: Page;
  readonly range: Range;
  readonly bytes: number;
}

/**
 * Pages of the latest revision that were requested at least twice. A page holds until a change in
 * its range, including what is after it, since that is counted.
 */
export class PageCache {
  readonly #changes: RecentChanges;
  readonly #pages = new Map<string, CachedPage>();
  readonly #requests = new Set<string>();
  #bytes = 0;

  constructor(changes: RecentChanges) {
    this.#changes = changes;
  }

  /** Returns a page as it is at the latest revision. Its entries are the same array each time. */
  get(key: string): Page | undefined {
    const cached = this.#pages.get(key);
    if (!cached) return undefined;
    const { revision } = this.#changes;
    if (this.#isChanged(cached)) return void this.#remove(key, cached);
    if (cached.page.revision !== revision) cached.page = { ...cached.page, revision };
    return cached.page;
  }

  /** Records a page if the same one was requested before. */
  set(key: string, range: Range, page: Page): void {
    if (page.entries.length < minEntries || !this.#isRepeated(key)) return;
    const bytes = page.entries.reduce((sum, entry) => sum + bytesOf(entry), 0);
    if (bytes > limits.bytes) return;
    const former = this.#pages.get(key);
    if (former) this.#remove(key, former);
    this.#pages.set(key, { page, range, bytes });
    this.#bytes += bytes;
    for (const [oldest, cached] of this.#pages) {
      if (this.#pages.size <= limits.pages && this.#bytes <= limits.bytes) break;
      this.#remove(oldest, cached);
    }
  }

  #isChanged({ page, range: { start, end } }: CachedPage): boolean {
    const batches = this.#changes.recent(page.revision);
    return (
      !batches ||
      batches.some(({ changes }) => changes.some(({ key }) => key >= start && key < end))
    );
  }

  #remove(key: string, { bytes }: CachedPage): void {
    this.#pages.delete(key);
    this.#bytes -= bytes;
  }

  #isRepeated(key: string): boolean {
    if (this.#requests.has(key)) return true;
    if (this.#requests.size >= limits.requests) this.#requests.clear();
    this.#requests.add(key);
    return false;
  }
}

/** The API may keep a page's answer beside it, which is about as long as the values. */
const bytesOf = ({ key, value }: Entry): number => entryOverhead + key.length + 2 * value.length;
