import type { Revision } from '../storage.js';
import { sparedBytes } from './space.js';
import { writeTransaction } from './transaction.js';
import type { StoreState } from './state.js';
import { splitTombstoneKey } from './encoding.js';

const batchSize = 500;

/**
 * Removes history superseded at or before `revision`, a few hundred revisions per transaction. The
 * next compaction completes an interrupted one. Throws UnavailableError without space.
 */
export async function compactTo(state: StoreState, revision: Revision): Promise<void> {
  state.assertOpen();
  const oldest = Math.min(revision, state.revision);
  if (oldest > state.oldest) {
    await write(state, [oldest], () =>
      state.tables.system.put('oldest', Buffer.from(String(oldest))),
    );
    state.oldest = oldest;
  }
  while (!state.closed && (await removeLog(state))) {
    /* the next few hundred */
  }
  for (let start: string | undefined = '!'; start !== undefined && !state.closed; )
    start = await removeTombstones(state, start);
}

/** Removes revisions that the tables have; returns whether there are more. */
async function removeLog(state: StoreState): Promise<boolean> {
  const { oldest, applied } = state;
  const { log } = state.tables;
  const end = Math.min(oldest, applied) + 1;
  const revisions = [...log.getKeys({ start: 0, end, limit: batchSize })];
  if (revisions.length === 0) return false;
  await write(state, revisions, (revision) => log.remove(revision));
  return revisions.length === batchSize;
}

/** Removes tombstones among the next few hundred keys from `start`; returns where to continue. */
async function removeTombstones(state: StoreState, start: string): Promise<string | undefined> {
  const { tombstones } = state.tables;
  const keys = [...tombstones.getKeys({ start, limit: batchSize })];
  const removed = keys.filter((key) => splitTombstoneKey(key).revision <= state.oldest);
  await write(state, removed, (key) => tombstones.remove(key));
  return keys.length === batchSize ? `${keys.at(-1)!}!` : undefined;
}

/** Changes rows in one transaction, which reports the error of any. */
async function write<T>(
  { tables }: StoreState,
  items: readonly T[],
  change: (item: T) => Promise<unknown>,
): Promise<void> {
  await writeTransaction(tables, 0, sparedBytes.upkeep, () => {
    for (const item of items) change(item).catch(() => {});
  });
}
