import { prefixRange } from '../storage/storage.js';
import type { WatchCacheEvent } from './watchcache/event.js';
import type { Subscription } from './watchcache/watch-cache.js';
import type { AnyKind, ObjectOf } from './kind.js';
import type { Store } from './store.js';
import { isLive, encodedObjectOf, type EncodedObject } from './encoded-object.js';

const retry = 1_000;
const patience = 1_000;

/**
 * Every object of one small kind, told to anyone who keeps an index of it: first what there is, then
 * each change as the watch cache hears of it.
 */
export class Informer<K extends AnyKind> {
  readonly #store: Store;
  readonly #kind: K;
  readonly #told: (before: ObjectOf<K> | undefined, after: ObjectOf<K> | undefined) => void;
  readonly #held = new Map<string, ObjectOf<K>>();
  #subscription: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  /** `told` may not throw; of a change it is given both sides, of a creation or deletion one. */
  constructor(
    store: Store,
    kind: K,
    told: (before: ObjectOf<K> | undefined, after: ObjectOf<K> | undefined) => void,
  ) {
    this.#store = store;
    this.#kind = kind;
    this.#told = told;
  }

  /** Tells what there is and follows it from there; after the watch cache has begun. */
  async start(): Promise<void> {
    const page = await this.#store.storage.list(prefixRange(`objects/${this.#kind.resource}/`));
    const now = new Map(
      page.entries
        .filter((entry) => isLive(entry, Date.now()))
        .map((entry) => encodedObjectOf(this.#kind, entry))
        .map((stored) => [stored.name, objectOf<K>(stored)]),
    );
    for (const name of this.#held.keys()) if (!now.get(name)) this.#set(name, undefined);
    for (const [name, object] of now) this.#set(name, object);
    if (this.#stopped) return;
    this.#subscription = this.#store.watchCache.subscribe(this.#kind.resource, page.revision, {
      event: (event) => this.#take(event),
      end: () => this.#again(),
    });
  }

  /** Follows nothing any more; before the watch cache stops. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#subscription?.leave();
  }

  /**
   * Whether what was told can be relied on now: it is as new as the watch cache, and the watch cache has heard of
   * everything this replica wrote.
   */
  get fresh(): boolean {
    const { watchCache } = this.#store;
    return (
      this.#subscription !== undefined &&
      watchCache.trusts(this.#kind.resource) &&
      this.#subscription.position() >= watchCache.revision
    );
  }

  /**
   * Waits for what this replica wrote to come back, a second at most; whether what was told can
   * then be relied on.
   */
  async settled(): Promise<boolean> {
    const { watchCache } = this.#store;
    if (!this.fresh && this.#subscription)
      await watchCache.waitUntil(watchCache.committedTo(this.#kind.resource), patience);
    return this.fresh;
  }

  /** All there are, from the store itself: for anyone who cannot rely on what was told. */
  latest(): Promise<ObjectOf<K>[]> {
    return this.#store.reader(this.#kind).list();
  }

  #take({ before, after }: WatchCacheEvent): void {
    this.#set((after ?? before)!.name, after && objectOf<K>(after));
  }

  #set(name: string, after: ObjectOf<K> | undefined): void {
    const before = this.#held.get(name);
    if (after) this.#held.set(name, after);
    else this.#held.delete(name);
    if (before || after) this.#told(before, after);
  }

  /** The history needed is gone: from the beginning, as often as it takes. */
  #again(): void {
    this.#subscription = undefined;
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.start().catch(() => this.#again());
    }, retry);
    this.#timer.unref();
  }
}

/**
 * An object that can be read; what cannot counts as absent here, and is a 500 for anyone who asks for
 * it.
 */
function objectOf<K extends AnyKind>(stored: EncodedObject): ObjectOf<K> | undefined {
  try {
    return stored.object as ObjectOf<K>;
  } catch {
    return undefined;
  }
}
