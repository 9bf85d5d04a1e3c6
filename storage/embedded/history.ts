import type { Entry, Range, Revision } from '../storage.js';
import type { StoreState } from './state.js';
import type { ChangedEntries } from './tables.js';
import { decodeLog, tombstoneKey, splitTombstoneKey, withKey } from './encoding.js';

/**
 * Returns the keys of a range for which the tables may be older or newer than `revision`, with their
 * entries at that revision, or undefined if memory does not reach back so far.
 */
export function changedEntries(
  state: StoreState,
  { start, end }: Range,
  revision: Revision,
): ChangedEntries | undefined {
  const batches = state.recent(Math.min(revision, state.applied));
  if (!batches) return undefined;
  const changed = new Map<string, Entry | undefined>();
  for (const { revision: changedAt, changes } of batches)
    for (const { key, entry, before } of changes) {
      if (key < start || key >= end) continue;
      if (changedAt <= revision) changed.set(key, entry);
      else if (!changed.has(key)) changed.set(key, before);
    }
  return changed;
}

/** Yields the rows of a table in key order, with changed entries in the place of their rows. */
export function* mergeChanged(
  rows: Iterable<{ key: string; value: Entry }>,
  changed: ChangedEntries,
): Generator<readonly [key: string, entry: Entry | undefined]> {
  const keys = [...changed.keys()].sort();
  let next = 0;
  for (const { key, value } of rows) {
    for (; next < keys.length && keys[next]! < key; next++)
      yield [keys[next]!, changed.get(keys[next]!)];
    if (keys[next] !== key) yield [key, withKey(key, value)];
  }
  for (; next < keys.length; next++) yield [keys[next]!, changed.get(keys[next]!)];
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
