import type { AnyKind, ObjectOf } from '../kind.js';
import type { Store } from './store.js';
import { TransformedInformer } from './transformed-informer.js';

/**
 * List and watch of a small kind, for components that keep an index: first all objects, then each
 * change.
 */
export class Informer<K extends AnyKind> extends TransformedInformer<K, ObjectOf<K>> {
  /**
   * `onUpdate` gets both versions of a change and one of a creation or deletion; it may not throw.
   */
  constructor(
    store: Store,
    kind: K,
    onUpdate: (before: ObjectOf<K> | undefined, after: ObjectOf<K> | undefined) => void,
  ) {
    super(store, kind, (object) => object, onUpdate);
  }

  /** Returns all objects from the store, for a caller that cannot rely on the index. */
  latest(): Promise<ObjectOf<K>[]> {
    return this.store.reader(this.kind).list();
  }
}
