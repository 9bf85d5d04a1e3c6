const life = 60_000;
const max = 10_000;

interface Held<T> {
  readonly scopes: ReadonlySet<string>;
  readonly answer: Promise<T | undefined>;
  readonly timer: NodeJS.Timeout;
}

/**
 * Answers in memory for a minute at most and nowhere else; anyone who asks the same while one is under
 * way waits for that one.
 */
export class Answers<T> {
  readonly #held = new Map<string, Held<T>>();

  /**
   * The answer under `key` that covers these scopes, asked for where none is held; no answer
   * (undefined) is not held.
   */
  of(
    key: string,
    scopes: readonly string[],
    ask: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const known = this.#held.get(key);
    if (known && scopes.every((scope) => known.scopes.has(scope))) return known.answer;
    this.#drop(key, known);
    const timer = setTimeout(() => this.#drop(key, held), life);
    timer.unref();
    const held: Held<T> = { scopes: new Set(scopes), answer: ask(), timer };
    this.#held.set(key, held);
    held.answer.then(
      (answer) => {
        if (answer === undefined) this.#drop(key, held);
      },
      () => this.#drop(key, held),
    );
    if (this.#held.size > max) this.#drop(...this.#held.entries().next().value!);
    return held.answer;
  }

  #drop(key: string, held: Held<T> | undefined): void {
    if (!held || this.#held.get(key) !== held) return;
    clearTimeout(held.timer);
    this.#held.delete(key);
  }
}
