import type { Part } from '../../registry/kind.js';
import type { Log } from '../../registry/observe.js';
import type { Store } from '../../registry/store.js';

/** Refusals held in memory, written in one commit, and recorded one by one in a minute. */
const most = { held: 2_000, together: 40, ofAll: 1_200 };
const minute = 60_000;
const again = 1_000;

/** Refusals on their way into the store, each an object of its own; a flood of them goes on in series. */
export class Singles {
  readonly #store: Store;
  readonly #log: Log;
  #parts: Part[] = [];
  #taken = 0;
  #since = 0;
  #dropped = 0;
  #flushing: Promise<void> | undefined;
  #stopping = false;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  /** Whether another refusal may be an object of its own: so many a minute are. */
  hasRoom(): boolean {
    const now = performance.now();
    if (now - this.#since > minute) { this.#taken = 0; this.#since = now }
    return this.#taken < most.ofAll && this.#parts.length < most.held;
  }

  /** Writes it soon, together with others. */
  add(part: Part): void {
    this.#taken += 1;
    this.#parts.push(part);
    this.#flushing ??= this.#flush();
  }

  /** Resolves when everything is written, or was tried once more. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    await new Promise((resolve) => { setImmediate(resolve) });
    while (this.#parts.length > 0) {
      const parts = this.#parts.slice(0, most.together);
      try {
        await this.#store.commit(parts);
        this.#parts.splice(0, parts.length);
      } catch (error) {
        if (this.#stopping) { this.#log.warn({ err: error, lost: (this.#dropped += this.#parts.length) }, 'refusals could not be recorded'); break }
        await new Promise((resolve) => { setTimeout(resolve, again).unref() });
      }
    }
    this.#flushing = undefined;
  }
}
