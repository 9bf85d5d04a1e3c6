import { timeout } from '../../registry/status/status.js';
import { toStatusError } from '../../registry/status/storage-errors.js';
import type { Store } from '../../registry/store/store.js';
import type { Revision } from '../../storage/storage.js';

/**
 * How long a request waits for a resourceVersion that the store has not reached, in milliseconds.
 */
const waitForVersion = 2_500;

/**
 * Returns the store's revision if it is still below `version` after the wait, otherwise undefined.
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
 * Throws 504 if the store has not reached `version` after the wait
 * (docs/design/kubernetes.md#lists).
 */
export async function waitUntilFresh(store: Store, version: Revision): Promise<void> {
  const revision = await staleRevision(store, version);
  if (revision !== undefined) {
    throw timeout(`Too large resource version: ${version}, current: ${revision}`, [
      { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
    ]);
  }
}
