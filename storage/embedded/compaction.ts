import type { Revision } from '../storage.js';
import type { StoreState } from './state.js';
import { splitTombstoneKey } from './encoding.js';

const step = 500;

/**
 * Forgets what was superseded at or before `revision`, some hundred revisions a transaction; a
 * compaction cut short is finished by the next.
 */
export async function compactTo(state: StoreState, revision: Revision): Promise<void> {
  state.admitOpen();
  const oldest = Math.min(revision, state.revision);
  if (oldest > state.oldest) {
    state.oldest = oldest;
    await state.tables.root.batch(() => {
      void state.tables.system.put('oldest', Buffer.from(String(oldest)));
    });
  }
  while (!state.closed && (await forgetChanges(state))) {
    /* the next few hundred */
  }
  for (let start: string | undefined = '!'; start !== undefined && !state.closed; )
    start = await forgetDeleted(state, start);
}

async function forgetChanges({ tables: { root, log }, oldest }: StoreState): Promise<boolean> {
  const revisions = [...log.getKeys({ start: 0, end: oldest + 1, limit: step })];
  if (revisions.length === 0) return false;
  await root.batch(() => {
    for (const revision of revisions) void log.remove(revision);
  });
  return revisions.length === step;
}

/** Forgets deleted keys among the next few hundred from `start`; answers where to go on. */
async function forgetDeleted(
  { tables: { root, tombstones: gone }, oldest }: StoreState,
  start: string,
): Promise<string | undefined> {
  const keys = [...gone.getKeys({ start, limit: step })];
  await root.batch(() => {
    for (const key of keys) if (splitTombstoneKey(key).revision <= oldest) void gone.remove(key);
  });
  return keys.length === step ? `${keys.at(-1)!}!` : undefined;
}
