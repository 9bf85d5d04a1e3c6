/** The cleanup steps of a start, run in reverse order at the stop or when the start fails. */
export class DisposableStack {
  readonly #steps: (() => unknown)[] = [];
  #releasing: Promise<void> | undefined;

  /**
   * Adds the cleanup of something that was opened or is about to be. The step must also work if it
   * was not opened after all.
   */
  add(dispose: () => unknown): void {
    this.#steps.push(dispose);
  }

  /** Returns a stack that is released at this position, whenever its steps are added. */
  child(): DisposableStack {
    const child = new DisposableStack();
    this.add(() => child.release());
    return child;
  }

  /**
   * Runs all steps, once, even if called again. A failing step does not stop the others; the first
   * failure is thrown at the end.
   */
  release(): Promise<void> {
    this.#releasing ??= this.#release();
    return this.#releasing;
  }

  async #release(): Promise<void> {
    const failures: unknown[] = [];
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
