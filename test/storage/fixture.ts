import { test } from '@jest/globals';
import type { Storage } from '../../storage/storage.js';
import type { OpenStore, Store } from './store.js';

/** A case with an empty store of its own, closed behind it. */
export function withStore(
  open: OpenStore,
  name: string,
  run: (storage: Storage, store: Store) => Promise<void>,
  options?: { sweeping?: boolean },
): void {
  test(name, async () => {
    const store = await open(options);
    try {
      await run(store.storage, store);
    } finally {
      await store.close();
    }
  });
}
