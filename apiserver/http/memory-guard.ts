import type { Limits } from '../../registry/limit-settings.js';
import type { Metrics } from '../../observability/metrics/metrics.js';
import { tooManyRequests } from '../../registry/status.js';
import { recentMemoryUse, type MemoryUse } from './memory-use.js';

/** Seconds after which a refused caller may ask again. */
const retryAfterSeconds = 5;

/**
 * Refuses what takes much memory or holds it for long while little is left; small requests go on,
 * as each gives its memory back at once.
 */
export class MemoryGuard {
  readonly #bounds: Pick<Limits, 'memoryShare' | 'memoryBodySize'>;
  readonly #refused: Metrics['memoryRefused'] | undefined;
  readonly #read: () => readonly MemoryUse[];

  /**
   * `refused` counts refusals by what was refused; `read` returns the memory in use, of each limit
   * that there is.
   */
  constructor(
    bounds: Pick<Limits, 'memoryShare' | 'memoryBodySize'>,
    refused?: Metrics['memoryRefused'],
    read: () => readonly MemoryUse[] = recentMemoryUse(),
  ) {
    this.#bounds = bounds;
    this.#refused = refused;
    this.#read = read;
  }

  /** The memory in use, of each limit that there is. */
  use(): readonly MemoryUse[] {
    return this.#read();
  }

  /** 429 for one more watch. */
  refuseWatch(): void {
    if (this.#isShort()) this.#refuse('watch');
  }

  /** 429 for a body of so many bytes, if it is a large one. */
  refuseBody(bytes: number): void {
    if (bytes > this.#bounds.memoryBodySize && this.#isShort()) this.#refuse('body');
  }

  #isShort(): boolean {
    return this.#read().some(({ ratio }) => ratio * 100 >= this.#bounds.memoryShare);
  }

  #refuse(kind: 'watch' | 'body'): never {
    this.#refused?.inc({ kind });
    throw tooManyRequests(
      retryAfterSeconds,
      'the server is short of memory, please try again later',
    );
  }
}
