import { minuteMs } from '../registry/schema/units.js';

/** How long a value stays fresh, in milliseconds. */
const ttlMs = minuteMs;

/**
 * Caches a value that is expensive to find and read at each scrape. A read refreshes it when it is
 * over a minute old.
 */
export class CachedProbe<T> {
  readonly #probe: () => Promise<T>;
  #cached: { readonly value: T; readonly at: number } | undefined;
  #refreshing: Promise<void> | undefined;

  constructor(probe: () => Promise<T>) {
    this.#probe = probe;
  }

  /** Returns the last value; waits only for the first. Throws if the first cannot be found. */
  async value(): Promise<T> {
    if (!this.#cached || performance.now() - this.#cached.at >= ttlMs) {
      this.#refreshing ??= this.#refresh().finally(() => {
        this.#refreshing = undefined;
      });
    }
    if (!this.#cached) {
      await this.#refreshing;
    } else {
      this.#refreshing?.catch(() => {
        /* The last value stays, and the next read tries again. */
      });
    }
    return this.#cached!.value;
  }

  /** Resolves when no refresh is running. */
  async settled(): Promise<void> {
    await this.#refreshing?.catch(() => undefined);
  }

  async #refresh(): Promise<void> {
    const value = await this.#probe();
    this.#cached = { value, at: performance.now() };
  }
}
