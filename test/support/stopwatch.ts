import { readFileSync } from 'node:fs';

/** Milliseconds that this thread waited for a processor; 0 where the system does not say. */
function waitedForProcessor(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

/**
 * Measures time without what this thread waited for a processor, which other programs take on a
 * busy machine. For deadlines of a service that runs in the test's own process.
 */
export class Stopwatch {
  readonly #startedAt = performance.now();
  readonly #waited = waitedForProcessor();

  /** Milliseconds since it was made. */
  get milliseconds(): number {
    return performance.now() - this.#startedAt - (waitedForProcessor() - this.#waited);
  }
}
