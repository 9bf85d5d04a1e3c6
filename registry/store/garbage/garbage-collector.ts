import type { Log } from '../../../observability/log.js';
import type { AnyKind, KindObject, OwnerReference, Transaction } from '../../kind.js';
import { namespacedName } from '../../schema/namespaced-name.js';
import { LeasedQueue } from '../leased-queue.js';
import { finalizersOf, foregroundDeletion, orphan } from '../lifecycle/finalizers.js';
import type { Store } from '../store.js';
import { TransformedInformer } from '../transformed-informer.js';
import {
  DependencyGraph,
  type GraphNode,
  keyOf,
  referencesOf,
  stateOf,
} from './dependency-graph.js';

/** What an owner is for an object that names it. */
type OwnerState = 'Present' | 'Absent' | 'Foreground';

const retryMs = 1_000;

/** An owner that this server serves: its kind, and its name as `namespacedName` has it. */
interface Owner {
  readonly kind: AnyKind;
  readonly name: string;
}

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
      const { uid, blockOwnerDeletion: isBlocking = false } = reference;
      const owner = this.#ownerOf(object, reference);
      return owner ? [{ key: keyOf(owner.kind, owner.name), uid, isBlocking }] : [];
    });
    const { metadata } = object;
    const key = keyOf(kind, namespacedName(metadata));
    return { key, uid: metadata.uid, state: stateOf(object), owners };
  }

  #note(before: GraphNode | undefined, after: GraphNode | undefined): void {
    const concerned = this.#graph.update(before, after);
    if (!this.#isStarted) return;
    for (const key of concerned) {
      if (this.#graph.isDue(key)) this.#queue.add(key);
      else this.#queue.forget(key);
    }
  }

  /**
   * Returns what an object names as its owner, in any version: a namespaced one in its own namespace.
   * Undefined if another server has it, and for a namespaced owner of an object in no namespace.
   */
  #ownerOf(
    { metadata: { namespace } }: KindObject,
    { apiVersion, kind: named, name }: OwnerReference,
  ): Owner | undefined {
    const [group] = apiVersion.split('/');
    const kind = this.#store.registry.kinds.find(
      (one) => one.kind === named && one.group === group,
    );
    if (kind?.scope !== 'Namespaced') return kind && { kind, name };
    return namespace === undefined
      ? undefined
      : { kind, name: namespacedName({ namespace, name }) };
  }

  /** Returns the kind and the name of the object that a key names. */
  #parseKey(key: string): Owner {
    const [storageName = ''] = key.split('/', 1);
    const kind = this.#store.registry.kinds.find((one) => one.storageName === storageName)!;
    return { kind, name: key.slice(storageName.length + 1) };
  }

  async #collect(key: string): Promise<number | void> {
    if (!this.#graph.isDue(key)) return;
    const { kind, name } = this.#parseKey(key);
    const object = await this.#store.reader(kind).get(name);
    if (!object) return;
    const { uid } = object.metadata;
    const state = stateOf(object);
    if (state === 'Foreground' && this.#graph.isBlocked({ key, uid })) return;
    if (state === 'Orphan') await this.#releaseDependents({ key, uid });
    return this.#store.systemCall().change(async (tx) => {
      const current = await tx.get(kind, name);
      if (current?.metadata.uid !== uid) return;
      if (state === 'Live') return this.#deleteUnowned(tx, kind, current);
      if (stateOf(current) === state) return this.#finish(tx, kind, current);
    });
  }

  /** Deletes an object whose owners are all gone, or removes the references to those that are. */
  async #deleteUnowned(tx: Transaction, kind: AnyKind, object: KindObject): Promise<void> {
    const { uid, deletionTimestamp } = object.metadata;
    if (deletionTimestamp !== undefined) return;
    const name = namespacedName(object.metadata);
    const references = referencesOf(kind, object);
    const states: OwnerState[] = [];
    for (const reference of references) {
      states.push(await this.#ownerState(tx, object, reference));
    }
    const present = references.filter((_, i) => states[i] === 'Present');
    if (present.length === references.length) return;
    if (present.length > 0) {
      await tx.update(kind, name, ({ metadata }) => {
        metadata.ownerReferences = present;
      });
      return;
    }
    const own = { key: keyOf(kind, name), uid };
    const dependents = states.includes('Foreground') ? this.#graph.dependentsOf(own) : [];
    // Two that own each other would wait for each other.
    if (dependents.some(({ state }) => state === 'Foreground')) {
      await tx.update(kind, name, ({ metadata }) => {
        metadata.ownerReferences = references.map((one) => ({ ...one, blockOwnerDeletion: false }));
      });
    }
    await tx.delete(kind, name, dependents.length > 0 ? 'Foreground' : undefined);
  }

  async #ownerState(
    tx: Transaction,
    object: KindObject,
    reference: OwnerReference,
  ): Promise<OwnerState> {
    const named = this.#ownerOf(object, reference);
    if (!named) return 'Present';
    const owner = await tx.get(named.kind, named.name);
    if (owner?.metadata.uid !== reference.uid) return 'Absent';
    return stateOf(owner) === 'Foreground' ? 'Foreground' : 'Present';
  }

  /** Removes the references to an owner from its dependents. */
  async #releaseDependents(owner: { key: string; uid: string }): Promise<void> {
    const { uid } = owner;
    for (const { key } of this.#graph.dependentsOf(owner)) {
      const { kind, name } = this.#parseKey(key);
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
    const { metadata } = owner;
    const name = namespacedName(metadata);
    const key = keyOf(kind, name);
    const finalizer = stateOf(owner) === 'Orphan' ? orphan : foregroundDeletion;
    const isAwaited = (object: KindObject, one: OwnerReference): boolean => {
      const named = one.uid === metadata.uid ? this.#ownerOf(object, one) : undefined;
      if (!named || keyOf(named.kind, named.name) !== key) return false;
      return finalizer === orphan || one.blockOwnerDeletion === true;
    };
    for (const dependents of this.#store.registry.kinds) {
      const awaited = await tx.list(
        dependents,
        (object) => referencesOf(dependents, object).some((one) => isAwaited(object, one)),
        dependents.scope === 'Namespaced' ? metadata.namespace : undefined,
      );
      if (awaited.length > 0) return Date.now() + retryMs;
    }
    await tx.update(kind, name, (next) => {
      next.metadata.finalizers = finalizersOf(next).filter((one) => one !== finalizer);
    });
  }
}
