import type { Keys } from '../../security/keyring.js';
import {
  type Committed,
  type Entry,
  type Lost,
  type Page,
  type Range,
  type Revision,
  type Storage,
  startAfter,
} from '../../storage/storage.js';
import type { Authorizer } from '../authorizer.js';
import {
  type AuthorizedTarget,
  type CallFacts,
  decisionsOf,
  systemRequest,
} from '../call-facts.js';
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
  Decision,
  Draft,
  ObjectOf,
  Ports,
  Reader,
  Settings,
  StagedWrites,
  Transaction,
} from '../kind.js';
import { KeyedMutex } from '../limits/keyed-mutex.js';
import { NetworkLimits } from '../limits/network-limits.js';
import { unavailable } from '../status/status.js';
import { throwStatusError, toStatusError } from '../status/storage-errors.js';
import type { WatchCache } from '../watchcache/watch-cache.js';
import { authorizedWork, type Work } from './authorized-work.js';
import { StoreCommitter } from './committer.js';
import { OptimisticCache } from './optimistic-cache.js';
import type { Registry } from './registry.js';
import { StoreTransaction, type TransactionSource } from './transaction.js';
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

/** A change that was made: committed, or with nothing to write, as in a dry run. */
interface ChangeResult<T> {
  readonly is: 'Committed' | 'Unwritten';
  readonly result: T;
}

/**
 * The outcome of one try. It is lost if an object has changed since it was read: that of a key, or one
 * from a cache that no commit has proved.
 */
type TryResult<T> = ChangeResult<T> | { readonly is: 'Lost'; readonly key?: string };

const retryForMs = 10_000;

/** The generic store of all kinds: reads objects, and runs the only read-modify-write loop. */
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
  /** Serializes retries on the same key within this process. */
  readonly #retryMutex = new KeyedMutex();

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
    this.#committer = new StoreCommitter(storage, watchCache, optimisticCache);
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
        const authorized = target;
        target = undefined;
        const change = await this.networkLimits.refusals.counted(
          this.#change(
            call,
            authorizedWork(work, outcome, assertRights && ((tx) => assertRights(tx, call))),
            authorized,
            decision,
          ),
          call.now,
        );
        if (change.is === 'Committed') decision = undefined;
        return change.result;
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
    const change = this.#change(call, work, undefined, undefined);
    return (await this.networkLimits.refusals.counted(change, call.now)).result;
  }

  async #change<T>(
    call: Call,
    work: Work<T>,
    target: AuthorizedTarget | undefined,
    decision: Decision | undefined,
  ): Promise<ChangeResult<T>> {
    let outcome = this.#optimisticCache
      ? await this.#tryFromCache(call, work, target, decision)
      : await this.#tryCommit(call, work, this.#source(target?.stored), decision, true);
    const deadline = performance.now() + retryForMs;
    const retry = (): Promise<TryResult<T>> => {
      if (performance.now() > deadline) {
        throw unavailable('too many changes of the same objects at once');
      }
      return this.#tryOnCurrent(call, work, target, decision);
    };
    while (outcome.is === 'Lost') {
      outcome = await (outcome.key === undefined
        ? retry()
        : this.#retryMutex.run(outcome.key, retry));
    }
    return outcome;
  }

  /** A try on the current objects. The request is authorized again if its target has changed. */
  async #tryOnCurrent<T>(
    call: Call,
    work: Work<T>,
    target: AuthorizedTarget | undefined,
    decision: Decision | undefined,
  ): Promise<TryResult<T>> {
    if (!target) return this.#tryCommit(call, work, this.#source(), decision);
    const { kind, name, revision } = target.stored;
    const stored = await this.stored(kind, name);
    const isSame = stored?.revision === revision;
    return this.#tryCommit(
      call,
      work,
      this.#source(stored),
      isSame ? decision : await target.authorize(stored),
    );
  }

  #source(target?: EncodedObject): TransactionSource {
    return { get: this.#get, list: this.#list, known: target ? [target] : [] };
  }

  /**
   * The first try, from cached objects, without reads. It is lost unless the commit proves them, as
   * after work that failed or had nothing to write.
   */
  async #tryFromCache<T>(
    call: Call,
    work: Work<T>,
    target: AuthorizedTarget | undefined,
    decision: Decision | undefined,
  ): Promise<TryResult<T>> {
    let usedCache = target?.fromCache ?? false;
    const get = async (key: string): Promise<Entry | undefined> => {
      const cached = this.#cachedEntry(key);
      if (!cached) return this.#get(key);
      usedCache = true;
      return cached;
    };
    let hasWorkFailed = false;
    const trackedWork: Work<T> = (tx) =>
      work(tx).catch((error: unknown) => {
        hasWorkFailed = true;
        throw error;
      });
    try {
      const outcome = await this.#tryCommit(
        call,
        trackedWork,
        { get, list: this.#list, isCached: () => usedCache, known: target ? [target.stored] : [] },
        decision,
        true,
      );
      if (!usedCache || outcome.is !== 'Unwritten') return outcome;
    } catch (error) {
      if (!usedCache || !hasWorkFailed) throw error;
    }
    return { is: 'Lost' };
  }

  readonly #get = async (key: string): Promise<Entry | undefined> =>
    (await toStatusError(this.storage.get(key))).entry;

  readonly #list = (range: Range): Promise<Page> => toStatusError(this.storage.list(range));

  async #tryCommit<T>(
    call: Call,
    work: Work<T>,
    source: TransactionSource,
    decision: Decision | undefined,
    isFirst = false,
  ): Promise<TryResult<T>> {
    const tx = new StoreTransaction(this.registry, source, call);
    const result = await work(tx);
    const { part, written } = tx.finish();
    if (part.writes.length === 0 || call.dryRun) return { is: 'Unwritten', result };
    // A change that lost before goes first: otherwise who changes an object all the time keeps others out.
    const busy = isFirst && part.checks.find(({ key }) => this.#retryMutex.isBusy(key));
    if (busy) return { is: 'Lost', key: busy.key };
    const record = new StoreTransaction(this.registry, { ...source, known: [], first: tx }, call);
    await (tx.decision ?? decision)?.recordIn?.(record);
    const outcome = await this.commit(
      [tx.isChanged ? tx.finish().part : part],
      record.finish().part,
    );
    if (!outcome.committed) return { is: 'Lost', key: outcome.winners.keys().next().value ?? '' };
    for (const object of written) object.metadata.resourceVersion = String(outcome.revision);
    for (const effect of [...tx.effects, ...record.effects]) effect();
    return { is: 'Committed', result };
  }

  /**
   * Returns the writes that create, change or delete one object, for another component's commit.
   */
  async stage<K extends AnyKind>(
    kind: K,
    name: string,
    work: (old: ObjectOf<K> | undefined) => Draft<ObjectOf<K>> | 'delete' | 'leave',
  ): Promise<StagedWrites> {
    const tx = new StoreTransaction(this.registry, this.#source(), this.systemCall());
    await upsert(tx, kind, name, work);
    return tx.finish().part;
  }

  /** Commits staged writes, and the record of the decision that permits them. */
  commit(parts: readonly StagedWrites[], record?: StagedWrites): Promise<Committed | Lost> {
    return this.#committer.commit(parts, record);
  }
}

const ifLive = (stored: EncodedObject | undefined): EncodedObject | undefined =>
  stored && isLive(stored.entry, Date.now()) ? stored : undefined;
