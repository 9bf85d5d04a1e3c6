import { toStatusError } from '../../registry/storage-errors.js';
import { timeout } from '../../registry/status.js';
import type { Store } from '../../registry/store.js';
import type { Revision } from '../../storage/storage.js';

/** How long a request waits for a version that the store has not reached, in milliseconds. */
const waitForVersion = 2_500;

/**
 * The store's revision where it is below `version` even after a brief wait; undefined where it was
 * reached.
 */
export async function staleRevision(
  store: Store,
  version: Revision,
): Promise<Revision | undefined> {
  if (await store.watchCache.waitUntil(version, waitForVersion)) return undefined;
  const { revision } = await toStatusError(store.storage.get('meta/hub'));
  return revision < version ? revision : undefined;
}

/**
 * 504 where the store has not reached a version even after a brief wait
 * (docs/design/kubernetes.md#lists).
 */
export async function waitUntilFresh(store: Store, version: Revision): Promise<void> {
  const revision = await staleRevision(store, version);
  if (revision !== undefined)
    throw timeout(`Too large resource version: ${version}, current: ${revision}`, [
      { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
    ]);
}
