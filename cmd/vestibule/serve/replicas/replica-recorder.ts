import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { Replica, type ReplicaStatus } from '../../../../kinds/replica.js';
import type { Log } from '../../../../observability/log.js';
import { toTimestamp } from '../../../../registry/schema/timestamp.js';
import { minuteMs } from '../../../../registry/schema/units.js';
import type { Store } from '../../../../registry/store/store.js';
import { Activity, type Sums } from './activity.js';
import { HourlyCounts, type Totals } from './hourly-counts.js';

/** What a process knows of itself at a moment. */
export type ReplicaState = Omit<
  ReplicaStatus,
  'startTimestamp' | 'renewTimestamp' | 'activity' | 'settings'
>;

/** Where a record comes from. */
export interface ReplicaSources {
  readonly settings: () => ReplicaStatus['settings'];
  readonly totals: () => Totals;
  readonly state: () => Promise<ReplicaState>;
}

const sum = (counts: Iterable<number>): number =>
  [...counts].reduce((total, count) => total + count, 0);

/** Returns the sums of what was counted. */
function sumsOf({ signIns, signInsFailed, mails, refusedByRule }: Totals): Sums {
  const mailsSent = (mails.get('Sent') ?? 0) + (mails.get('Kept') ?? 0);
  return {
    signIns: sum(signIns.values()),
    signInsFailed: sum(signInsFailed.values()),
    mailsSent,
    mailsFailed: sum(mails.values()) - mailsSent,
    requestsRefused: sum(refusedByRule.values()),
  };
}

/** Returns a name of an object that begins with the name of this host. */
function newName(): string {
  const host = hostname()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 50)
    .replaceAll(/^-|-$/g, '');
  return `${host || 'replica'}-${randomBytes(4).toString('hex')}`;
}

/**
 * Writes what this process is and does as a Replica: at the start, and at the end of each minute.
 * A write that fails is left to the next minute.
 */
export class ReplicaRecorder {
  /** The name of the Replica. */
  readonly name = newName();
  readonly #store: Store;
  readonly #log: Log;
  readonly #sources: ReplicaSources;
  readonly #now: () => number;
  readonly #startedAt: number;
  readonly #activity: Activity;
  readonly #hours: HourlyCounts;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(store: Store, log: Log, sources: ReplicaSources, now: () => number = Date.now) {
    this.#store = store;
    this.#log = log;
    this.#sources = sources;
    this.#now = now;
    this.#startedAt = now();
    this.#activity = new Activity(() => sumsOf(sources.totals()), this.#startedAt);
    this.#hours = new HourlyCounts(sources.totals, this.#startedAt);
  }

  /** Writes the record, and again at the end of each minute; resolves after the first write. */
  start(): Promise<void> {
    this.#writing = this.write();
    this.#schedule();
    return this.#writing;
  }

  /** Writes the record again now, after a write that has begun. */
  refresh(): void {
    if (!this.#isStopped) this.#writing = this.#writing.then(() => this.write());
  }

  /** Stops: deletes the record, and adds what was counted since the last one. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#writing;
    this.#hours.collect(this.#now());
    await this.#store
      .change(this.#store.systemCall(), async (tx) => {
        await this.#hours.addTo(tx);
        await tx.delete(Replica, this.name);
      })
      .catch((error: unknown) => {
        // The record expires.
        this.#log.warn({ err: error }, 'the counts of the last minute are lost');
      });
  }

  /** Writes the record once, and adds to the counts of the hour in the same commit. */
  async write(): Promise<void> {
    try {
      const status = await this.#status();
      this.#hours.collect(this.#now());
      await this.#store.change(this.#store.systemCall(), async (tx) => {
        await this.#hours.addTo(tx);
        if (await tx.get(Replica, this.name)) {
          await tx.update(Replica, this.name, (next) => {
            next.status = status;
          });
        } else {
          await tx.create(Replica, { metadata: { name: this.name }, spec: {}, status });
        }
      });
    } catch (error) {
      this.#log.warn({ err: error }, 'the state of this replica could not be recorded');
    }
  }

  #schedule(): void {
    this.#timer = setTimeout(
      () => {
        this.refresh();
        if (!this.#isStopped) this.#schedule();
      },
      minuteMs - (this.#now() % minuteMs),
    );
    this.#timer.unref();
  }

  async #status(): Promise<ReplicaStatus> {
    const { settings, state } = this.#sources;
    const now = this.#now();
    return {
      ...(await state()),
      startTimestamp: toTimestamp(this.#startedAt),
      renewTimestamp: toTimestamp(now),
      activity: this.#activity.until(now),
      settings: settings(),
    };
  }
}
