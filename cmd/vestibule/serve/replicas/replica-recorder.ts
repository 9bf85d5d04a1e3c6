import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { Replica, type ReplicaStatus } from '../../../../kinds/replica.js';
import type { Log } from '../../../../observability/log.js';
import { toTimestamp } from '../../../../registry/schema/timestamp.js';
import { minuteMs } from '../../../../registry/schema/units.js';
import type { Store } from '../../../../registry/store/store.js';
import { Activity, type Totals } from './activity.js';

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
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(store: Store, log: Log, sources: ReplicaSources, now: () => number = Date.now) {
    this.#store = store;
    this.#log = log;
    this.#sources = sources;
    this.#now = now;
    this.#startedAt = now();
    this.#activity = new Activity(sources.totals, this.#startedAt);
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

  /** Stops, and deletes the record. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#writing;
    await this.#store
      .change(this.#store.systemCall(), (tx) => tx.delete(Replica, this.name))
      .catch(() => {
        /* The record expires. */
      });
  }

  /** Writes the record once. */
  async write(): Promise<void> {
    try {
      const status = await this.#status();
      await this.#store.change(this.#store.systemCall(), async (tx) => {
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
        this.#writing = this.write();
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
