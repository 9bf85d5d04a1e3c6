import { randomUUID } from 'node:crypto';
import type { Log } from '../../observability/log.js';
import type { Revision } from '../../storage/storage.js';
import { isLive } from '../encoded-object.js';
import type { AnyKind, Call, ObjectOf, Transaction } from '../kind.js';
import { minuteMs } from '../schema/units.js';
import { Informer } from './informer.js';
import type { Store } from './store.js';

/** What a controller follows, and what it does for one object. */
export interface Reconciler<K extends AnyKind> {
  /** Names its lease: of all replicas, one at a time works under it. */
  readonly name: string;
  /** A small kind: the objects that are due stay in memory. */
  readonly kind: K;
  /** Whether an object may ask for something; by default each may. */
  isDue?(object: ObjectOf<K>): boolean;
  /**
   * Brings an object to what it asks for, in a transaction that may run again. Returns when to come
   * again (ms since the epoch), or nothing. After an error it comes again in a second at first, and in
   * five minutes at last.
   */
  reconcile(tx: Transaction, object: ObjectOf<K>, call: Call): Promise<number | void>;
}

const leaseMs = 15_000;
const retryMs = { first: 1_000, last: 5 * minuteMs };

/**
 * Follows a kind and reconciles each object that is due, after the start and after each change
 * (docs/contributing/recipes.md#a-controller). What it does outside the store belongs into an outbox row.
 */
export class Controller<K extends AnyKind> {
  readonly #store: Store;
  readonly #reconciler: Reconciler<K>;
  readonly #log: Log;
  readonly #informer: Informer<K>;
  readonly #leaseKey: string;
  readonly #owner = randomUUID();
  readonly #objects = new Map<string, ObjectOf<K>>();
  readonly #dueAt = new Map<string, number>();
  readonly #failureCounts = new Map<string, number>();
  /** The lease while this replica has it: until when, and the commit that says so. */
  #lease: { readonly until: number; readonly revision: Revision } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #wakesAt = Infinity;
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(store: Store, reconciler: Reconciler<K>, log: Log) {
    this.#store = store;
    this.#reconciler = reconciler;
    this.#log = log;
    this.#leaseKey = `meta/controllers/${reconciler.name}`;
    this.#informer = new Informer(store, reconciler.kind, (before, after) =>
      this.#note((after ?? before)!.metadata.name, after),
    );
  }

  /** Follows the kind; call it after the watch cache has started. */
  start(): Promise<void> {
    return this.#informer.start();
  }

  /** Stops following, and waits for the object that is being reconciled. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#informer.stop();
    await this.#running;
  }

  /** Reconciles objects again although they did not change: those that `isConcerned`, by default all. */
  check(isConcerned: (object: ObjectOf<K>) => boolean = () => true): void {
    for (const [name, object] of this.#objects) if (isConcerned(object)) this.#setDue(name);
  }

  #note(name: string, after: ObjectOf<K> | undefined): void {
    this.#failureCounts.delete(name);
    if (after && this.#isDue(after)) {
      this.#objects.set(name, after);
      this.#setDue(name);
    } else {
      this.#objects.delete(name);
      this.#dueAt.delete(name);
    }
  }

  #setDue(name: string): void {
    this.#dueAt.set(name, Date.now());
    this.#wakeAt(Date.now());
  }

  #isDue(object: ObjectOf<K>): boolean {
    return this.#reconciler.isDue?.(object) ?? true;
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
    for (const [name, at] of this.#dueAt) {
      if (this.#isStopped) break;
      if (at > Date.now()) continue;
      if (!(await this.#holdLease())) return this.#postpone();
      await this.#reconcile(name);
    }
    await this.#releaseLease();
  }

  /** Leaves what is due for a second: another replica works, or the store takes no writes. */
  #postpone(error?: unknown): void {
    if (error) {
      this.#log.warn({ err: error, controller: this.#reconciler.name }, 'a controller waits');
    }
    const later = Date.now() + retryMs.first;
    for (const [name, at] of this.#dueAt) if (at < later) this.#dueAt.set(name, later);
  }

  async #reconcile(name: string): Promise<void> {
    const reconciler = this.#reconciler;
    this.#dueAt.delete(name);
    try {
      const call = this.#store.systemCall();
      const again = await call.change(async (tx) => {
        const object = await tx.get(reconciler.kind, name);
        if (object && this.#isDue(object)) return reconciler.reconcile(tx, object, call);
      });
      this.#failureCounts.delete(name);
      if (again) this.#comeAgain(name, again);
    } catch (error) {
      const count = this.#failureCounts.get(name) ?? 0;
      this.#failureCounts.set(name, count + 1);
      this.#comeAgain(name, Date.now() + Math.min(retryMs.first * 2 ** count, retryMs.last));
      this.#log.warn(
        { err: error, controller: reconciler.name, object: name },
        'an object could not be reconciled',
      );
    }
  }

  /** Comes again to an object that was not found due while it was reconciled. */
  #comeAgain(name: string, at: number): void {
    if (!this.#dueAt.has(name)) this.#dueAt.set(name, at);
  }

  /** Takes the lease or renews it; returns false while another replica has it. */
  async #holdLease(): Promise<boolean> {
    const now = Date.now();
    if (this.#lease && this.#lease.until - now > leaseMs / 2) return true;
    const key = this.#leaseKey;
    const { entry } = await this.#store.storage.get(key);
    if (isLive(entry, now) && entry.value.toString() !== this.#owner) return false;
    const until = now + leaseMs;
    const outcome = await this.#store.commit([
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
      await this.#store.commit([
        { checks: [{ key, is: lease.revision }], writes: [{ delete: key }] },
      ]);
    }
  }
}
