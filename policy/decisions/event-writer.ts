import type { Log } from '../../observability/log.js';
import type { Store } from '../../registry/store.js';
import { countDecisions } from './decision-count.js';
import type { DecisionEvent } from './event.js';

/** Refusals held in memory, written in one commit, and recorded one by one in a minute. */
const max = { held: 2_000, together: 20, ofAll: 1_200 };
const minute = 60_000;
const again = 1_000;

/**
 * Refusals on their way into the store, each an object of its own; a flood of them goes on in
 * series.
 */
export class EventWriter {
  readonly #store: Store;
  readonly #log: Log;
  #waiting: DecisionEvent[] = [];
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
    if (now - this.#since > minute) {
      this.#taken = 0;
      this.#since = now;
    }
    return this.#taken < max.ofAll && this.#waiting.length < max.held;
  }

  /** Writes it soon, together with others. */
  add(single: DecisionEvent): void {
    this.#taken += 1;
    this.#waiting.push(single);
    this.#flushing ??= this.#flush();
  }

  /** Resolves when everything is written, or was tried once more. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    while (this.#waiting.length > 0) {
      const some = this.#next();
      try {
        await this.#write(some);
        this.#waiting.splice(0, some.length);
      } catch (error) {
        if (this.#stopping) {
          this.#log.warn(
            { err: error, lost: (this.#dropped += this.#waiting.length) },
            'refusals could not be recorded',
          );
          break;
        }
        await new Promise((resolve) => {
          setTimeout(resolve, again).unref();
        });
      }
    }
    this.#flushing = undefined;
  }

  /** Those of one account, or of none, that wait longest: one commit makes room for one account. */
  #next(): DecisionEvent[] {
    const [{ account }] = this.#waiting as [DecisionEvent];
    const other = this.#waiting.findIndex((one) => one.account !== account);
    return this.#waiting.slice(0, Math.min(other < 0 ? this.#waiting.length : other, max.together));
  }

  async #write(some: readonly DecisionEvent[]): Promise<void> {
    const account = some[0]?.account;
    await this.#store.change(this.#store.systemCall(), async (tx) => {
      for (const { part } of some) tx.add(part);
      if (account !== undefined)
        await countDecisions(tx, this.#store, account, some.length, Date.now());
    });
  }
}
