import { getHeapStatistics } from 'node:v8';
import type { Log } from '../../observability/log.js';
import { GenerationCache } from '../../storage/generation-cache.js';
import {
  type Batch,
  type Change,
  CompactedError,
  type Revision,
  type Storage,
} from '../../storage/storage.js';
import { type EncodedObject, encodedObjectOf } from '../encoded-object.js';
import type { AnyKind } from '../kind.js';
import { sizeOf, WatchCacheEvent } from './event.js';
import { EventBuffer } from './event-buffer.js';

/** Receives the events of one resource; none of its methods may throw. */
interface Subscriber {
  event(event: WatchCacheEvent): void;
  /** Resolves when the subscriber can take more of a replay, which is delivered in parts. */
  ready?(): Promise<void>;
  /** Ends the subscription: the history is compacted, or the watch cache stops. */
  end?(why: 'Compacted' | 'Stopped'): void;
  /**
   * In place of an end where the history is compacted: changes may be missing; those from now on are
   * delivered.
   */
  gap?(): void;
}

/** A subscription to one resource. */
export interface Subscription {
  /** Returns the revision up to which everything was delivered. */
  position(): Revision;
  /** Returns whether that is all that the watch cache has, which has this replica's own commits. */
  isFresh(): boolean;
  /** Waits up to a second for this replica's own commits to arrive. */
  settle(): Promise<boolean>;
  leave(): void;
}

/** Who gets each event as it arrives, after `from`. */
interface LiveSubscriber {
  subscriber: Subscriber;
  from: Revision;
}
/** A subscriber with what it has got so far. */
interface Watcher {
  resource: string;
  subscriber: Subscriber;
  position: Revision;
  isLive: boolean;
  /** Aborts when the subscriber leaves. */
  signal: AbortSignal;
}
/** An object as it was at a revision; without one it was absent. */
interface Cached {
  stored: EncodedObject | undefined;
  revision: Revision;
}

/**
 * The bytes of each of the two generations of objects in memory: a 32nd of V8's heap, at most 32 MiB.
 * Decoded, an object takes about three times the bytes that are stored.
 */
const generationBytes = Math.min(32 << 20, Math.floor(getHeapStatistics().heap_size_limit / 32));
const decodedFactor = 3;
const maxLagMs = { reads: 2_000, readiness: 10_000 };
const ownCommitsMs = 1_000;

/**
 * One upstream watch for each replica; it feeds all watchers and caches
 * (docs/design/storage.md#watch-cache).
 */
export class WatchCache {
  readonly #storage: Storage;
  readonly #kinds: ReadonlyMap<string, AnyKind>;
  readonly #log: Log;
  readonly #stop = new AbortController();
  readonly #buffer = new EventBuffer();
  /** By resource. */
  readonly #live = new Map<string, Set<LiveSubscriber>>();
  readonly #cacheBytes: number;
  #cache: GenerationCache<Cached>;
  /** The revision of this replica's own commit by key, until its event arrives. */
  readonly #ownCommits = new Map<string, Revision>();
  /** The revision of the last of them by resource. */
  readonly #lastOwnCommits = new Map<string, Revision>();
  /** Reads of the store by key; stale once an event has come in between. */
  readonly #pendingReads = new Map<string, { isStale: boolean; readerCount: number }>();
  readonly #listeners: ((change: Change) => void)[] = [];
  #waiters: { revision: Revision; resolve: () => void }[] = [];
  #revision: Revision = 0;
  #receivedAt = -Infinity;
  #running: Promise<void> = Promise.resolve();

  /** `cacheBytes` is the size of a generation of its cache. */
  constructor(
    storage: Storage,
    kinds: readonly AnyKind[],
    log: Log,
    cacheBytes: number = generationBytes,
  ) {
    this.#cacheBytes = cacheBytes;
    this.#cache = new GenerationCache(cacheBytes);
    this.#storage = storage;
    this.#kinds = new Map(kinds.map((kind) => [kind.storageName, kind]));
    this.#log = log;
  }

  /** The revision up to which all changes were received. */
  get revision(): Revision {
    return this.#revision;
  }

  /** Staleness in milliseconds: everything written before was received (monotonic clock). */
  get lagMs(): number {
    return performance.now() - this.#receivedAt;
  }

  /** The number of live subscriptions, without those that still replay. */
  get watchers(): number {
    let count = 0;
    for (const set of this.#live.values()) count += set.size;
    return count;
  }

  /** Whether the store sent something recently enough for this replica to be ready. */
  get isReady(): boolean {
    return this.lagMs < maxLagMs.readiness;
  }

  /** Starts at the current revision of the store; resolves when caught up. */
  async start(): Promise<void> {
    await this.#restart();
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#endAll('Stopped');
    await this.#running;
  }

  /**
   * Delivers each change of the kind with the storage name `resource` after `from` once, in order, until
   * `leave`.
   */
  subscribe(resource: string, from: Revision, subscriber: Subscriber): Subscription {
    const leave = new AbortController();
    const watcher = { resource, subscriber, position: from, isLive: false, signal: leave.signal };
    const isLive = from >= this.#buffer.from && this.#join(watcher);
    if (!isLive) void this.#catchUp(watcher);
    const position = (): Revision =>
      watcher.isLive ? Math.max(watcher.position, this.#revision) : watcher.position;
    return {
      position,
      isFresh: () => this.isFresh(resource) && position() >= this.#revision,
      settle: () => this.waitUntil(this.lastCommitTo(resource), ownCommitsMs),
      leave: () => leave.abort('left'), // without a reason it makes an error with its stack
    };
  }

  /**
   * Resolves with true when everything up to `revision` was received, with false after
   * `timeoutMs`.
   */
  async waitUntil(revision: Revision, timeoutMs: number): Promise<boolean> {
    if (this.#revision >= revision) return true;
    return new Promise((resolve) => {
      const waiter = {
        revision,
        resolve: () => {
          clearTimeout(timer);
          resolve(true);
        },
      };
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((one) => one !== waiter);
        resolve(false);
      }, timeoutMs);
      this.#waiters.push(waiter);
    });
  }

  /** Returns the object under `key` from memory if the cache is fresh, else from the store. */
  async cached(kind: AnyKind, key: string): Promise<EncodedObject | undefined> {
    const cached = this.peek(key);
    return cached ? cached.stored : this.#read(kind, key);
  }

  /** Returns the object under `key` from memory, if it is there and the cache is fresh. */
  peek(key: string): { readonly stored: EncodedObject | undefined } | undefined {
    const cached = this.#cache.get(key);
    return cached && this.lagMs < maxLagMs.reads && this.#isKeyFresh(key) ? cached : undefined;
  }

  /**
   * Records a commit of this replica: these keys are not served from memory until its event
   * arrives.
   */
  recordCommit(keys: readonly string[], revision: Revision): void {
    if (revision <= this.#revision) return;
    for (const key of keys) {
      if (key.startsWith('objects/')) {
        this.#ownCommits.set(key, revision);
        this.#lastOwnCommits.set(key.split('/', 2)[1]!, revision);
      }
    }
  }

  /** Calls the listener with each future change of an object; it may not throw. */
  onChange(listener: (change: Change) => void): void {
    this.#listeners.push(listener);
  }

  /** Returns the revision of this replica's last commit to `resource` that was ahead of the watch, or 0. */
  lastCommitTo(resource: string): Revision {
    return this.#lastOwnCommits.get(resource) ?? 0;
  }

  /**
   * Reports whether `resource` can be served from memory: the watch is recent, and it has delivered
   * this replica's own commits.
   */
  isFresh(resource: string): boolean {
    return this.lagMs < maxLagMs.reads && this.lastCommitTo(resource) <= this.#revision;
  }

  #isKeyFresh(key: string): boolean {
    return (this.#ownCommits.get(key) ?? 0) <= this.#revision;
  }

  async #read(kind: AnyKind, key: string): Promise<EncodedObject | undefined> {
    const pending = this.#pendingReads.get(key) ?? { isStale: false, readerCount: 0 };
    pending.readerCount += 1;
    this.#pendingReads.set(key, pending);
    try {
      const { entry, revision } = await this.#storage.get(key);
      const stored = entry && encodedObjectOf(kind, entry);
      if (!pending.isStale && this.#isKeyFresh(key)) this.#setCached(key, { stored, revision });
      return stored;
    } finally {
      pending.readerCount -= 1;
      if (pending.readerCount === 0) this.#pendingReads.delete(key);
    }
  }

  #setCached(key: string, cached: Cached): void {
    this.#cache.set(key, cached, decodedFactor * sizeOf(cached.stored));
  }

  async #restart(): Promise<void> {
    const requestedAt = performance.now();
    const { revision } = await this.#storage.get('meta/hub');
    this.#cache = new GenerationCache(this.#cacheBytes);
    this.#buffer.restart(revision);
    this.#revision = revision;
    this.#receivedAt = requestedAt;
  }

  async #run(): Promise<void> {
    const signal = this.#stop.signal;
    for (let backoffMs = 50; !signal.aborted; backoffMs = Math.min(backoffMs * 2, 2_000)) {
      try {
        for await (const batch of this.#storage.watch('objects/', this.#revision, signal)) {
          backoffMs = 50;
          this.#applyBatch(batch);
        }
      } catch (error) {
        this.#log.warn({ err: error }, 'the watch on the store was interrupted');
        if (error instanceof CompactedError) await this.#resync();
      }
      if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, backoffMs));
    }
  }

  async #resync(): Promise<void> {
    this.#endAll('Compacted');
    try {
      await this.#restart();
    } catch (error) {
      return this.#log.warn({ err: error }, 'could not read the current storage revision');
    }
    for (const { subscriber } of [...this.#live.values()].flatMap((set) => [...set])) {
      subscriber.gap?.();
    }
  }

  #applyBatch({ revision, changes, asOf = performance.now() }: Batch): void {
    for (const change of changes) this.#applyChange(change, revision);
    this.#revision = Math.max(this.#revision, revision);
    this.#receivedAt = Math.max(this.#receivedAt, asOf);
    for (const [key, committed] of this.#ownCommits) {
      if (committed <= this.#revision) this.#ownCommits.delete(key);
    }
    const reached = this.#waiters.filter((waiter) => waiter.revision <= this.#revision);
    if (reached.length > 0) {
      this.#waiters = this.#waiters.filter((waiter) => waiter.revision > this.#revision);
    }
    for (const one of reached) one.resolve();
  }

  #applyChange(change: Change, revision: Revision): void {
    const resource = change.key.split('/')[1]!;
    const kind = this.#kinds.get(resource);
    if (!kind) return;
    for (const listener of this.#listeners) listener(change);
    const event = new WatchCacheEvent(kind, change, revision);
    const pending = this.#pendingReads.get(change.key);
    if (pending) pending.isStale = true;
    const cached = this.#cache.get(change.key);
    if (cached && cached.revision < revision) {
      this.#setCached(change.key, { stored: event.after, revision });
    }
    this.#buffer.add(resource, event);
    for (const { subscriber, from } of this.#live.get(resource) ?? []) {
      if (revision > from) subscriber.event(event);
    }
  }

  /** Replays buffered events. Returns true once the watcher has caught up and is live. */
  #join(watcher: Watcher): boolean {
    const { resource, subscriber, signal } = watcher;
    const { events, more } = this.#buffer.eventsSince(resource, watcher.position);
    for (const event of events) subscriber.event(event);
    watcher.position = events.at(-1)?.revision ?? watcher.position;
    if (more) return false;
    const live: LiveSubscriber = { subscriber, from: Math.max(watcher.position, this.#revision) };
    const subscribers = this.#live.get(resource) ?? new Set();
    this.#live.set(resource, subscribers.add(live));
    signal.addEventListener('abort', () => subscribers.delete(live), { once: true });
    watcher.isLive = true;
    return true;
  }

  /**
   * Replays the history of the store until the event buffer covers the watcher, then the buffer, no
   * faster than the watcher takes it.
   */
  async #catchUp(watcher: Watcher): Promise<void> {
    const { subscriber, signal } = watcher;
    const ended = AbortSignal.any([signal, this.#stop.signal]);
    try {
      for (let hasMore = true; hasMore && !ended.aborted; ) {
        await subscriber.ready?.();
        if (ended.aborted) break;
        if (watcher.position < this.#buffer.from) {
          hasMore = await this.#replay(watcher, ended);
        } else if (this.#join(watcher)) {
          return;
        }
      }
      if (!signal.aborted) subscriber.end?.('Stopped');
    } catch (error) {
      if (!signal.aborted) {
        subscriber.end?.(error instanceof CompactedError ? 'Compacted' : 'Stopped');
      }
    }
  }

  /** Replays the store's history before the event buffer; false if the store ends it early. */
  async #replay(watcher: Watcher, ended: AbortSignal): Promise<boolean> {
    const { resource, subscriber } = watcher;
    const kind = this.#kinds.get(resource)!;
    for await (const batch of this.#storage.watch(
      `objects/${resource}/`,
      watcher.position,
      ended,
    )) {
      for (const change of batch.changes) {
        subscriber.event(new WatchCacheEvent(kind, change, batch.revision));
      }
      watcher.position = batch.revision;
      await subscriber.ready?.();
      if (watcher.position >= this.#buffer.from) return true;
    }
    return false;
  }

  #endAll(why: 'Compacted' | 'Stopped'): void {
    const live = [...this.#live.values()].flatMap((set) => [...set].map((one) => ({ set, one })));
    for (const { set, one } of live) {
      if (why === 'Compacted' && one.subscriber.gap) continue;
      set.delete(one);
      one.subscriber.end?.(why);
    }
  }
}
