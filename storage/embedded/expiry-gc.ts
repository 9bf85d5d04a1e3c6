import type { Storage } from '../storage.js';
import { expiryKey, expiryRows, noValue, keyOfExpiry } from './row-encoding.js';
import type { Operation } from './rows.js';
import type { StoreState } from './state.js';

const batchSize = 500;

/**
 * Deletes entries that expired before `before` (milliseconds since the epoch) unless they were
 * changed since, and moves the rows of those that expire later. Returns how many rows were due, at
 * most 500.
 */
export async function collectExpired(
  state: StoreState,
  storage: Storage,
  before: number,
): Promise<number> {
  const rows = await state.db.keys({ ...expiryRows(before), limit: batchSize }).all();
  const operations = await Promise.all(rows.map((row) => collect(state, storage, row, before)));
  await state.db.batch(operations.flat());
  return rows.length;
}

/** Deletes the entry of a row if it expired; returns what becomes of the row. */
async function collect(
  state: StoreState,
  storage: Storage,
  row: string,
  before: number,
): Promise<Operation[]> {
  const key = keyOfExpiry(row);
  const entry = state.read(key);
  const remove: Operation = { type: 'del', key: row };
  if (entry?.expires === undefined) return [remove];
  if (entry.expires >= before)
    return [remove, { type: 'put', key: expiryKey(entry.expires, key), value: noValue }];
  const { committed } = await storage.commit([{ key, is: entry.revision }], [{ delete: key }]);
  return committed ? [remove] : [];
}
