import { epochKey as key } from './snapshot/layout.js';
import { prefixRange, type Storage, UnknownOutcomeError } from './storage.js';

/**
 * Returns the store's epoch. Restoring a backup raises it, which invalidates everything issued in
 * an older one (docs/design/security.md#restored-backups).
 */
export async function readEpoch(storage: Storage): Promise<number> {
  const { entry } = await storage.get(key);
  return entry ? Number(entry.value.toString()) : 0;
}

/**
 * Raises the epoch by one and returns it. Throws if a replica is running, since replicas read the
 * epoch only at their start.
 */
export async function raiseEpoch(storage: Storage, now = Date.now()): Promise<number> {
  const runningCount = (await storage.list(prefixRange('meta/replicas/'))).entries.filter(
    ({ expires }) => expires !== undefined && expires > now,
  ).length;
  if (runningCount > 0) {
    throw new Error(
      `${runningCount === 1 ? 'a replica serves' : `${runningCount} replicas serve`} this store, or did 30 seconds ago: stop all of them first, since they read the epoch at their start`,
    );
  }
  const initialEpoch = await readEpoch(storage);
  for (;;) {
    const { entry } = await storage.get(key);
    const epoch = entry ? Number(entry.value.toString()) : 0;
    if (epoch > initialEpoch) return epoch;
    try {
      await storage.commit(
        [{ key, is: entry?.revision ?? 'absent' }],
        [{ put: key, value: Buffer.from(String(epoch + 1)) }],
      );
    } catch (error) {
      if (!(error instanceof UnknownOutcomeError)) throw error;
    }
  }
}
