import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../observability/log.js';
import type { Keys } from '../../security/keyring.js';
import { type Entry, prefixRange, type Revision, type Write } from '../../storage/storage.js';
import type { StagedWrites } from '../kind.js';
import { minuteMs, secondMs } from '../schema/units.js';
import { decodeRow, encodeRow, isOwn, type RowHead } from './outbox-row.js';
import type { Store } from './store.js';

/** The outcome of one try. */
export type Outcome =
  /** Success: the row is deleted in one commit with `part`. */
  | { readonly done: true; readonly part?: StagedWrites }
  /** Failure: the row is retried at `notBefore` (ms since the epoch); `part` is committed too. */
  | { readonly done: false; readonly notBefore: number; readonly part?: StagedWrites };

/** Runs the rows of one queue, whose payloads have this type. */
export interface Worker<Payload = unknown> {
  readonly name: string;
  /**
   * AtMostOnce: a row that was claimed and not finished is dropped. AtLeastOnce: it is taken over
   * when the claim ends. Idempotent: running it twice does no harm, so it is not claimed.
   */
  readonly delivery: 'AtMostOnce' | 'AtLeastOnce' | 'Idempotent';
  /** The number of rows that run at once. */
  readonly maxParallel: number;
  /** How long a claim lasts, in milliseconds; 30 s by default. */
  readonly claimMs?: number;
  /**
   * Runs a row. A thrown error means a retry after ten seconds. `until` is the end of the row, in
   * ms since the epoch.
   */
  run(payload: Payload, row: { id: string; attempt: number; until: number }): Promise<Outcome>;
}

const defaultClaimMs = 30_000;
const failureRetryMs = 10_000;

/** The delay before a row is tried again when the store takes no writes, in milliseconds. */
const unavailableRetryMs = 1_000;

/**
 * How long other replicas wait before they take a row, in milliseconds, so that not all try it at
 * once.
 */
const yieldMs = 1_000;

/**
 * How often the rows are listed, in milliseconds: those of other replicas, which are run here only
 * if their replica does not, and those of a commit whose outcome is unknown.
 */
const listEveryMs = 5 * secondMs;

/** Listing takes at most this share of the time, however many rows there are. */
const listShare = 0.05;

/**
 * Transactional outbox: effects are written in a transaction and run after it. This replica takes
 * its own rows when they are committed, and finds others by listing them. Rows are claimed by
 * compare-and-set; they survive a crash.
 */
export class Outbox {
  readonly #store: Store;
  readonly #keys: Keys;
  readonly #log: Log;
  readonly #queues = new Map<string, Queue>();
  /** Rows that this process deleted since the list began, which may still have them. */
  readonly #deletedWhileListing = new Set<string>();
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(store: Store, keys: Keys, log: Log) {
    this.#store = store;
    this.#keys = keys;
    this.#log = log;
    setMaxListeners(0, this.#stop.signal);
  }

  /** Registers a worker; before `start`. */
  register(worker: Worker): void {
    this.#queues.set(worker.name, new Queue(worker, this.#store, this.#keys, this.#log));
  }

  start(): void {
    this.#store.onCommit((writes, revision) => this.#applyCommit(writes, revision));
    this.#running = this.#run();
  }

  /**
   * Returns the number of pending rows of a worker, and since when this replica has known the
   * oldest (ms since the epoch).
   */
  pending(worker: string): { readonly rows: number; readonly since?: number } {
    return this.#queues.get(worker)?.pending() ?? { rows: 0 };
  }

  /** Stops taking rows and waits for those that run. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all([...this.#queues.values()].map((queue) => queue.stop()));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const startedAt = performance.now();
      await this.#list().catch((error: unknown) => {
        this.#log.warn({ err: error }, 'the outbox could not be listed');
      });
      const waitMs = Math.max(listEveryMs, (performance.now() - startedAt) / listShare);
      await pause(waitMs, undefined, { ref: false, signal }).catch(() => {});
    }
  }

  /** Offers the rows that are stored, and forgets those that are no longer. */
  async #list(): Promise<void> {
    this.#deletedWhileListing.clear();
    const { entries, revision } = await this.#store.storage.list(prefixRange('outbox/'));
    const stored = new Set(entries.map(({ key }) => key));
    for (const queue of this.#queues.values()) queue.forgetOthers(stored, revision);
    for (const entry of entries) {
      if (!this.#deletedWhileListing.has(entry.key)) this.#offer(entry);
    }
  }

  #applyCommit(writes: readonly Write[], revision: Revision): void {
    for (const write of writes) {
      const key = 'put' in write ? write.put : write.delete;
      if (!key.startsWith('outbox/')) continue;
      if ('put' in write) {
        this.#offer({ ...write, key, revision });
      } else {
        this.#deletedWhileListing.add(key);
        this.#queueOf(key)?.forget(key);
      }
    }
  }

  #offer(entry: Entry): void {
    this.#queueOf(entry.key)?.offer(entry);
  }
  #queueOf(key: string): Queue | undefined {
    return this.#queues.get(key.split('/')[1]!);
  }
}

/** The rows of one worker that this replica knows. */
class Queue {
  readonly #worker: Worker;
  readonly #store: Store;
  readonly #keys: Keys;
  readonly #log: Log;
  /** Rows that are due, in order. */
  readonly #ready = new Map<string, Entry>();
  readonly #later = new Map<string, { readonly entry: Entry; readonly due: number }>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #retryAt = new Map<string, number>();
  readonly #knownSince = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #wakesAt = Infinity;
  #isStopped = false;

  constructor(worker: Worker, store: Store, keys: Keys, log: Log) {
    this.#worker = worker;
    this.#store = store;
    this.#keys = keys;
    this.#log = log;
  }

  offer(entry: Entry): void {
    if (!this.#knownSince.has(entry.key)) this.#knownSince.set(entry.key, Date.now());
    if (this.#running.has(entry.key)) return;
    this.#schedule(entry);
    this.#start();
  }

  /** Returns the number of rows, and since when the oldest is known. */
  pending(): { rows: number; since?: number } {
    const since = this.#knownSince.values().next().value;
    return { rows: this.#knownSince.size, ...(since !== undefined && { since }) };
  }

  forget(key: string): void {
    this.#knownSince.delete(key);
    this.#ready.delete(key);
    this.#later.delete(key);
    this.#retryAt.delete(key);
  }

  /** Forgets the rows up to a revision that are not among those stored at it. */
  forgetOthers(stored: ReadonlySet<string>, revision: Revision): void {
    for (const key of this.#knownSince.keys()) {
      const entry = this.#ready.get(key) ?? this.#later.get(key)?.entry;
      if (entry && entry.revision <= revision && !stored.has(key)) this.forget(key);
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await Promise.all(this.#running.values());
  }

  #schedule(entry: Entry): void {
    const { key } = entry;
    let due = this.#retryAt.get(key) ?? 0;
    try {
      due = Math.max(
        due,
        dueAt(
          decodeRow(entry.value).head,
          this.#knownSince.get(key) ?? Date.now(),
          this.#worker.claimMs,
        ),
      );
    } catch (error) {
      return void this.#log.error(
        { worker: this.#worker.name, err: error },
        'an outbox row cannot be read',
      );
    }
    if (due <= Date.now()) {
      this.#later.delete(key);
      return void this.#ready.set(key, entry);
    }
    this.#ready.delete(key);
    this.#later.set(key, { entry, due });
    this.#wakeAt(due);
  }

  /** Starts due rows, as many as may run at once. */
  #start(): void {
    if (this.#isStopped) return;
    for (const [key, entry] of this.#ready) {
      if (this.#running.size >= this.#worker.maxParallel) return;
      if (this.#running.has(key)) continue;
      this.#ready.delete(key);
      this.#running.set(
        key,
        this.#process(entry).finally(() => {
          this.#running.delete(key);
          this.#start();
        }),
      );
    }
  }

  /** Sets the timer for `due`, at most a minute ahead, because the clock may be set. */
  #wakeAt(due: number): void {
    if (this.#isStopped || due >= this.#wakesAt) return;
    clearTimeout(this.#timer);
    this.#wakesAt = due;
    this.#timer = setTimeout(() => this.#wake(), Math.min(due - Date.now(), minuteMs));
    this.#timer.unref();
  }

  #wake(): void {
    this.#wakesAt = Infinity;
    const now = Date.now();
    let next = Infinity;
    for (const [key, { entry, due }] of this.#later) {
      if (due > now) {
        next = Math.min(next, due);
        continue;
      }
      this.#later.delete(key);
      this.#ready.set(key, entry);
    }
    if (next !== Infinity) this.#wakeAt(next);
    this.#start();
  }

  /** Claims, runs and settles one row; if it still exists afterwards, it is scheduled again. */
  async #process(entry: Entry): Promise<void> {
    try {
      this.#retryAt.delete(entry.key);
      if (await this.#claimAndRun(entry)) return void this.#knownSince.delete(entry.key);
    } catch (error) {
      this.#retryAt.set(entry.key, Date.now() + unavailableRetryMs);
      this.#log.warn({ err: error, worker: this.#worker.name }, 'an outbox row was left for later');
    }
    const latest = await this.#store.storage.get(entry.key).catch(() => ({ entry }));
    if (latest.entry) {
      this.#schedule(latest.entry);
    } else {
      this.#knownSince.delete(entry.key);
    }
  }

  /** Returns whether the row was deleted. */
  async #claimAndRun(entry: Entry): Promise<boolean> {
    const { head, sealed } = decodeRow(entry.value);
    const unchanged = [{ key: entry.key, is: entry.revision }];
    if (
      Date.now() > head.until ||
      (head.claimed !== undefined && this.#worker.delivery === 'AtMostOnce')
    ) {
      return (await this.#store.commit([{ checks: unchanged, writes: [{ delete: entry.key }] }]))
        .committed;
    }
    if (this.#worker.delivery === 'Idempotent') {
      return this.#finish(entry, { ...head, attempt: head.attempt + 1 }, sealed, entry.revision);
    }
    const claimed: RowHead = { ...head, attempt: head.attempt + 1, claimed: Date.now() };
    const claim = await this.#store.commit([
      { checks: unchanged, writes: [putRow(entry, claimed, sealed)] },
    ]);
    return claim.committed && this.#finish(entry, claimed, sealed, claim.revision);
  }

  async #finish(
    entry: Entry,
    claimed: RowHead,
    sealed: Buffer,
    revision: number,
  ): Promise<boolean> {
    const { key } = entry;
    const id = key.slice(key.lastIndexOf('/') + 1);
    const outcome = await this.#runWorker(key, sealed, {
      id,
      attempt: claimed.attempt,
      until: claimed.until,
    });
    const { claimed: _, ...unclaimed } = claimed;
    const row = outcome.done
      ? { delete: key }
      : putRow(entry, { ...unclaimed, notBefore: outcome.notBefore }, sealed);
    const commit = await this.#store.commit([
      { checks: [{ key, is: revision }], writes: [row] },
      ...(outcome.part ? [outcome.part] : []),
    ]);
    return commit.committed && outcome.done;
  }

  async #runWorker(
    key: string,
    sealed: Buffer,
    row: { id: string; attempt: number; until: number },
  ): Promise<Outcome> {
    try {
      return await this.#worker.run(JSON.parse(this.#keys.open(key, sealed).toString()), row);
    } catch (error) {
      this.#log.warn(
        { err: error, worker: this.#worker.name, attempt: row.attempt },
        'an outbox row was refused',
      );
      return { done: false, notBefore: Date.now() + failureRetryMs };
    }
  }
}

const putRow = (entry: Entry, head: RowHead, sealed: Buffer): Write => ({
  put: entry.key,
  value: encodeRow(head, sealed),
  ...(entry.expires !== undefined && { expires: entry.expires }),
});

/**
 * Returns when a row is due: its time, or the end of a claim. Rows of other replicas are due later,
 * counted from when they were first seen here.
 */
function dueAt(head: RowHead, since: number, claimMs = defaultClaimMs): number {
  const due = head.claimed === undefined ? head.notBefore : head.claimed + claimMs;
  return isOwn(head) ? due : Math.max(due, since) + yieldMs;
}

/** Deletes pending rows of a worker by their payload; claimed rows stay. */
export async function dropRows(
  store: Store,
  keys: Keys,
  worker: string,
  isUnwanted: (payload: unknown) => boolean,
): Promise<void> {
  const { entries } = await store.storage.list(prefixRange(`outbox/${worker}/`));
  for (const { key, value, revision } of entries) {
    const { head, sealed } = decodeRow(value);
    if (head.claimed !== undefined || !isUnwanted(JSON.parse(keys.open(key, sealed).toString()))) {
      continue;
    }
    await store.commit([{ checks: [{ key, is: revision }], writes: [{ delete: key }] }]);
  }
}
