import { BoundedMap } from '../../security/bounded-map.js';
import type { Change, Revision } from '../../storage/storage.js';
import { type EncodedObject, encodedObjectOf } from '../encoded-object.js';
import type { AnyKind } from '../kind.js';

/** The number of cached views of one event. Table views change every second, because ages do. */
const maxViews = 8;

/** One change of one object; decoded and encoded at most once for all watchers. */
export class WatchCacheEvent {
  readonly revision: Revision;
  /** The object after the change; undefined for a deletion. */
  readonly after: EncodedObject | undefined;
  readonly before: EncodedObject | undefined;
  #shared: BoundedMap<string, unknown> | undefined;

  constructor(kind: AnyKind, change: Change, revision: Revision) {
    this.revision = revision;
    this.after = change.entry && encodedObjectOf(kind, change.entry);
    this.before = change.before && encodedObjectOf(kind, change.before);
  }

  /** The size of both versions in bytes. */
  get size(): number {
    return sizeOf(this.after) + sizeOf(this.before);
  }

  /** Returns the representation of this event for a view; computed once for all watchers. */
  shared<T>(view: string, make: () => T): T {
    this.#shared ??= new BoundedMap(maxViews);
    return this.#shared.getOrCreate(view, make) as T;
  }
}

/** Returns the size of a stored object in bytes. */
export const sizeOf = (stored: EncodedObject | undefined): number =>
  stored?.entry.value.length ?? 0;
