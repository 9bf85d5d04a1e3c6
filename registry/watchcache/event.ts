import type { Change, Revision } from '../../storage/storage.js';
import { BoundedMap } from '../../security/bounded-map.js';
import type { AnyKind } from '../kind.js';
import { encodedObjectOf, type EncodedObject } from '../encoded-object.js';

/**
 * So many views of one event are remembered: those of tables are new ones every second, since ages
 * move.
 */
const views = 8;

/** One change of one object, decoded and encoded at most once however many watch it. */
export class WatchCacheEvent {
  readonly revision: Revision;
  /** The object after the change; of a deletion, undefined. */
  readonly after: EncodedObject | undefined;
  readonly before: EncodedObject | undefined;
  readonly #shared = new BoundedMap<string, unknown>(views);

  constructor(kind: AnyKind, change: Change, revision: Revision) {
    this.revision = revision;
    this.after = change.entry && encodedObjectOf(kind, change.entry);
    this.before = change.before && encodedObjectOf(kind, change.before);
  }

  /** Bytes held by it. */
  get size(): number {
    return sizeOf(this.after) + sizeOf(this.before);
  }

  /**
   * What one view makes of this event, by the first that asks; a few views are kept, the oldest
   * makes room.
   */
  shared<T>(view: string, make: () => T): T {
    return this.#shared.getOrCreate(view, make) as T;
  }
}

/** Bytes held by a stored object. */
export const sizeOf = (stored: EncodedObject | undefined): number =>
  stored?.entry.value.length ?? 0;
