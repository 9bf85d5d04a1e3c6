import { prefixRange, UnknownOutcomeError, type Storage } from './storage.js';

const key = 'meta/epoch';

/**
 * The store's epoch: a restored backup raises it, and what an older one issued is dead
 * (docs/design/security.md#restored-backups).
 */
export async function readEpoch(storage: Storage): Promise<number> {
  const { entry } = await storage.get(key);
  return entry ? Number(entry.value.toString()) : 0;
}

/**
 * Raises the epoch by one and answers it; throws where a replica is running, since each reads it at
 * its start alone.
 */
export async function raiseEpoch(storage: Storage, now = Date.now()): Promise<number> {
  const alive = (await storage.list(prefixRange('meta/clocks/'))).entries.filter(
    ({ expires }) => expires !== undefined && expires > now,
  ).length;
  if (alive > 0)
    throw new Error(
      `${alive === 1 ? 'a replica serves' : `${alive} replicas serve`} this store, or did 30 seconds ago: stop all of them first, since they read the epoch at their start`,
    );
  const before = await readEpoch(storage);
  for (;;) {
    const { entry } = await storage.get(key);
    const epoch = entry ? Number(entry.value.toString()) : 0;
    if (epoch > before) return epoch;
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
