import type { Entry, Range, Revision } from '../storage.js';
import type { StoreState } from './state.js';
import { decodeLog, tombstoneKey, splitTombstoneKey } from './encoding.js';

/** Entries at the revision being read, for keys where the tables may hold something newer. */
export type PastEntries = ReadonlyMap<string, Entry | undefined>;

/**
 * Returns the keys of a range changed after `revision`, with their entries at that revision, or
 * undefined if memory does not reach back so far.
 */
export function recentPastEntries(
  state: StoreState,
  { start, end }: Range,
  revision: Revision,
): PastEntries | undefined {
  const batches = revision === state.revision ? [] : state.recent(revision);
  if (!batches) return undefined;
  const past = new Map<string, Entry | undefined>();
  const addPast = (key: string, before: Entry | undefined): void => {
    if (key >= start && key < end && !past.has(key)) past.set(key, before);
  };
  for (const { changes } of batches) for (const { key, before } of changes) addPast(key, before);
  for (const [key, before] of state.overlay) addPast(key, before);
  return past;
}

/** Returns the entry of `key` at `revision` by following its changes back through the log. */
export function entryAt(
  state: StoreState,
  key: string,
  changedAt: Revision,
  revision: Revision,
): Entry | undefined {
  for (let next = changedAt; next > revision; ) {
    const before = entryBefore(state, key, next);
    if (before && before.revision <= revision) return before;
    next = before?.revision ?? deletionBefore(state, key, next);
  }
  return undefined;
}

function entryBefore(state: StoreState, key: string, revision: Revision): Entry | undefined {
  const log = state.tables.log.getBinary(revision)!;
  for (const change of decodeLog(log)) if (change.key === key) return change.before;
  throw new Error(`the log of revision ${revision} does not have ${key}`);
}

function deletionBefore(
  { tables: { tombstones } }: StoreState,
  key: string,
  revision: Revision,
): Revision {
  const earlier = {
    start: tombstoneKey(key, revision - 1),
    end: `${key} `,
    reverse: true,
    limit: 1,
  };
  for (const tombstone of tombstones.getKeys(earlier)) return splitTombstoneKey(tombstone).revision;
  return 0;
}

/**
 * Yields keys of a range that were deleted after `revision`, in order, each with its first such
 * deletion.
 */
export function* deletedAfter(
  { tables: { tombstones } }: StoreState,
  range: Range,
  revision: Revision,
): Generator<readonly [key: string, deleted: Revision], undefined> {
  let last = '';
  for (const tombstone of tombstones.getKeys({ ...range })) {
    const { key, revision: deletedAt } = splitTombstoneKey(tombstone);
    if (deletedAt <= revision || key === last) continue;
    last = key;
    yield [key, deletedAt];
  }
}
