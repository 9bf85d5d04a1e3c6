/**
 * What a start has taken so far, given back in the opposite order: at a stop, and where the start
 * fails half way.
 */
export class DisposableStack {
  readonly #steps: (() => unknown)[] = [];
  #releasing: Promise<void> | undefined;

  /**
   * Remembers how something just taken, or about to be, is given back; the step must bear that it
   * was not taken after all.
   */
  add(giveBack: () => unknown): void {
    this.#steps.push(giveBack);
  }

  /**
   * Holdings of their own, given back when it is the turn of this moment, whenever they were taken.
   */
  child(): DisposableStack {
    const part = new DisposableStack();
    this.add(() => part.release());
    return part;
  }

  /**
   * Gives everything back, once, however often it is called; a step that fails keeps no other from
   * its turn, and the first failure is thrown at the end.
   */
  release(): Promise<void> {
    this.#releasing ??= this.#release();
    return this.#releasing;
  }

  async #release(): Promise<void> {
    const failures: unknown[] = [];
    for (let step = this.#steps.pop(); step; step = this.#steps.pop())
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    if (failures.length > 0) throw failures[0];
  }
}
