/** Runs work on the same key one at a time. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>();

  /** Returns whether work on the key is running or waiting. */
  isBusy(key: string): boolean {
    return this.#last.has(key);
  }

  /** Runs `work` after all earlier work on the key has ended or failed. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const previous = this.#last.get(key) ?? Promise.resolve();
    const current = previous.then(work);
    const settled = current.then(
      () => {},
      () => {},
    );
    this.#last.set(key, settled);
    try {
      return await current;
    } finally {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    }
  }
}
