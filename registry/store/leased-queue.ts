import { randomUUID } from 'node:crypto';
import type { Log } from '../../observability/log.js';
import type { Revision } from '../../storage/storage.js';
import { isLive } from '../encoded-object.js';
import { minuteMs } from '../schema/units.js';
import type { Store } from './store.js';

/** What a queue is for. */
interface QueueOptions {
  readonly store: Store;
  /** Names its lease: of all replicas, one at a time works under it. */
  readonly name: string;
  readonly log: Log;
  /**
   * Works on one key. Returns when to come again (ms since the epoch), or nothing. After an error the
   * key comes again in a second at first, and in five minutes at last.
   */
  work(key: string): Promise<number | void>;
}

const leaseMs = 15_000;
const retryMs = { first: 1_000, last: 5 * minuteMs };

/** The keys that are due, worked on one by one while this replica has the lease. */
export class LeasedQueue {
  readonly #options: QueueOptions;
  readonly #leaseKey: string;
  readonly #owner = randomUUID();
  readonly #dueAt = new Map<string, number>();
  readonly #failureCounts = new Map<string, number>();
  /** The lease while this replica has it: until when, and the commit that says so. */
  #lease: { readonly until: number; readonly revision: Revision } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #wakesAt = Infinity;
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#leaseKey = `meta/controllers/${options.name}`;
  }

  /** Makes a key due now. */
  add(key: string): void {
    this.#dueAt.set(key, Date.now());
    this.#wakeAt(Date.now());
  }

  /** Drops a key, and what went wrong with it. */
  forget(key: string): void {
    this.#failureCounts.delete(key);
    this.#dueAt.delete(key);
  }

  /** Ends the work, and waits for the key that is being worked on. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** Runs at a time (ms since the epoch), at most a minute ahead, if that is sooner than it was to run. */
  #wakeAt(at: number): void {
    if (this.#isStopped || this.#running || at >= this.#wakesAt) return;
    clearTimeout(this.#timer);
    this.#wakesAt = at;
    const run = (): void => {
      this.#wakesAt = Infinity;
      this.#running = this.#run()
        .catch((error: unknown) => this.#postpone(error))
        .finally(() => {
          this.#running = undefined;
          this.#wakeAt(
            [...this.#dueAt.values()].reduce((first, due) => Math.min(first, due), Infinity),
          );
        });
    };
    this.#timer = setTimeout(run, Math.min(Math.max(at - Date.now(), 0), minuteMs)).unref();
  }

  async #run(): Promise<void> {
    for (const [key, at] of this.#dueAt) {
      if (this.#isStopped) break;
      if (at > Date.now()) continue;
      if (!(await this.#holdLease())) return this.#postpone();
      await this.#work(key);
    }
    await this.#releaseLease();
  }

  /** Leaves what is due for a second: another replica works, or the store takes no writes. */
  #postpone(error?: unknown): void {
    const { log, name } = this.#options;
    if (error) log.warn({ err: error, controller: name }, 'a controller waits');
    const later = Date.now() + retryMs.first;
    for (const [key, at] of this.#dueAt) if (at < later) this.#dueAt.set(key, later);
  }

  async #work(key: string): Promise<void> {
    this.#dueAt.delete(key);
    try {
      const again = await this.#options.work(key);
      this.#failureCounts.delete(key);
      if (again) this.#comeAgain(key, again);
    } catch (error) {
      const count = this.#failureCounts.get(key) ?? 0;
      this.#failureCounts.set(key, count + 1);
      this.#comeAgain(key, Date.now() + Math.min(retryMs.first * 2 ** count, retryMs.last));
      this.#options.log.warn(
        { err: error, controller: this.#options.name, object: key },
        'an object could not be reconciled',
      );
    }
  }

  /** Comes again to a key that was not found due while it was worked on. */
  #comeAgain(key: string, at: number): void {
    if (!this.#dueAt.has(key)) this.#dueAt.set(key, at);
  }

  /** Takes the lease or renews it; returns false while another replica has it. */
  async #holdLease(): Promise<boolean> {
    const now = Date.now();
    if (this.#lease && this.#lease.until - now > leaseMs / 2) return true;
    const [{ store }, key] = [this.#options, this.#leaseKey];
    const { entry } = await store.storage.get(key);
    if (isLive(entry, now) && entry.value.toString() !== this.#owner) return false;
    const until = now + leaseMs;
    const outcome = await store.commit([
      {
        checks: [{ key, is: entry?.revision ?? 'absent' }],
        writes: [{ put: key, value: Buffer.from(this.#owner), expires: until }],
      },
    ]);
    this.#lease = outcome.committed ? { until, revision: outcome.revision } : undefined;
    return outcome.committed;
  }

  async #releaseLease(): Promise<void> {
    const [key, lease] = [this.#leaseKey, this.#lease];
    this.#lease = undefined;
    if (lease) {
      await this.#options.store.commit([
        { checks: [{ key, is: lease.revision }], writes: [{ delete: key }] },
      ]);
    }
  }
}
