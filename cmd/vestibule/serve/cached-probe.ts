/** Milliseconds for which an answer is good. */
const good = 60_000;

/**
 * What costs something to find out and is asked for at each scrape: found out when someone asks
 * and the last answer is over a minute old.
 */
export class CachedProbe<T> {
  readonly #find: () => Promise<T>;
  #found: { readonly value: T; readonly at: number } | undefined;
  #finding: Promise<void> | undefined;

  constructor(find: () => Promise<T>) {
    this.#find = find;
  }

  /** The last answer; only the first is waited for. Throws where not even that can be had. */
  async value(): Promise<T> {
    if (!this.#found || performance.now() - this.#found.at >= good)
      this.#finding ??= this.#again().finally(() => {
        this.#finding = undefined;
      });
    if (!this.#found) await this.#finding;
    else
      this.#finding?.catch(() => {
        /* the last one stands, and who asks next has it tried again */
      });
    return this.#found!.value;
  }

  /** Resolves when nothing is being found out. */
  async settled(): Promise<void> {
    await this.#finding?.catch(() => undefined);
  }

  async #again(): Promise<void> {
    const value = await this.#find();
    this.#found = { value, at: performance.now() };
  }
}
