const lifetimeMs = 60_000;
const maxEntries = 10_000;

interface CacheEntry<T> {
  readonly scopes: ReadonlySet<string>;
  readonly response: Promise<T | undefined>;
  readonly timer: NodeJS.Timeout;
}

/** Caches responses in memory for a minute; concurrent requests for the same key share one call. */
export class ResponseCache<T> {
  readonly #entries = new Map<string, CacheEntry<T>>();

  /**
   * Returns the cached response of `key` that covers the scopes, else calls `fetchResponse`. A
   * missing response (undefined) is not cached.
   */
  get(
    key: string,
    scopes: readonly string[],
    fetchResponse: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const cached = this.#entries.get(key);
    if (cached && scopes.every((scope) => cached.scopes.has(scope))) return cached.response;
    this.#drop(key, cached);
    const timer = setTimeout(() => this.#drop(key, entry), lifetimeMs);
    timer.unref();
    const entry: CacheEntry<T> = { scopes: new Set(scopes), response: fetchResponse(), timer };
    this.#entries.set(key, entry);
    entry.response.then(
      (response) => {
        if (response === undefined) this.#drop(key, entry);
      },
      () => this.#drop(key, entry),
    );
    if (this.#entries.size > maxEntries) this.#drop(...this.#entries.entries().next().value!);
    return entry.response;
  }

  #drop(key: string, entry: CacheEntry<T> | undefined): void {
    if (!entry || this.#entries.get(key) !== entry) return;
    clearTimeout(entry.timer);
    this.#entries.delete(key);
  }
}
