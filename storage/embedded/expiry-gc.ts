import type { Entry, Storage } from '../storage.js';
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
  const expired = readExpired(state, before);
  await Promise.all(
    expired.map(({ key, revision }) => storage.commit([{ key, is: revision }], [{ delete: key }])),
  );
  return expired.length;
}

/** Reads the index, which may have keys that were changed since the tables were brought up to date. */
function readExpired(state: StoreState, before: number): Entry[] {
  const expired: Entry[] = [];
  for (const indexKey of state.tables.expiry.getKeys()) {
    const { expires, key } = splitExpiryKey(indexKey);
    if (expires >= before || expired.length === batchSize) break;
    const entry = state.read(key);
    if (entry?.expires !== undefined && entry.expires < before) expired.push(entry);
  }
  return expired;
}
