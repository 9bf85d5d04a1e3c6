import type { Storage } from '../storage.js';
import type { StoreState } from './state.js';
import { splitExpiryKey } from './encoding.js';

const batchSize = 100;

/**
 * Deletes at most a hundred entries that expired before `before` (milliseconds since the epoch)
 * unless they were changed since. Returns how many were due.
 */
export async function collectExpired(
  state: StoreState,
  storage: Storage,
  before: number,
): Promise<number> {
  const keys = expiredKeys(state, before);
  await Promise.all(keys.map((key) => deleteExpired(state, storage, key, before)));
  return keys.length;
}

function expiredKeys(state: StoreState, before: number): string[] {
  const keys: string[] = [];
  for (const indexKey of state.tables.expiry.getKeys({ limit: batchSize })) {
    const { expires, key } = splitExpiryKey(indexKey);
    if (expires >= before) break;
    keys.push(key);
  }
  return keys;
}

async function deleteExpired(
  state: StoreState,
  storage: Storage,
  key: string,
  before: number,
): Promise<void> {
  const entry = state.read(key);
  if (entry?.expires === undefined || entry.expires >= before) return;
  await storage.commit([{ key, is: entry.revision }], [{ delete: key }]);
}
