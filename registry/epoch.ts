import type { Storage } from '../storage/storage.js';

/** The store's epoch: a restored backup raises it, and what an older one issued is dead (`security.md` 1.7). */
export async function readEpoch(storage: Storage): Promise<number> {
  const { entry } = await storage.get('meta/epoch');
  return entry ? Number(entry.value.toString()) : 0;
}
