import type { Storage } from '../storage.js';
import type { StoreState } from './state.js';
import { splitExpiryKey } from './encoding.js';

const batch = 100;

/**
 * Deletes at most a hundred entries that expired before `before` (milliseconds since the epoch),
 * each unless it was changed meanwhile; answers how many were due.
 */
export async function sweepOnce(
  state: StoreState,
  storage: Storage,
  before: number,
): Promise<number> {
  const due = dueBefore(state, before);
  await Promise.all(due.map((key) => sweepKey(state, storage, key, before)));
  return due.length;
}

function dueBefore(state: StoreState, before: number): string[] {
  const keys: string[] = [];
  for (const text of state.tables.expiry.getKeys({ limit: batch })) {
    const { expires, key } = splitExpiryKey(text);
    if (expires >= before) break;
    keys.push(key);
  }
  return keys;
}

async function sweepKey(
  state: StoreState,
  storage: Storage,
  key: string,
  before: number,
): Promise<void> {
  const entry = state.read(key);
  if (entry?.expires === undefined || entry.expires >= before) return;
  await storage.commit([{ key, is: entry.revision }], [{ delete: key }]);
}
