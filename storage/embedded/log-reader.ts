import type { Batch, Change, Entry, Revision } from '../storage.js';
import {
  decodeLog,
  decodeRecord,
  logKey,
  logRevision,
  versionKey,
  type LogChange,
} from './row-encoding.js';
import type { StoreState } from './state.js';

/**
 * Reads at most `limit` batches after a revision, up to the last durable one. What was compacted at
 * the same time is missing from them.
 */
export async function readBatches(
  { db, revision }: StoreState,
  from: Revision,
  limit: number,
): Promise<Batch[]> {
  const range = { gte: logKey(from + 1), lt: logKey(revision + 1), limit };
  const rows = await db.iterator({ ...range, highWaterMarkBytes: 1 << 20 }).all();
  const logged = rows.map(([key, row]) => ({
    revision: logRevision(key),
    changes: decodeLog(row),
  }));
  const versions = logged.flatMap((batch) =>
    batch.changes.flatMap((change) => versionsOf(change, batch.revision)),
  );
  const records = await db.getMany(versions.map(([key, at]) => versionKey(key, at)));
  const entries = new Map(
    records.map((record, i) => [
      versions[i]!.join(' '),
      record && decodeRecord({ key: versions[i]![0], revision: versions[i]![1], record }),
    ]),
  );
  const entryAt = (key: string, at: Revision): Entry | undefined => entries.get(`${key} ${at}`);
  return logged.map((batch) => ({
    revision: batch.revision,
    changes: batch.changes.map((change) => changeOf(change, batch.revision, entryAt)),
  }));
}

/** Returns the versions that a change names: what the key was after it and before. */
const versionsOf = (
  { key, isDeletion, before }: LogChange,
  revision: Revision,
): (readonly [key: string, revision: Revision])[] => [
  ...(isDeletion ? [] : [[key, revision] as const]),
  ...(before > 0 ? [[key, before] as const] : []),
];

function changeOf(
  { key, isDeletion, before: beforeRevision }: LogChange,
  revision: Revision,
  entryAt: (key: string, at: Revision) => Entry | undefined,
): Change {
  const entry = isDeletion ? undefined : entryAt(key, revision);
  const before = entryAt(key, beforeRevision);
  return { key, ...(entry && { entry }), ...(before && { before }) };
}
