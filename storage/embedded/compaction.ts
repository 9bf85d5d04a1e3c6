import type { Revision } from '../storage.js';
import type { StoreState } from './state.js';
import { splitTombstoneKey } from './encoding.js';

const batchSize = 500;

/**
 * Removes history superseded at or before `revision`, a few hundred revisions per transaction. The
 * next compaction completes an interrupted one.
 */
export async function compactTo(state: StoreState, revision: Revision): Promise<void> {
  state.assertOpen();
  const oldest = Math.min(revision, state.revision);
  if (oldest > state.oldest) {
    state.oldest = oldest;
    await state.tables.root.batch(() => {
      void state.tables.system.put('oldest', Buffer.from(String(oldest)));
    });
  }
  while (!state.closed && (await removeLog(state))) {
    /* the next few hundred */
  }
  for (let start: string | undefined = '!'; start !== undefined && !state.closed; )
    start = await removeTombstones(state, start);
}

/** Removes revisions that the tables have; returns whether there are more. */
async function removeLog({ tables: { root, log }, oldest, applied }: StoreState): Promise<boolean> {
  const end = Math.min(oldest, applied) + 1;
  const revisions = [...log.getKeys({ start: 0, end, limit: batchSize })];
  if (revisions.length === 0) return false;
  await root.batch(() => {
    for (const revision of revisions) void log.remove(revision);
  });
  return revisions.length === batchSize;
}

/** Removes tombstones among the next few hundred keys from `start`; returns where to continue. */
async function removeTombstones(
  { tables: { root, tombstones }, oldest }: StoreState,
  start: string,
): Promise<string | undefined> {
  const keys = [...tombstones.getKeys({ start, limit: batchSize })];
  await root.batch(() => {
    for (const key of keys)
      if (splitTombstoneKey(key).revision <= oldest) void tombstones.remove(key);
  });
  return keys.length === batchSize ? `${keys.at(-1)!}!` : undefined;
}
