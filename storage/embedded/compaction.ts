import { rangeOf } from '../snapshot/layout.js';
import type { Revision } from '../storage.js';
import { noSpace, sizeOf } from './database.js';
import {
  decodeLog,
  deleteRow,
  type LogChange,
  logKey,
  logRevision,
  type Operation,
  putRow,
  rowsOf,
  systemKey,
  versionKey,
} from './row-encoding.js';
import type { StoreState } from './state.js';

const batchSize = 500;
/** Less is not worth it; on a full disk it is. */
const minGarbageBytes = 16 << 20;
const minGarbageOfFullDisk = 1 << 20;
/** The share of the store that may be rows without use. */
const maxGarbageShare = 0.25;
/** LevelDB compresses values to about half. */
const compressed = 0.5;

/**
 * Removes history superseded at or before `revision`, a few hundred revisions at a time. The next
 * compaction completes an interrupted one. Throws UnavailableError without space.
 */
export async function compactTo(state: StoreState, revision: Revision): Promise<void> {
  state.assertOpen();
  const oldest = Math.min(revision, state.revision);
  if (oldest > state.oldest) {
    await write(state, [putRow(systemKey('oldest'), Buffer.from(String(oldest)))], true);
    state.oldest = oldest;
  }
  while (!state.closed && (await removeRevisions(state))) {
    /* the next few hundred */
  }
  await rewriteTables(state);
}

/** Removes what the first rows of the log superseded, with these rows; returns whether there are more. */
async function removeRevisions(state: StoreState): Promise<boolean> {
  const rows = await state.db
    .iterator({
      gte: logKey(state.firstLogged),
      lt: logKey(state.oldest + 1),
      limit: batchSize,
      highWaterMarkBytes: 1 << 20,
    })
    .all();
  const last = rows.at(-1);
  if (last === undefined) return false;
  const operations: Operation[] = [];
  for (const [key, row] of rows) {
    operations.push(deleteRow(key));
    for (const change of decodeLog(row)) {
      const { before, isDeletion } = change;
      if (before > 0) operations.push(deleteRow(versionKey(change.key, before)));
      if (isDeletion) operations.push(deleteRow(versionKey(change.key, logRevision(key))));
      countGarbage(state, change);
    }
  }
  await write(state, operations, false);
  state.firstLogged = logRevision(last[0]) + 1;
  return rows.length === batchSize;
}

function countGarbage({ garbage }: StoreState, { key, before, beforeBytes }: LogChange): void {
  if (before === 0) return;
  const range = rangeOf(key);
  garbage.set(range, (garbage.get(range) ?? 0) + compressed * (key.length + beforeBytes));
}

/**
 * Lets LevelDB write the tables of the ranges again of which most was removed, when that is more than
 * a quarter of the store. It leaves removed rows in its tables until it writes these for other reasons.
 */
async function rewriteTables(state: StoreState): Promise<void> {
  const { db, garbage, space } = state;
  const total = [...garbage.values()].reduce((sum, bytes) => sum + bytes, 0);
  const { inUse } = await sizeOf(db);
  const enough = space.fits(0, 'values')
    ? Math.max(minGarbageBytes, maxGarbageShare * inUse)
    : minGarbageOfFullDisk;
  if (total < enough) return;
  for (const [range, bytes] of garbage) {
    if (bytes < total / 16) continue;
    for (const table of ['version', 'current'] as const) {
      if (state.closed) return;
      const { gte, lt } = rowsOf(table, { start: range, end: `${range}~` });
      await db.compactRange(gte, lt);
    }
    garbage.delete(range);
  }
}

async function write(
  { db, space }: StoreState,
  operations: Operation[],
  sync: boolean,
): Promise<void> {
  if (!space.fits(0, 'upkeep')) throw noSpace();
  await db.batch(operations, { sync });
}
