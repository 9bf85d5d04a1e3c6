import {
  CompactedError,
  type Batch,
  type Change,
  type Revision,
  type Storage,
} from '../../storage/storage.js';
import { WatchCacheEvent, sizeOf } from './event.js';
import type { AnyKind } from '../kind.js';
import type { Log } from '../../observability/log.js';
import { EventBuffer } from './event-buffer.js';
import { encodedObjectOf, type EncodedObject } from '../encoded-object.js';

/** Receives the events of one resource; none of its methods may throw. */
interface Subscriber {
  event(event: WatchCacheEvent): void;
  /** Resolves when the subscriber can take more of a replay, which is delivered in parts. */
  ready?(): Promise<void>;
  /** Ends the subscription: the history is compacted, or the watch cache stops. */
  end(why: 'Compacted' | 'Stopped'): void;
}

/** A subscription to one resource. */
export interface Subscription {
  /** Returns the revision up to which everything was delivered. */
  position(): Revision;
  leave(): void;
}

interface Live {
  subscriber: Subscriber;
  from: Revision;
}
interface Joining {
  resource: string;
  subscriber: Subscriber;
  reached: Revision;
  joined: boolean;
  signal: AbortSignal;
}
interface Cached {
  stored: EncodedObject | undefined;
  revision: Revision;
}

const cacheMost = { objects: 100_000, bytes: 64 << 20 };
const silence = { unused: 2_000, unready: 10_000 };

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
  readonly #live = new Map<string, Set<Live>>();
  readonly #cache = new Map<string, Cached>();
  readonly #barriers = new Map<string, Revision>();
  readonly #committed = new Map<string, Revision>();
  readonly #reading = new Map<string, { stale: boolean; readers: number }>();
  readonly #hearing: ((change: Change) => void)[] = [];
  #waiting: { revision: Revision; resolve: () => void }[] = [];
  #cachedBytes = 0;
  #revision: Revision = 0;
  #heard = -Infinity;
  #running: Promise<void> = Promise.resolve();

  constructor(storage: Storage, kinds: readonly AnyKind[], log: Log) {
    this.#storage = storage;
    this.#kinds = new Map(kinds.map((kind) => [kind.resource, kind]));
    this.#log = log;
  }

  /** The revision up to which all changes were received. */
  get revision(): Revision {
    return this.#revision;
  }

  /** Staleness in milliseconds: everything written before was received (monotonic clock). */
  get lagMs(): number {
    return performance.now() - this.#heard;
  }

  /** The number of live subscriptions, without those that still replay. */
  get watchers(): number {
    let all = 0;
    for (const set of this.#live.values()) all += set.size;
    return all;
  }

  /** Whether the store was heard from recently enough to be ready. */
  get ready(): boolean {
    return this.lagMs < silence.unready;
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

  /** Delivers each change of `resource` after `from` once, in order, until `leave`. */
  subscribe(resource: string, from: Revision, subscriber: Subscriber): Subscription {
    const leave = new AbortController();
    const reader = { resource, subscriber, reached: from, joined: false, signal: leave.signal };
    if (from < this.#buffer.from || !this.#join(reader)) void this.#catchUp(reader);
    return {
      position: () => (reader.joined ? Math.max(reader.reached, this.#revision) : reader.reached),
      leave: () => leave.abort(),
    };
  }

  /**
   * Resolves with true when everything up to `revision` was received, with false after
   * `milliseconds`.
   */
  async waitUntil(revision: Revision, milliseconds: number): Promise<boolean> {
    if (this.#revision >= revision) return true;
    return new Promise((resolve) => {
      const waiting = {
        revision,
        resolve: () => {
          clearTimeout(timer);
          resolve(true);
        },
      };
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        resolve(false);
      }, milliseconds);
      this.#waiting.push(waiting);
    });
  }

  /** Returns the object under `key` from memory if the cache is fresh, else from the store. */
  async cached(kind: AnyKind, key: string): Promise<EncodedObject | undefined> {
    const held = this.held(key);
    return held ? held.stored : this.#read(kind, key);
  }

  /** Returns the object under `key` from memory, if it is there and the cache is fresh. */
  held(key: string): { readonly stored: EncodedObject | undefined } | undefined {
    const held = this.#cache.get(key);
    return held && this.lagMs < silence.unused && this.#trusted(key) ? held : undefined;
  }

  /**
   * Records a commit of this replica: these keys are not served from memory until its event
   * arrives.
   */
  committed(keys: readonly string[], revision: Revision): void {
    if (revision <= this.#revision) return;
    for (const key of keys)
      if (key.startsWith('objects/')) {
        this.#barriers.set(key, revision);
        this.#committed.set(key.split('/', 2)[1]!, revision);
      }
  }

  /** Calls `hear` with each future change of an object; it may not throw. */
  onChange(hear: (change: Change) => void): void {
    this.#hearing.push(hear);
  }

  /**
   * Returns the revision of this replica's last commit to `resource` whose event has not arrived,
   * or 0.
   */
  committedTo(resource: string): Revision {
    return this.#committed.get(resource) ?? 0;
  }

  /**
   * Whether `resource` can be served from memory: the store was heard from recently, and the events
   * of this replica's own commits have arrived.
   */
  trusts(resource: string): boolean {
    return this.lagMs < silence.unused && this.committedTo(resource) <= this.#revision;
  }

  #trusted(key: string): boolean {
    if (this.#barriers.size === 0) return true;
    const barrier = this.#barriers.get(key);
    if (barrier === undefined) return true;
    if (barrier > this.#revision) return false;
    this.#barriers.delete(key);
    return true;
  }

  async #read(kind: AnyKind, key: string): Promise<EncodedObject | undefined> {
    const mark = this.#reading.get(key) ?? { stale: false, readers: 0 };
    mark.readers += 1;
    this.#reading.set(key, mark);
    try {
      const { entry, revision } = await this.#storage.get(key);
      const stored = entry && encodedObjectOf(kind, entry);
      if (!mark.stale && this.#trusted(key)) this.#keep(key, { stored, revision });
      return stored;
    } finally {
      mark.readers -= 1;
      if (mark.readers === 0) this.#reading.delete(key);
    }
  }

  /** Keeps one object in memory and evicts the oldest ones above the limits. */
  #keep(key: string, held: Cached): void {
    this.#cachedBytes += sizeOf(held.stored) - sizeOf(this.#cache.get(key)?.stored);
    this.#cache.set(key, held);
    for (const [oldest, { stored }] of this.#cache) {
      if (this.#cache.size <= cacheMost.objects && this.#cachedBytes <= cacheMost.bytes) return;
      this.#cache.delete(oldest);
      this.#cachedBytes -= sizeOf(stored);
    }
  }

  async #restart(): Promise<void> {
    const asked = performance.now();
    const { revision } = await this.#storage.get('meta/hub');
    this.#cache.clear();
    this.#cachedBytes = 0;
    this.#buffer.restart(revision);
    this.#revision = revision;
    this.#heard = asked;
  }

  async #run(): Promise<void> {
    const signal = this.#stop.signal;
    for (let wait = 50; !signal.aborted; wait = Math.min(wait * 2, 2_000)) {
      try {
        for await (const batch of this.#storage.watch('objects/', this.#revision, signal)) {
          wait = 50;
          this.#take(batch);
        }
      } catch (error) {
        this.#log.warn({ err: error }, 'the watch on the store was interrupted');
        if (error instanceof CompactedError) await this.#startOver();
      }
      if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  async #startOver(): Promise<void> {
    this.#endAll('Compacted');
    await this.#restart().catch((error) =>
      this.#log.warn({ err: error }, 'could not read the current storage revision'),
    );
  }

  #take({ revision, changes, asOf = performance.now() }: Batch): void {
    for (const change of changes) this.#one(change, revision);
    this.#revision = Math.max(this.#revision, revision);
    this.#heard = Math.max(this.#heard, asOf);
    if (this.#barriers.size > 0)
      for (const [key, barrier] of this.#barriers)
        if (barrier <= this.#revision) this.#barriers.delete(key);
    const due = this.#waiting.filter((one) => one.revision <= this.#revision);
    if (due.length > 0)
      this.#waiting = this.#waiting.filter((one) => one.revision > this.#revision);
    for (const one of due) one.resolve();
  }

  #one(change: Change, revision: Revision): void {
    const resource = change.key.split('/')[1]!;
    const kind = this.#kinds.get(resource);
    if (!kind) return;
    for (const hear of this.#hearing) hear(change);
    const event = new WatchCacheEvent(kind, change, revision);
    const mark = this.#reading.get(change.key);
    if (mark) mark.stale = true;
    const held = this.#cache.get(change.key);
    if (held && held.revision < revision) this.#keep(change.key, { stored: event.after, revision });
    this.#buffer.add(resource, event);
    for (const { subscriber, from } of this.#live.get(resource) ?? [])
      if (revision > from) subscriber.event(event);
  }

  /** Replays buffered events. Returns true once the watcher has caught up and is live. */
  #join(reader: Joining): boolean {
    const { resource, subscriber, signal } = reader;
    const { events, more } = this.#buffer.eventsSince(resource, reader.reached);
    for (const event of events) subscriber.event(event);
    reader.reached = events.at(-1)?.revision ?? reader.reached;
    if (more) return false;
    const live: Live = { subscriber, from: Math.max(reader.reached, this.#revision) };
    const set = this.#live.get(resource) ?? new Set();
    this.#live.set(resource, set.add(live));
    signal.addEventListener('abort', () => set.delete(live), { once: true });
    reader.joined = true;
    return true;
  }

  /**
   * Replays the history of the store until the event buffer covers the watcher, then the buffer, no
   * faster than the watcher takes it.
   */
  async #catchUp(reader: Joining): Promise<void> {
    const { subscriber, signal } = reader;
    const ended = AbortSignal.any([signal, this.#stop.signal]);
    try {
      for (let goesOn = true; goesOn && !ended.aborted; ) {
        await subscriber.ready?.();
        if (ended.aborted) break;
        if (reader.reached < this.#buffer.from) goesOn = await this.#replay(reader, ended);
        else if (this.#join(reader)) return;
      }
      if (!signal.aborted) subscriber.end('Stopped');
    } catch (error) {
      if (!signal.aborted)
        subscriber.end(error instanceof CompactedError ? 'Compacted' : 'Stopped');
    }
  }

  /** Replays the store's history before the event buffer; false if the store ends it early. */
  async #replay(reader: Joining, ended: AbortSignal): Promise<boolean> {
    const { resource, subscriber } = reader;
    const kind = this.#kinds.get(resource)!;
    for await (const batch of this.#storage.watch(`objects/${resource}/`, reader.reached, ended)) {
      for (const change of batch.changes)
        subscriber.event(new WatchCacheEvent(kind, change, batch.revision));
      reader.reached = batch.revision;
      await subscriber.ready?.();
      if (reader.reached >= this.#buffer.from) return true;
    }
    return false;
  }

  #endAll(why: 'Compacted' | 'Stopped'): void {
    const all = [...this.#live.values()].flatMap((set) => [...set]);
    for (const set of this.#live.values()) set.clear();
    for (const { subscriber } of all) subscriber.end(why);
  }
}
