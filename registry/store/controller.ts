import type { Log } from '../../observability/log.js';
import type { AnyKind, Call, ObjectOf, Transaction } from '../kind.js';
import { namespacedName } from '../schema/namespaced-name.js';
import { Informer } from './informer.js';
import { LeasedQueue } from './leased-queue.js';
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

/**
 * Follows a kind and reconciles each object that is due, after the start and after each change
 * (docs/contributing/recipes.md#a-controller). What it does outside the store belongs into an outbox row.
 */
export class Controller<K extends AnyKind> {
  readonly #store: Store;
  readonly #reconciler: Reconciler<K>;
  readonly #informer: Informer<K>;
  readonly #queue: LeasedQueue;
  readonly #objects = new Map<string, ObjectOf<K>>();

  constructor(store: Store, reconciler: Reconciler<K>, log: Log) {
    this.#store = store;
    this.#reconciler = reconciler;
    this.#queue = new LeasedQueue({
      store,
      name: reconciler.name,
      log,
      work: (name) => this.#reconcile(name),
    });
    this.#informer = new Informer(store, reconciler.kind, (before, after) =>
      this.#note(namespacedName((after ?? before)!.metadata), after),
    );
  }

  /** Follows the kind; call it after the watch cache has started. */
  start(): Promise<void> {
    return this.#informer.start();
  }

  /** Stops following, and waits for the object that is being reconciled. */
  async stop(): Promise<void> {
    this.#informer.stop();
    await this.#queue.stop();
  }

  /** Reconciles objects again although they did not change: those that `isConcerned`, by default all. */
  check(isConcerned: (object: ObjectOf<K>) => boolean = () => true): void {
    for (const [name, object] of this.#objects) if (isConcerned(object)) this.#queue.add(name);
  }

  #note(name: string, after: ObjectOf<K> | undefined): void {
    this.#queue.forget(name);
    if (after && this.#isDue(after)) {
      this.#objects.set(name, after);
      this.#queue.add(name);
    } else {
      this.#objects.delete(name);
    }
  }

  #isDue(object: ObjectOf<K>): boolean {
    return this.#reconciler.isDue?.(object) ?? true;
  }

  #reconcile(name: string): Promise<number | void> {
    const call = this.#store.systemCall();
    return call.change(async (tx) => {
      const object = await tx.get(this.#reconciler.kind, name);
      if (object && this.#isDue(object)) return this.#reconciler.reconcile(tx, object, call);
    });
  }
}
