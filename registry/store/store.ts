import type { Keys } from '../../security/keyring.js';
import {
  type Committed,
  type Entry,
  type Lost,
  type Revision,
  type Storage,
  startAfter,
} from '../../storage/storage.js';
import type { Authorizer } from '../authorizer.js';
import { type CallFacts, decisionsOf, systemRequest } from '../call-facts.js';
import {
  type EncodedObject,
  encodedObjectOf,
  isLive,
  objectKey,
  objectsRange,
  uniqueKey,
} from '../encoded-object.js';
import type {
  AnyKind,
  Awaitable,
  Call,
  Draft,
  ObjectOf,
  Ports,
  Reader,
  Settings,
  StagedWrites,
  Transaction,
} from '../kind.js';
import { NetworkLimits } from '../limits/network-limits.js';
import { throwStatusError, toStatusError } from '../status/storage-errors.js';
import type { WatchCache } from '../watchcache/watch-cache.js';
import { authorizedWork } from './authorized-work.js';
import { ChangeLoop, type ChangeResult, type PendingChange } from './change-loop.js';
import { type CommitListener, StoreCommitter } from './committer.js';
import { OptimisticCache } from './optimistic-cache.js';
import type { Registry } from './registry.js';
import { Indexes } from './replicas/indexes.js';
import { StoreTransaction } from './transaction.js';
import { upsert } from './upsert.js';

/** The dependencies of a Store. */
interface StoreDependencies {
  readonly storage: Storage;
  readonly registry: Registry;
  readonly watchCache: WatchCache;
  readonly keys: Keys;
  readonly settings: Settings;
  /** Throws unless the caller has still the rights that the call was authorized with, by what it reads. */
  readonly assertRights?: (tx: Transaction, call: Call) => Promise<void>;
}

/** What calls of a Store ask. They need the store themselves, so they are connected to it later. */
interface StoreConnections {
  readonly authorizer: Authorizer;
  /** The ports of this service's own calls. */
  readonly ports: () => Ports;
}

/** The generic store of all kinds: reads objects, and changes them by the one loop. */
export class Store {
  readonly storage: Storage;
  readonly registry: Registry;
  readonly watchCache: WatchCache;
  readonly #dependencies: StoreDependencies;
  #connections: StoreConnections | undefined;
  /** The settings of the deployment. */
  readonly settings: Settings;
  /** Rate limits by client network, shared by all replicas. */
  readonly networkLimits: NetworkLimits;
  /** Present if reads go to another process (etcd). */
  readonly #optimisticCache: OptimisticCache | undefined;
  readonly #committer: StoreCommitter;
  readonly #changes: ChangeLoop;
  readonly indexes: Indexes;

  constructor(dependencies: StoreDependencies) {
    const { storage, registry, watchCache, settings } = dependencies;
    this.storage = storage;
    this.registry = registry;
    this.watchCache = watchCache;
    this.#dependencies = dependencies;
    this.settings = settings;
    this.networkLimits = new NetworkLimits(storage, settings.limitFactor, settings.limits);
    const optimisticCache = storage.readsInProcess ? undefined : new OptimisticCache();
    this.#optimisticCache = optimisticCache;
    this.indexes = new Indexes(storage, registry.kinds);
    this.#committer = new StoreCommitter(storage, watchCache, optimisticCache);
    this.#changes = new ChangeLoop({
      storage,
      registry,
      committer: this.#committer,
      stored: (kind, name) => this.stored(kind, name),
      cachedEntry: optimisticCache && ((key) => this.#cachedEntry(key)),
    });
    if (optimisticCache) watchCache.onChange((change) => optimisticCache.recordChange(change));
  }

  /** Connects what calls ask; to be done before the first call. */
  connect(connections: StoreConnections): void {
    this.#connections = connections;
  }

  get #connected(): StoreConnections {
    if (this.#connections) return this.#connections;
    throw new Error('this store is not connected yet');
  }

  /**
   * Returns the Call of one request; its first change starts from the target that was authorized.
   */
  call(facts: CallFacts): Call {
    const { keys, settings, assertRights } = this.#dependencies;
    let { target, decision } = facts;
    const { outcome } = facts;
    const call: Call = {
      now: Date.now(),
      caller: facts.caller,
      request: facts.request,
      dryRun: facts.dryRun ?? false,
      ports: facts.ports,
      settings,
      keys,
      ...(decision && { decision }),
      ...decisionsOf(facts, this.#connected.authorizer),
      warn: (message) => facts.warn?.(message),
      store: (kind) => this.reader(kind),
      spend: (limit) => this.networkLimits.spend(limit, facts.request.network, call.now),
      refund: (limit) => this.networkLimits.refund(limit, facts.request.network, call.now),
      giveBack: (limit, spentAt) =>
        this.networkLimits.giveBack(limit, facts.request.network, call.now, spentAt),
      usedShare: (limit) => this.networkLimits.ratio(limit, call.now),
      change: async (work) => {
        const change = {
          call,
          work: authorizedWork(work, outcome, assertRights && ((tx) => assertRights(tx, call))),
          target,
          decision,
        };
        target = undefined;
        const { is, result } = await this.#counted(change);
        if (is === 'Committed') decision = undefined;
        return result;
      },
    };
    return call;
  }

  /** Returns a Call of the service itself. */
  systemCall({ dryRun = false } = {}): Call {
    return this.call({
      dryRun,
      caller: { type: 'System' },
      request: systemRequest,
      ports: this.#connected.ports(),
    });
  }

  /** Returns the latest version of an object, not decoded. */
  stored(kind: AnyKind, name: string): Promise<EncodedObject | undefined> {
    return this.storage
      .get(objectKey(kind, name))
      .then(
        ({ entry }) => (isLive(entry, Date.now()) ? encodedObjectOf(kind, entry) : undefined),
        throwStatusError,
      );
  }

  /** Returns an object from the watch cache if that is fresh, else from the store. */
  cached(kind: AnyKind, name: string): Awaitable<EncodedObject | undefined> {
    const key = objectKey(kind, name);
    const cached = this.watchCache.peek(key);
    return cached
      ? ifLive(cached.stored)
      : this.watchCache.cached(kind, key).then(ifLive, throwStatusError);
  }

  /** Returns an object from the watch cache synchronously; undefined if it is absent or stale. */
  peekCached(kind: AnyKind, name: string): EncodedObject | undefined {
    return ifLive(this.watchCache.peek(objectKey(kind, name))?.stored);
  }

  /** Returns the last known version of an object, for a change to start from. */
  lastKnown(kind: AnyKind, name: string): EncodedObject | undefined {
    const entry = this.#cachedEntry(objectKey(kind, name));
    return isLive(entry, Date.now()) ? encodedObjectOf(kind, entry) : undefined;
  }

  #cachedEntry(key: string): Entry | undefined {
    return (
      this.#optimisticCache &&
      (this.#optimisticCache.get(key) ?? this.watchCache.peek(key)?.stored?.entry)
    );
  }

  /** Returns reads of one kind, without authorization. */
  reader<K extends AnyKind>(kind: K): Reader<ObjectOf<K>> {
    type O = ObjectOf<K>;
    return {
      get: async (name) => (await this.stored(kind, name))?.object as O | undefined,
      cached: (name) => {
        const stored = this.cached(kind, name);
        return stored instanceof Promise
          ? stored.then((found) => found?.object as O | undefined)
          : (stored?.object as O | undefined);
      },
      list: async (part) =>
        (await toStatusError(this.storage.list(objectsRange(kind, part)))).entries
          .filter((entry) => isLive(entry, Date.now()))
          .map((entry) => encodedObjectOf(kind, entry).object as O),
      byUnique: async (field, value) => {
        const { entry } = await toStatusError(this.storage.get(uniqueKey(kind, field, value)));
        return (
          entry && ((await this.stored(kind, entry.value.toString()))?.object as O | undefined)
        );
      },
    };
  }

  /**
   * Calls `onPage` with every page of a kind's stored objects. All pages are of one revision, which
   * it returns.
   */
  async eachPage(kind: AnyKind, onPage: (page: readonly Entry[]) => void): Promise<Revision> {
    const { start: first, end } = objectsRange(kind);
    let at: Revision | undefined;
    for (let start = first; ; ) {
      const page = await toStatusError(
        this.storage.list({ start, end }, { limit: 500, ...(at !== undefined && { at }) }),
      );
      at = page.revision;
      onPage(page.entries);
      if (page.more === 0) return at;
      start = startAfter(page.entries);
    }
  }

  /** Runs `work` and commits it. After a conflict it runs again, for ten seconds (503). */
  async change<T>(call: Call, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return (await this.#counted({ call, work })).result;
  }

  /** Makes a change, and counts it if a limit refuses it. */
  #counted<T>(change: PendingChange<T>): Promise<ChangeResult<T>> {
    return this.networkLimits.refusals.counted(this.#changes.run(change), change.call.now);
  }

  /**
   * Returns the writes that create, change or delete one object, for another component's commit.
   */
  async stage<K extends AnyKind>(
    kind: K,
    name: string,
    work: (old: ObjectOf<K> | undefined) => Draft<ObjectOf<K>> | 'delete' | 'leave',
  ): Promise<StagedWrites> {
    const tx = new StoreTransaction(this.registry, this.#changes.source(), this.systemCall());
    await upsert(tx, kind, name, work);
    return tx.finish().part;
  }

  /** Calls the listener after each commit of this process; it hears of no other replica's. */
  onCommit(listener: CommitListener): void {
    this.#committer.onCommit(listener);
  }

  /** Commits staged writes, and the record of the decision that permits them. */
  commit(parts: readonly StagedWrites[], record?: StagedWrites): Promise<Committed | Lost> {
    return this.#committer.commit(parts, record);
  }
}

const ifLive = (stored: EncodedObject | undefined): EncodedObject | undefined =>
  stored && isLive(stored.entry, Date.now()) ? stored : undefined;
