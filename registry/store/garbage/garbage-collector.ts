import type { Log } from '../../../observability/log.js';
import type { AnyKind, KindObject, OwnerReference, Transaction } from '../../kind.js';
import { LeasedQueue } from '../leased-queue.js';
import { finalizersOf, foregroundDeletion, orphan } from '../lifecycle/finalizers.js';
import type { Store } from '../store.js';
import { TransformedInformer } from '../transformed-informer.js';
import { DependencyGraph, type GraphNode, referencesOf, stateOf } from './dependency-graph.js';

/** What an owner is for an object that names it. */
type OwnerState = 'Present' | 'Absent' | 'Foreground';

const retryMs = 1_000;

const keyOf = ({ resource }: AnyKind, name: string): string => `${resource}/${name}`;

/**
 * Deletes objects whose owners are all gone, and ends deletions in the foreground and of orphans, as
 * Kubernetes' garbage collector does. Of all replicas one at a time works. Each commit checks what it
 * relies on (docs/design/kubernetes.md#garbage-collection).
 */
export class GarbageCollector {
  readonly #store: Store;
  readonly #graph = new DependencyGraph();
  readonly #queue: LeasedQueue;
  readonly #informers: readonly TransformedInformer<AnyKind, GraphNode>[];
  #isStarted = false;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#queue = new LeasedQueue({
      store,
      name: 'garbage-collector',
      log,
      work: (key) => this.#collect(key),
    });
    this.#informers = store.registry.kinds.map(
      (kind) =>
        new TransformedInformer(
          store,
          kind,
          (object: KindObject) => this.#nodeOf(kind, object),
          (before, after) => this.#note(before, after),
        ),
    );
  }

  /** Follows all kinds; call it after the watch cache has started. */
  async start(): Promise<void> {
    for (const informer of this.#informers) await informer.start();
    this.#isStarted = true;
    for (const { key } of this.#graph.nodes) if (this.#graph.isDue(key)) this.#queue.add(key);
  }

  /** Stops following, and waits for the object that is being worked on. */
  async stop(): Promise<void> {
    for (const informer of this.#informers) informer.stop();
    await this.#queue.stop();
  }

  #nodeOf(kind: AnyKind, object: KindObject): GraphNode {
    const owners = referencesOf(kind, object).flatMap((reference) => {
      const { name, uid, blockOwnerDeletion: isBlocking = false } = reference;
      const owner = this.#kindOf(reference);
      return owner ? [{ key: keyOf(owner, name), uid, isBlocking }] : [];
    });
    const { name, uid } = object.metadata;
    return { key: keyOf(kind, name), uid, state: stateOf(object), owners };
  }

  #note(before: GraphNode | undefined, after: GraphNode | undefined): void {
    const concerned = this.#graph.update(before, after);
    if (!this.#isStarted) return;
    for (const key of concerned) {
      if (this.#graph.isDue(key)) this.#queue.add(key);
      else this.#queue.forget(key);
    }
  }

  /** Returns the kind of an owner in any version; undefined if another server has it. */
  #kindOf({ apiVersion, kind }: OwnerReference): AnyKind | undefined {
    const { group, kinds } = this.#store.registry;
    return apiVersion.split('/')[0] === group ? kinds.find((one) => one.kind === kind) : undefined;
  }

  async #collect(key: string): Promise<number | void> {
    if (!this.#graph.isDue(key)) return;
    const [resource = '', name = ''] = key.split('/');
    const kind = this.#store.registry.kindOf(resource);
    const object = kind && (await this.#store.reader(kind).get(name));
    if (!kind || !object) return;
    const { uid } = object.metadata;
    const state = stateOf(object);
    if (state === 'Foreground' && this.#graph.isBlocked(uid)) return;
    if (state === 'Orphan') await this.#releaseDependents(uid);
    return this.#store.systemCall().change(async (tx) => {
      const current = await tx.get(kind, name);
      if (current?.metadata.uid !== uid) return;
      if (state === 'Live') return this.#deleteUnowned(tx, kind, current);
      if (stateOf(current) === state) return this.#finish(tx, kind, current);
    });
  }

  /** Deletes an object whose owners are all gone, or removes the references to those that are. */
  async #deleteUnowned(tx: Transaction, kind: AnyKind, object: KindObject): Promise<void> {
    const { name, uid, deletionTimestamp } = object.metadata;
    if (deletionTimestamp !== undefined) return;
    const references = referencesOf(kind, object);
    const states: OwnerState[] = [];
    for (const reference of references) states.push(await this.#ownerState(tx, reference));
    const present = references.filter((_, i) => states[i] === 'Present');
    if (present.length === references.length) return;
    if (present.length > 0) {
      await tx.update(kind, name, ({ metadata }) => {
        metadata.ownerReferences = present;
      });
      return;
    }
    const dependents = states.includes('Foreground') ? this.#graph.dependentsOf(uid) : [];
    // Two that own each other would wait for each other.
    if (dependents.some(({ state }) => state === 'Foreground')) {
      await tx.update(kind, name, ({ metadata }) => {
        metadata.ownerReferences = references.map((one) => ({ ...one, blockOwnerDeletion: false }));
      });
    }
    await tx.delete(kind, name, dependents.length > 0 ? 'Foreground' : undefined);
  }

  async #ownerState(tx: Transaction, reference: OwnerReference): Promise<OwnerState> {
    const kind = this.#kindOf(reference);
    if (!kind) return 'Present';
    const owner = await tx.get(kind, reference.name);
    if (owner?.metadata.uid !== reference.uid) return 'Absent';
    return stateOf(owner) === 'Foreground' ? 'Foreground' : 'Present';
  }

  /** Removes the references to an owner from its dependents. */
  async #releaseDependents(uid: string): Promise<void> {
    for (const { key } of this.#graph.dependentsOf(uid)) {
      const [resource = '', name = ''] = key.split('/');
      const kind = this.#store.registry.kindOf(resource)!;
      await this.#store.systemCall().change(async (tx) => {
        if (!(await tx.get(kind, name))) return;
        await tx.update(kind, name, ({ metadata }) => {
          const left = metadata.ownerReferences?.filter((one) => one.uid !== uid) ?? [];
          if (left.length > 0) metadata.ownerReferences = left;
          else delete metadata.ownerReferences;
        });
      });
    }
  }

  /** Removes the finalizer of an owner that has no dependents to wait for. */
  async #finish(tx: Transaction, kind: AnyKind, owner: KindObject): Promise<number | void> {
    const { name, uid } = owner.metadata;
    const finalizer = stateOf(owner) === 'Orphan' ? orphan : foregroundDeletion;
    const isAwaited = (one: OwnerReference): boolean =>
      one.uid === uid && (finalizer === orphan || one.blockOwnerDeletion === true);
    for (const dependents of this.#store.registry.kinds) {
      const awaited = await tx.list(dependents, (object) =>
        referencesOf(dependents, object).some(isAwaited),
      );
      if (awaited.length > 0) return Date.now() + retryMs;
    }
    await tx.update(kind, name, (next) => {
      next.metadata.finalizers = finalizersOf(next).filter((one) => one !== finalizer);
    });
  }
}
