import type { Revision } from '../storage.js';
import type { StoreState } from './state.js';
import { splitTombstoneKey } from './encoding.js';

const step = 500;

/**
 * Forgets what was superseded at or before `revision`, some hundred revisions a transaction; a
 * compaction cut short is finished by the next.
 */
export async function compactTo(ledger: StoreState, revision: Revision): Promise<void> {
  ledger.admitOpen();
  const oldest = Math.min(revision, ledger.revision);
  if (oldest > ledger.oldest) {
    ledger.oldest = oldest;
    await ledger.tables.root.batch(() => {
      void ledger.tables.system.put('oldest', Buffer.from(String(oldest)));
    });
  }
  while (!ledger.closed && (await forgetChanges(ledger))) {
    /* the next few hundred */
  }
  for (let start: string | undefined = '!'; start !== undefined && !ledger.closed; )
    start = await forgetDeleted(ledger, start);
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
  { tables: { root, gone }, oldest }: StoreState,
  start: string,
): Promise<string | undefined> {
  const keys = [...gone.getKeys({ start, limit: step })];
  await root.batch(() => {
    for (const key of keys) if (splitTombstoneKey(key).revision <= oldest) void gone.remove(key);
  });
  return keys.length === step ? `${keys.at(-1)!}!` : undefined;
}
