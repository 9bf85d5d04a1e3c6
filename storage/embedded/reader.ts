import { setImmediate as turn } from 'node:timers/promises';
import {
  limits,
  type Entry,
  type ListOptions,
  type Page,
  type Range,
  type Revision,
} from '../storage.js';
import { deletedAfter, entryAt, recentPast, type Past } from './history.js';
import type { StoreState } from './state.js';
import { keyed } from './encoding.js';

const stretch = 5;
const stretchSteps = 64;
const countStretch = 5_000;

/** A key of the range, with what stood there if anything did. */
type Step = readonly [key: string, entry: Entry | undefined];

/** Reads a range as it stood at one revision, a few milliseconds of the event loop at a time. */
export async function readRange(
  state: StoreState,
  range: Range,
  { limit = Infinity, at, ahead = limits.more }: ListOptions,
): Promise<Page> {
  state.admitOpen();
  const revision = at ?? state.revision;
  state.admit(revision);
  const entries: Entry[] = [];
  let start = range.start;
  while (start < range.end && entries.length < limit) {
    if (start !== range.start) await turn();
    state.admit(revision);
    start = readSome(state, { start, end: range.end }, revision, entries, limit);
  }
  return {
    entries,
    revision,
    more: start < range.end ? countAt(state, { start, end: range.end }, revision, ahead) : 0,
  };
}

/** How many keys a range has now, some thousands of them in one turn of the event loop. */
export async function countRange(state: StoreState, range: Range): Promise<number> {
  let count = 0;
  for (let start: string | undefined = range.start; start !== undefined; ) {
    state.admitOpen();
    let seen = 0;
    let last = '';
    for (const key of state.tables.current.getKeys({
      start,
      end: range.end,
      limit: countStretch,
    })) {
      seen += 1;
      last = key as string;
    }
    count += seen;
    start = seen === countStretch ? `${last}!` : undefined;
    if (start !== undefined) await turn();
  }
  return count;
}

/** Adds to `entries` until the limit or the end of the stretch; answers where to go on. */
function readSome(
  state: StoreState,
  range: Range,
  revision: Revision,
  entries: Entry[],
  limit: number,
): string {
  const deadline = performance.now() + stretch;
  let steps = 0;
  for (const [key, entry] of stepsAt(state, range, revision, limit - entries.length)) {
    if (entry) entries.push(entry);
    if (entries.length === limit) return `${key}!`;
    steps += 1;
    if (steps % stretchSteps === 0 && performance.now() > deadline) return `${key}!`;
  }
  return range.end;
}

/** How many entries the range had at `revision`, up to `most`. */
function countAt(state: StoreState, range: Range, revision: Revision, max: number): number {
  const past = recentPast(state, range, revision);
  if (past) return countRecent(state, range, past, max);
  let count = 0;
  for (const [, entry] of oldSteps(state, range, revision)) {
    if (!entry) continue;
    count += 1;
    if (count === max) break;
  }
  return count;
}

function countRecent(
  { tables: { current } }: StoreState,
  range: Range,
  past: Past,
  max: number,
): number {
  const enough = max + past.size;
  for (const _ of current.getKeys({ ...range, offset: enough - 1, limit: 1 })) return max;
  let count = current.getKeysCount({ ...range });
  for (const [key, entry] of past)
    count += Number(entry !== undefined) - Number(current.doesExist(key));
  return Math.min(count, max);
}

function stepsAt(
  state: StoreState,
  range: Range,
  revision: Revision,
  limit: number,
): Iterable<Step> {
  const past = recentPast(state, range, revision);
  if (!past) return oldSteps(state, range, revision);
  return past.size === 0 ? currentSteps(state, range, limit) : recentSteps(state, range, past);
}

function* currentSteps(
  { tables: { current } }: StoreState,
  range: Range,
  limit: number,
): Generator<Step> {
  const bound = Number.isFinite(limit) ? { limit } : {};
  for (const { key, value } of current.getRange({ ...range, ...bound }))
    yield [key, keyed(key, value)];
}

function* recentSteps(state: StoreState, range: Range, past: Past): Generator<Step> {
  const keys = [...past.keys()].sort();
  let next = 0;
  for (const { key, value } of state.tables.current.getRange({ ...range })) {
    for (; next < keys.length && keys[next]! < key; next++)
      yield [keys[next]!, past.get(keys[next]!)];
    if (keys[next] !== key) yield [key, keyed(key, value)];
  }
  for (; next < keys.length; next++) yield [keys[next]!, past.get(keys[next]!)];
}

/** The range from the tables, with every change after `revision` followed back. */
function* oldSteps(state: StoreState, range: Range, revision: Revision): Generator<Step> {
  const deletions = deletedAfter(state, range, revision);
  const past = (key: string, changed: Revision): Step => [
    key,
    entryAt(state, key, changed, revision),
  ];
  let gone = deletions.next().value;
  for (const { key, value } of state.tables.current.getRange({ ...range })) {
    for (; gone && gone[0] < key; gone = deletions.next().value) yield past(...gone);
    if (gone?.[0] === key) gone = deletions.next().value;
    yield value.revision > revision ? past(key, value.revision) : [key, keyed(key, value)];
  }
  for (; gone; gone = deletions.next().value) yield past(...gone);
}
