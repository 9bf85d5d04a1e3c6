/** How long a value stays fresh, in milliseconds. */
const good = 60_000;

/**
 * Caches a value that is expensive to find and read at each scrape. A read refreshes it when it is
 * over a minute old.
 */
export class CachedProbe<T> {
  readonly #find: () => Promise<T>;
  #found: { readonly value: T; readonly at: number } | undefined;
  #finding: Promise<void> | undefined;

  constructor(find: () => Promise<T>) {
    this.#find = find;
  }

  /** Returns the last value; waits only for the first. Throws if the first cannot be found. */
  async value(): Promise<T> {
    if (!this.#found || performance.now() - this.#found.at >= good)
      this.#finding ??= this.#again().finally(() => {
        this.#finding = undefined;
      });
    if (!this.#found) await this.#finding;
    else
      this.#finding?.catch(() => {
        /* The last value stays, and the next read tries again. */
      });
    return this.#found!.value;
  }

  /** Resolves when no refresh is running. */
  async settled(): Promise<void> {
    await this.#finding?.catch(() => undefined);
  }

  async #again(): Promise<void> {
    const value = await this.#find();
    this.#found = { value, at: performance.now() };
  }
}
