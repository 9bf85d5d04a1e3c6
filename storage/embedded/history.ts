import type { Entry, Range, Revision } from '../storage.js';
import type { StoreState } from './state.js';
import { decodeLog, tombstoneKey, splitTombstoneKey } from './encoding.js';

/**
 * What stood under some keys at the revision that is read, where it differs or may differ from what
 * the tables hold now.
 */
export type Past = ReadonlyMap<string, Entry | undefined>;

/**
 * The keys of the range changed after `revision` with what stood then, when memory reaches back
 * that far.
 */
export function recentPast(
  state: StoreState,
  { start, end }: Range,
  revision: Revision,
): Past | undefined {
  const batches = revision === state.revision ? [] : state.recent(revision);
  if (!batches) return undefined;
  const past = new Map<string, Entry | undefined>();
  const note = (key: string, before: Entry | undefined): void => {
    if (key >= start && key < end && !past.has(key)) past.set(key, before);
  };
  for (const { changes } of batches) for (const { key, before } of changes) note(key, before);
  for (const [key, before] of state.overlay) note(key, before);
  return past;
}

/** What stood under `key` at `revision`, followed back from a change after it through the log. */
export function entryAt(
  state: StoreState,
  key: string,
  changed: Revision,
  revision: Revision,
): Entry | undefined {
  for (let next = changed; next > revision; ) {
    const before = beforeOf(state, key, next);
    if (before && before.revision <= revision) return before;
    next = before?.revision ?? deletionBefore(state, key, next);
  }
  return undefined;
}

function beforeOf(state: StoreState, key: string, revision: Revision): Entry | undefined {
  const log = state.tables.log.getBinary(revision)!;
  for (const change of decodeLog(log)) if (change.key === key) return change.before;
  throw new Error(`the log of revision ${revision} does not have ${key}`);
}

function deletionBefore(
  { tables: { tombstones: gone } }: StoreState,
  key: string,
  revision: Revision,
): Revision {
  const earlier = {
    start: tombstoneKey(key, revision - 1),
    end: `${key} `,
    reverse: true,
    limit: 1,
  };
  for (const text of gone.getKeys(earlier)) return splitTombstoneKey(text).revision;
  return 0;
}

/**
 * Keys of the range that were deleted after `revision`, in order, each with the first such
 * deletion.
 */
export function* deletedAfter(
  { tables: { tombstones: gone } }: StoreState,
  range: Range,
  revision: Revision,
): Generator<readonly [key: string, deleted: Revision], undefined> {
  let last = '';
  for (const text of gone.getKeys({ ...range })) {
    const { key, revision: deleted } = splitTombstoneKey(text);
    if (deleted <= revision || key === last) continue;
    last = key;
    yield [key, deleted];
  }
}
