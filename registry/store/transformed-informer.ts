import { type EncodedObject, encodedObjectOf, isLive, objectsRange } from '../encoded-object.js';
import type { AnyKind, ObjectOf } from '../kind.js';
import type { WatchCacheEvent } from '../watchcache/event.js';
import type { Subscription } from '../watchcache/watch-cache.js';
import type { Store } from './store.js';

const retryMs = 1_000;

/** Gets both versions of a change and one of a creation or deletion; may not throw. */
type OnUpdate<T> = (before: T | undefined, after: T | undefined) => void;

/** List and watch of a kind, of whose objects only what `transform` returns stays in memory. */
export class TransformedInformer<K extends AnyKind, T> {
  protected readonly store: Store;
  protected readonly kind: K;
  readonly #transform: (object: ObjectOf<K>) => T;
  readonly #onUpdate: OnUpdate<T>;
  readonly #objects = new Map<string, T>();
  #subscription: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(store: Store, kind: K, transform: (object: ObjectOf<K>) => T, onUpdate: OnUpdate<T>) {
    this.store = store;
    this.kind = kind;
    this.#transform = transform;
    this.#onUpdate = onUpdate;
  }

  /** Lists all objects, then follows changes; call after the watch cache has started. */
  async start(): Promise<void> {
    const page = await this.store.storage.list(objectsRange(this.kind));
    const listed = new Map(
      page.entries
        .filter((entry) => isLive(entry, Date.now()))
        .map((entry) => encodedObjectOf(this.kind, entry))
        .map((stored) => [stored.name, this.#transformed(stored)]),
    );
    for (const name of this.#objects.keys()) if (!listed.get(name)) this.#set(name, undefined);
    for (const [name, object] of listed) this.#set(name, object);
    if (this.#isStopped) return;
    this.#subscription = this.store.watchCache.subscribe(this.kind.storageName, page.revision, {
      event: (event) => this.#apply(event),
      end: () => this.#relist(),
    });
  }

  /** Stops following; call before the watch cache stops. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#subscription?.leave();
  }

  /**
   * Whether the index is current: as new as the watch cache, which has received this replica's own
   * commits.
   */
  get isFresh(): boolean {
    return this.#subscription?.isFresh() ?? false;
  }

  /**
   * Waits up to a second for this replica's own commits to arrive; returns whether the index is
   * current.
   */
  async waitUntilFresh(): Promise<boolean> {
    if (!this.isFresh) await this.#subscription?.settle();
    return this.isFresh;
  }

  #apply({ before, after }: WatchCacheEvent): void {
    this.#set((after ?? before)!.name, after && this.#transformed(after));
  }

  /** Returns what is kept, or undefined if it cannot be decoded; a request for it is a 500. */
  #transformed(stored: EncodedObject): T | undefined {
    try {
      return this.#transform(stored.object as ObjectOf<K>);
    } catch {
      return undefined;
    }
  }

  #set(name: string, after: T | undefined): void {
    const before = this.#objects.get(name);
    if (after) {
      this.#objects.set(name, after);
    } else {
      this.#objects.delete(name);
    }
    if (before || after) this.#onUpdate(before, after);
  }

  /** Lists again when the history is compacted, until it succeeds. */
  #relist(): void {
    this.#subscription = undefined;
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.start().catch(() => this.#relist());
    }, retryMs);
    this.#timer.unref();
  }
}
