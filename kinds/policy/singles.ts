import type { Question } from '../../registry/decision.js';
import type { Part } from '../../registry/kind.js';
import type { Log } from '../../registry/observe.js';
import type { Store } from '../../registry/store.js';
import { Asked } from './asked.js';
import { principalOf } from './input.js';

/** Refusals held in memory, written in one commit, and recorded one by one in a minute: of one principal, of all. */
const most = { held: 2_000, together: 40, ofOne: 60, ofAll: 1_200 };
const minute = 60_000;
const again = 1_000;

/** Refusals on their way into the store, each an object of its own; a flood of them goes on in series. */
export class Singles {
  readonly #store: Store;
  readonly #log: Log;
  readonly #spent = new Map<string, number>();
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

  /** Whether this refusal may be an object of its own: so many a minute are. */
  take(question: Question): boolean {
    const now = performance.now();
    if (now - this.#since > minute) { this.#spent.clear(); this.#taken = 0; this.#since = now }
    const principal = principalOf(new Asked(question));
    const spent = this.#spent.get(principal) ?? 0;
    if (spent >= most.ofOne || this.#taken >= most.ofAll || this.#parts.length >= most.held) return false;
    this.#spent.set(principal, spent + 1);
    this.#taken += 1;
    return true;
  }

  /** Writes it soon, together with others. */
  add(part: Part): void {
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
