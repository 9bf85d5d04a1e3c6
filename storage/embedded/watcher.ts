import { setImmediate as turn } from 'node:timers/promises';
import { type Batch, type Change, CompactedError, type Entry, type Revision } from '../storage.js';
import {
  decodeLog,
  decodeRecord,
  type LogChange,
  logKey,
  logRevision,
  versionKey,
} from './row-encoding.js';
import type { StoreState } from './state.js';

const replayBatchSize = 64;

/**
 * Yields every change under `prefix` after `from`, from memory or the log, and a progress mark
 * whenever it has caught up, and about once a second then.
 */
export async function* watchPrefix(
  state: StoreState,
  prefix: string,
  from: Revision,
  signal: AbortSignal,
): AsyncGenerator<Batch> {
  let position = from;
  let marked: Revision | undefined;
  const isEnded = (): boolean => signal.aborted || state.closed;
  const wakeUp = (): void => state.notify();
  signal.addEventListener('abort', wakeUp);
  try {
    while (!isEnded()) {
      const { nextChange } = state;
      const batches = await changesAfter(state, position);
      for (const batch of matchingBatches(batches, prefix, isEnded)) {
        marked = batch.revision;
        yield batch;
      }
      if (isEnded()) return; // what was not delivered must not be marked
      position = batches.at(-1)?.revision ?? position;
      if (position < state.revision) {
        await turn();
        continue;
      }
      if (marked !== position) yield { revision: position, changes: [] };
      marked = position;
      await nextChange;
      if (position === state.revision) marked = undefined;
    }
  } finally {
    signal.removeEventListener('abort', wakeUp);
  }
}

/** Yields the changes of keys that begin with a prefix, without batches that have none. */
function* matchingBatches(
  batches: readonly Batch[],
  prefix: string,
  isEnded: () => boolean,
): Generator<Batch> {
  for (const { revision, changes } of batches) {
    if (isEnded()) return;
    const matching = changes.filter(({ key }) => key.startsWith(prefix));
    if (matching.length > 0) yield { revision, changes: matching };
  }
}

/** Returns changes after a revision: all from memory, or a few from the log. */
async function changesAfter(state: StoreState, from: Revision): Promise<readonly Batch[]> {
  assertHistory(state, from);
  const recent = state.recent(from);
  if (recent) return recent;
  const batches = await state.whileOpen(() => readLog(state, from));
  assertHistory(state, from);
  return batches;
}

function assertHistory({ oldest }: StoreState, from: Revision): void {
  if (from < oldest) throw new CompactedError(oldest);
}

/** Reads the log after a revision. What is compacted at the same time is missing. */
async function readLog(state: StoreState, from: Revision): Promise<readonly Batch[]> {
  const range = { gte: logKey(from + 1), lt: logKey(state.revision + 1), limit: replayBatchSize };
  const rows = await state.db.iterator({ ...range, highWaterMarkBytes: 1 << 20 }).all();
  return Promise.all(
    rows.map(async ([key, row]) => {
      const revision = logRevision(key);
      const changes = decodeLog(row).map((change) => changeOf(state, change, revision));
      return { revision, changes: await Promise.all(changes) };
    }),
  );
}

async function changeOf(
  state: StoreState,
  { key, before: beforeRevision }: LogChange,
  revision: Revision,
): Promise<Change> {
  const [entry, before] = await Promise.all([
    readVersion(state, key, revision),
    readVersion(state, key, beforeRevision),
  ]);
  return { key, ...(entry && { entry }), ...(before && { before }) };
}

/** Reads the entry that a key got at a revision, if it got one. */
async function readVersion(
  { db }: StoreState,
  key: string,
  revision: Revision,
): Promise<Entry | undefined> {
  const record = revision > 0 ? await db.get(versionKey(key, revision)) : undefined;
  return record?.length ? decodeRecord({ key, revision, record }) : undefined;
}
