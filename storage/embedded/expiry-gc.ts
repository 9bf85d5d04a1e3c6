import { type Storage, UnavailableError } from '../storage.js';
import type { Operation } from './row-encoding.js';
import { deleteRow, expiryKey, expiryRows, keyOfExpiry, putRow } from './row-encoding.js';
import type { StoreState } from './state.js';

const batchSize = 500;

/**
 * Deletes what expired `graceMs` ago, every `intervalMs` until the store is closed. Returns a function
 * that ends it and waits for a running round.
 */
export function startExpiryGc(
  state: StoreState,
  storage: Storage,
  intervalMs: number,
  graceMs: number,
): () => Promise<void> {
  const collectAll = async (): Promise<void> => {
    while (!state.closed && (await collectExpired(state, storage, Date.now() - graceMs)) > 0) {
      /* the next rows */
    }
  };
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(collectAll).catch(ignoreUnavailable);
  }, intervalMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}

/** Ignores a full disk, and a store that is closed; the next round tries again. */
function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof UnavailableError)) throw error;
}

/**
 * Deletes entries that expired before `before` (milliseconds since the epoch) unless they were
 * changed since, and moves the rows of those that expire later. Returns how many rows were due.
 */
async function collectExpired(
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
  if (entry?.expires === undefined) return [deleteRow(row)];
  if (entry.expires >= before) return [deleteRow(row), putRow(expiryKey(entry.expires, key))];
  const { committed } = await storage.commit([{ key, is: entry.revision }], [{ delete: key }]);
  return committed ? [deleteRow(row)] : [];
}
