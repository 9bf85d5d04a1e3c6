import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import type { Log } from '../../observability/log.js';
import type { Store } from '../../registry/store.js';
import type { AuthorizationResponse } from '../evaluate/decision-result.js';
import { seriesEvent, seriesKey, writeEvent, type DecisionEvent } from './event.js';

/** Series counted in memory, events that wait to be written, and those written in one commit. */
const max = { series: 10_000, waiting: 2_000, together: 20 };

/**
 * Milliseconds between two looks at the series, between two writes of one series (the busier, the
 * rarer), and until a commit that failed is tried again.
 */
const waits = { look: 5_000, first: 5_000, longest: 300_000, again: 1_000 };

/** A series with what was counted since it was last written. */
interface Counted {
  readonly event: DecisionEvent;
  wait: number;
  due: number;
}

/** Writes decisions in the background: single ones at once, series at intervals. */
export class EventWriter {
  readonly #store: Store;
  readonly #log: Log;
  readonly #series = new Map<string, Counted>();
  readonly #waiting: DecisionEvent[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isStopping = false;
  #dropped = 0;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  /** Whether another event may wait to be written. */
  get hasRoom(): boolean {
    return this.#waiting.length < max.waiting;
  }

  /** Writes an event soon, together with others. */
  add(event: DecisionEvent): void {
    this.#waiting.push(event);
    this.#writing ??= this.#write();
  }

  /**
   * Counts a decision in its series; returns the name of the series, or undefined where there are
   * too many.
   */
  count(question: AuthorizationAttributes, judgement: AuthorizationResponse): string | undefined {
    const key = seriesKey(question, judgement);
    const held = this.#series.get(key)?.event;
    if (!held) return this.#begin(key, question, judgement);
    const now = Date.now();
    if (held.count === 0) held.first = now;
    held.count += 1;
    held.last = now;
    held.judgement = judgement;
    return held.name;
  }

  #begin(
    key: string,
    question: AuthorizationAttributes,
    judgement: AuthorizationResponse,
  ): string | undefined {
    if (this.#series.size >= max.series) this.#forgetWritten();
    if (this.#series.size >= max.series) {
      this.#dropped += 1;
      return undefined;
    }
    const event = seriesEvent(question, judgement);
    const record = event.record();
    this.#series.set(key, { event: { ...event, record: () => record }, wait: waits.first, due: 0 });
    this.#timer ??= setInterval(() => this.#collect(performance.now()), waits.look).unref();
    return event.name;
  }

  #forgetWritten(): void {
    for (const [key, { event }] of this.#series) if (event.count === 0) this.#series.delete(key);
  }

  /** Writes what is still in memory, and gives up where that fails. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#isStopping = true;
    await this.#writing;
    this.#collect(Infinity);
    await this.#writing;
  }

  /** Takes the series that are due; none while the store takes no writes. */
  #collect(now: number): void {
    if (this.#dropped > 0) {
      this.#log.warn({ dropped: this.#dropped }, 'decisions were not counted: too many series');
      this.#dropped = 0;
    }
    if (!this.hasRoom && !this.#isStopping) return;
    for (const [key, counted] of this.#series) {
      const { event, due, wait } = counted;
      if (due > now) continue;
      if (event.count === 0) {
        this.#series.delete(key);
        continue;
      }
      this.add({ ...event });
      event.count = 0;
      counted.due = now + wait;
      counted.wait = Math.min(wait * 2, waits.longest);
    }
  }

  async #write(): Promise<void> {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    for (let hasFailed = false; this.#waiting.length > 0; ) {
      const some = this.#next();
      try {
        await this.#store.change(this.#store.systemCall(), async (tx) => {
          for (const event of some) await writeEvent(tx, this.#store, event);
        });
        this.#waiting.splice(0, some.length);
        hasFailed = false;
      } catch (error) {
        const { length: waiting } = this.#waiting;
        if (!hasFailed || this.#isStopping)
          this.#log.warn({ err: error, waiting }, 'decisions could not be recorded yet');
        hasFailed = true;
        if (this.#isStopping) break;
        await new Promise((resolve) => {
          setTimeout(resolve, waits.again).unref();
        });
      }
    }
    this.#writing = undefined;
  }

  /** Those that wait longest; single ones of one account alone, since a commit makes room for one. */
  #next(): DecisionEvent[] {
    const group = ({ isSeries, account }: DecisionEvent): string | undefined =>
      isSeries ? '' : account;
    const first = group(this.#waiting[0]!);
    const other = this.#waiting.findIndex((event) => group(event) !== first);
    return this.#waiting.slice(0, Math.min(other < 0 ? max.together : other, max.together));
  }
}
