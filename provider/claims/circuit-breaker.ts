const failureThreshold = 5;
const openMs = 30_000;

interface State {
  version: string;
  failures: number;
  openUntil: number;
  isTrialRunning: boolean;
}

/**
 * A circuit breaker by name. It opens for 30 s after five failures in a row, then lets one trial
 * call through. Times by the monotonic clock.
 */
export class CircuitBreaker {
  readonly #states = new Map<string, State>();

  /**
   * Returns true if `name` may be called now; the caller then reports the result with `leave`.
   * Another `version` starts with a closed breaker.
   */
  enter(name: string, version: string): boolean {
    let state = this.#states.get(name);
    if (state?.version !== version) {
      this.#states.set(
        name,
        (state = { version, failures: 0, openUntil: 0, isTrialRunning: false }),
      );
    }
    if (state.failures < failureThreshold) return true;
    if (state.isTrialRunning || performance.now() < state.openUntil) return false;
    return (state.isTrialRunning = true);
  }

  /**
   * Records the result of a call that `enter` allowed. Returns the state of the breaker, or
   * undefined if it is of another version by now.
   */
  leave(name: string, version: string, isSuccess: boolean): 'Open' | 'Closed' | undefined {
    const state = this.#states.get(name);
    if (state?.version !== version) return undefined;
    state.isTrialRunning = false;
    state.failures = isSuccess ? 0 : state.failures + 1;
    if (state.failures < failureThreshold) return 'Closed';
    state.openUntil = performance.now() + openMs;
    return 'Open';
  }
}
