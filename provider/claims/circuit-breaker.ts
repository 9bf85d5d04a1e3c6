const max = 5;
const rests = 30_000;

interface State {
  version: string;
  failures: number;
  openUntil: number;
  trying: boolean;
}

/**
 * Keeps calls away from a service that failed five times in a row: for 30 s no one calls it, then
 * one does for all. Times by the monotonic clock.
 */
export class Breaker {
  readonly #states = new Map<string, State>();

  /**
   * Whether `name` may be called now; anyone who may has to say how it went. Another `version` of it
   * begins again.
   */
  enter(name: string, version: string): boolean {
    let state = this.#states.get(name);
    if (state?.version !== version)
      this.#states.set(name, (state = { version, failures: 0, openUntil: 0, trying: false }));
    if (state.failures < max) return true;
    if (state.trying || performance.now() < state.openUntil) return false;
    return (state.trying = true);
  }

  /** How a call went that was let in. */
  leave(name: string, version: string, well: boolean): void {
    const state = this.#states.get(name);
    if (state?.version !== version) return;
    state.trying = false;
    state.failures = well ? 0 : state.failures + 1;
    if (state.failures >= max) state.openUntil = performance.now() + rests;
  }
}
