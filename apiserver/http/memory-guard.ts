import type { ApiServerMetrics } from '../../observability/metrics/api-server-metrics.js';
import type { Limits } from '../../registry/limits/limit-settings.js';
import { tooManyRequests } from '../../registry/status/status.js';
import { type MemoryUse, recentMemoryUse } from './memory-use.js';

/** The Retry-After of a refusal in seconds. */
const retryAfterSeconds = 5;

/**
 * Refuses requests that hold much memory, or hold it for long, when memory is short. Small requests
 * continue, because they release it at once.
 */
export class MemoryGuard {
  readonly #bounds: Pick<Limits, 'memoryShare' | 'memoryBodySize'>;
  readonly #refused: ApiServerMetrics['memoryRefused'] | undefined;
  readonly #read: () => readonly MemoryUse[];

  /** `refused` counts refusals by kind; `read` returns the memory in use for each limit. */
  constructor(
    bounds: Pick<Limits, 'memoryShare' | 'memoryBodySize'>,
    refused?: ApiServerMetrics['memoryRefused'],
    read: () => readonly MemoryUse[] = recentMemoryUse(),
  ) {
    this.#bounds = bounds;
    this.#refused = refused;
    this.#read = read;
  }

  /** Returns the memory in use for each limit. */
  use(): readonly MemoryUse[] {
    return this.#read();
  }

  /** Throws 429 for a watch if memory is short. */
  refuseWatch(): void {
    if (this.#isShort()) this.#refuse('watch');
  }

  /** Throws 429 for a large body if memory is short. */
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
