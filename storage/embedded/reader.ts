import { setImmediate as turn } from 'node:timers/promises';
import {
  limits,
  type Entry,
  type ListOptions,
  type Page,
  type Range,
  type Revision,
} from '../storage.js';
import { changedEntries, deletedAfter, entryAt, mergeChanged } from './history.js';
import type { StoreState } from './state.js';
import type { ChangedEntries } from './tables.js';
import { withKey } from './encoding.js';

const sliceMs = 5;
const stepsPerCheck = 64;
const countBatchSize = 5_000;
/** When a range has more changes that the tables do not have, the tables follow. */
const maxMergedKeys = 100;

/** A key of the range with its entry, if it had one. */
type Step = readonly [key: string, entry: Entry | undefined];

/** Reads a range at one revision; the latest page from the cache if it is there. */
export async function readRange(
  state: StoreState,
  range: Range,
  { limit = Infinity, at, ahead = limits.more }: ListOptions,
): Promise<Page> {
  state.assertOpen();
  const revision = at ?? state.revision;
  state.assertReadable(revision);
  if (revision !== state.revision || limit === Infinity)
    return readPage(state, range, revision, limit, ahead);
  const cacheKey = `${range.start} ${range.end} ${limit} ${ahead}`;
  const cached = state.pages.get(cacheKey);
  if (cached) return cached;
  const page = await readPage(state, range, revision, limit, ahead);
  state.pages.set(cacheKey, range, page);
  return page;
}

/** Reads a page from the tables, yielding to the event loop every few milliseconds. */
async function readPage(
  state: StoreState,
  range: Range,
  revision: Revision,
  limit: number,
  ahead: number,
): Promise<Page> {
  const entries: Entry[] = [];
  let start = range.start;
  while (start < range.end && entries.length < limit) {
    if (start !== range.start) await turn();
    state.assertReadable(revision);
    start = readSlice(state, { start, end: range.end }, revision, entries, limit);
  }
  return {
    entries,
    revision,
    more: start < range.end ? countAt(state, { start, end: range.end }, revision, ahead) : 0,
  };
}

/** Counts the current keys of a range, yielding to the event loop after every few thousand. */
export async function countRange(state: StoreState, range: Range): Promise<number> {
  let count = 0;
  for (let start: string | undefined = range.start; start !== undefined; ) {
    state.assertOpen();
    let batchCount = 0;
    let lastKey = '';
    for (const key of state.tables.current.getKeys({
      start,
      end: range.end,
      limit: countBatchSize,
    })) {
      batchCount += 1;
      lastKey = key as string;
    }
    const next = batchCount === countBatchSize ? `${lastKey}!` : undefined;
    const counted = { start, end: next ?? range.end };
    count += batchCount + countDifference(state, changedEntries(state, counted, state.revision)!);
    start = next;
    if (start !== undefined) await turn();
  }
  return count;
}

/** Appends to `entries` until the limit or the end of the time slice; returns where to continue. */
function readSlice(
  state: StoreState,
  range: Range,
  revision: Revision,
  entries: Entry[],
  limit: number,
): string {
  const deadline = performance.now() + sliceMs;
  let steps = 0;
  for (const [key, entry] of stepsAt(state, range, revision, limit - entries.length)) {
    if (entry) entries.push(entry);
    if (entries.length === limit) return `${key}!`;
    steps += 1;
    if (steps % stepsPerCheck === 0 && performance.now() > deadline) return `${key}!`;
  }
  return range.end;
}

/** Counts the entries of a range at `revision`, up to `max`. */
function countAt(state: StoreState, range: Range, revision: Revision, max: number): number {
  const changed = changedEntries(state, range, revision);
  if (changed) return countRecent(state, range, changed, max);
  let count = 0;
  for (const [, entry] of historicalSteps(state, range, revision)) {
    if (!entry) continue;
    count += 1;
    if (count === max) break;
  }
  return count;
}

function countRecent(
  state: StoreState,
  range: Range,
  changed: ChangedEntries,
  max: number,
): number {
  const { current } = state.tables;
  const minimum = max + changed.size;
  for (const _ of current.getKeys({ ...range, offset: minimum - 1, limit: 1 })) return max;
  return Math.min(current.getKeysCount({ ...range }) + countDifference(state, changed), max);
}

/** Returns how many more of the changed keys have an entry than are in the table. */
function countDifference({ tables: { current } }: StoreState, changed: ChangedEntries): number {
  let difference = 0;
  for (const [key, entry] of changed)
    difference += Number(entry !== undefined) - Number(current.doesExist(key));
  return difference;
}

function stepsAt(
  state: StoreState,
  range: Range,
  revision: Revision,
  limit: number,
): Iterable<Step> {
  const changed = changedEntries(state, range, revision);
  if (!changed) return historicalSteps(state, range, revision);
  if (changed.size > maxMergedKeys && revision >= state.applied) state.requestApply();
  return changed.size === 0
    ? currentSteps(state, range, limit)
    : mergeChanged(currentRows(state, range, limit + changed.size), changed);
}

function currentRows(
  { tables: { current } }: StoreState,
  range: Range,
  limit: number,
): Iterable<{ key: string; value: Entry }> {
  return current.getRange({ ...range, ...(Number.isFinite(limit) && { limit }) });
}

function* currentSteps(state: StoreState, range: Range, limit: number): Generator<Step> {
  for (const { key, value } of currentRows(state, range, limit)) yield [key, withKey(key, value)];
}

/** Reads a range from the tables, following every change after `revision` back. */
function* historicalSteps(state: StoreState, range: Range, revision: Revision): Generator<Step> {
  const deletions = deletedAfter(state, range, revision);
  const pastStep = (key: string, changedAt: Revision): Step => [
    key,
    entryAt(state, key, changedAt, revision),
  ];
  let deletion = deletions.next().value;
  for (const { key, value } of state.tables.current.getRange({ ...range })) {
    for (; deletion && deletion[0] < key; deletion = deletions.next().value)
      yield pastStep(...deletion);
    if (deletion?.[0] === key) deletion = deletions.next().value;
    yield value.revision > revision ? pastStep(key, value.revision) : [key, withKey(key, value)];
  }
  for (; deletion; deletion = deletions.next().value) yield pastStep(...deletion);
}
