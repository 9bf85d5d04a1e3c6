import { setTimeout as pause, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Log } from '../../observability/log.js';
import type { AuthorizationAttributes, Failure } from '../../registry/authorizer.js';
import { minuteMs, secondMs } from '../../registry/schema/units.js';
import type { Store } from '../../registry/store/store.js';
import type { AuthorizationResponse } from '../evaluate/decision-result.js';
import {
  type DecisionEvent,
  failureEvent,
  failureKey,
  originOf,
  seriesEvent,
  seriesKey,
  writeEvent,
} from './event.js';

/** Series counted in memory, events waiting to be written, and events per commit. */
const limits = { seriesCount: 10_000, queueLength: 2_000, batchSize: 20 };

/**
 * How often new series are written, in milliseconds, where the caller does not say. A series is
 * written again after twelve times as long, then after twice that, while it stays busy.
 */
const defaultIntervalMs = 5_000;
const rewriteIntervals = 12;
/**
 * In milliseconds: the longest interval of writing a series, and the delay after a failed commit.
 */
const delaysMs = { maxWrite: 5 * minuteMs, retry: secondMs };

/** A series. */
interface Series {
  readonly name: string;
  /** The decisions since it was last written, if there are any. */
  event: DecisionEvent | undefined;
  delayMs: number;
  dueAt: number;
}

/** Writes decisions in the background: single events at once, series at intervals. */
export class EventWriter {
  readonly #store: Store;
  readonly #log: Log;
  readonly #intervalMs: number;
  readonly #series = new Map<string, Series>();
  readonly #waiting: DecisionEvent[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isStopping = false;
  #dropped = 0;

  /** `intervalMs` is how often series are looked at and new ones are written. */
  constructor(store: Store, log: Log, intervalMs = defaultIntervalMs) {
    this.#store = store;
    this.#log = log;
    this.#intervalMs = intervalMs;
  }

  /** Returns whether another event may be queued. */
  get hasRoom(): boolean {
    return this.#waiting.length < limits.queueLength;
  }

  /** Queues an event to be written soon, together with others. */
  add(event: DecisionEvent): void {
    this.#waiting.push(event);
    this.#writing ??= this.#drain();
  }

  /**
   * Counts a decision in its series; returns the name of the series, or undefined if there are too
   * many.
   */
  countInSeries(
    attributes: AuthorizationAttributes,
    response: AuthorizationResponse,
    subjectAccount?: string,
  ): string | undefined {
    const key = seriesKey(attributes, response, subjectAccount);
    return this.#count(key, attributes, response, () =>
      seriesEvent(attributes, response, subjectAccount),
    );
  }

  /** Counts a permitted request that failed, in a series of its own. */
  countFailure(
    attributes: AuthorizationAttributes,
    response: AuthorizationResponse,
    failure: Failure,
  ): void {
    this.#count(failureKey(attributes, failure), attributes, response, () =>
      failureEvent(attributes, response, failure),
    );
  }

  #count(
    key: string,
    attributes: AuthorizationAttributes,
    response: AuthorizationResponse,
    createEvent: () => DecisionEvent,
  ): string | undefined {
    const series = this.#series.get(key);
    if (series?.event) {
      series.event.count += 1;
      series.event.last = Date.now();
      series.event.response = response;
      series.event.facts = originOf(attributes);
      return series.name;
    }
    if (!series && !this.#makeRoom()) return undefined;
    const event = createEvent();
    if (series) series.event = event;
    else this.#startSeries(key, event);
    return event.name;
  }

  /** Returns whether there is room for another series; counts the decision that has none. */
  #makeRoom(): boolean {
    if (this.#series.size >= limits.seriesCount) this.#dropWritten();
    const hasRoom = this.#series.size < limits.seriesCount;
    if (!hasRoom) this.#dropped += 1;
    return hasRoom;
  }

  #startSeries(key: string, event: DecisionEvent): void {
    const delayMs = rewriteIntervals * this.#intervalMs;
    this.#series.set(key, { name: event.name, event, delayMs, dueAt: 0 });
    this.#timer ??= setInterval(
      () => this.#enqueueDue(performance.now()),
      this.#intervalMs,
    ).unref();
  }

  #dropWritten(): void {
    for (const [key, { event }] of this.#series) if (!event) this.#series.delete(key);
  }

  /** Writes what is still in memory; gives up on the first failure. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#isStopping = true;
    await this.#writing;
    this.#enqueueDue(Infinity);
    await this.#writing;
  }

  /** Queues the series that are due; none while the queue is full. */
  #enqueueDue(now: number): void {
    if (this.#dropped > 0) {
      this.#log.warn({ dropped: this.#dropped }, 'too many decision series, decisions dropped');
      this.#dropped = 0;
    }
    if (!this.hasRoom && !this.#isStopping) return;
    for (const [key, series] of this.#series) {
      const { event, dueAt, delayMs } = series;
      if (dueAt > now) continue;
      if (!event) {
        this.#series.delete(key);
        continue;
      }
      this.add(event);
      series.event = undefined;
      series.dueAt = now + delayMs;
      series.delayMs = Math.min(delayMs * 2, delaysMs.maxWrite);
    }
  }

  async #drain(): Promise<void> {
    await yieldToEventLoop();
    for (let hasFailed = false; this.#waiting.length > 0; ) {
      const batch = this.#nextBatch();
      try {
        await this.#store.change(this.#store.systemCall(), async (tx) => {
          for (const event of batch) await writeEvent(tx, this.#store, event);
        });
        this.#waiting.splice(0, batch.length);
        hasFailed = false;
      } catch (error) {
        const { length: waiting } = this.#waiting;
        if (!hasFailed || this.#isStopping) {
          this.#log.warn({ err: error, waiting }, 'decisions could not be recorded, retrying');
        }
        hasFailed = true;
        if (this.#isStopping) break;
        await pause(delaysMs.retry, undefined, { ref: false });
      }
    }
    this.#writing = undefined;
  }

  /**
   * Returns the events that have waited longest. Single events of one account have a commit of
   * their own, since a commit evicts for one account.
   */
  #nextBatch(): DecisionEvent[] {
    const batchKey = ({ isSeries, account }: DecisionEvent): string | undefined =>
      isSeries ? '' : account;
    const firstKey = batchKey(this.#waiting[0]!);
    const end = this.#waiting.findIndex((event) => batchKey(event) !== firstKey);
    return this.#waiting.slice(0, Math.min(end < 0 ? limits.batchSize : end, limits.batchSize));
  }
}
