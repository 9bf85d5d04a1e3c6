import {
  limits,
  UnavailableError,
  type Entry,
  type ListOptions,
  type Page,
  type Range,
  type Revision,
} from '../storage.js';
import type { Database } from './database.js';
import { decodeRecord, rowsOf, splitVersionKey } from './row-encoding.js';
import type { StoreState } from './state.js';

/** How many rows are read at once, in another thread, and at most so many bytes. */
const minRows = 16;
const maxRows = 1000;
const maxBytes = 1 << 20;
const countBatchSize = 5000;

type Snapshot = ReturnType<Database['snapshot']>;

/** Reads a range at one revision; the latest page from the cache if it is there. */
export async function readRange(
  state: StoreState,
  range: Range,
  { limit = Infinity, at, ahead = limits.more }: ListOptions,
): Promise<Page> {
  state.assertOpen();
  const revision = at ?? state.revision;
  state.assertReadable(revision);
  const isCacheable = revision === state.revision && limit !== Infinity;
  const cacheKey = `${range.start} ${range.end} ${limit} ${ahead}`;
  const cached = isCacheable ? state.pages.get(cacheKey) : undefined;
  if (cached) return cached;
  const page = await whileOpen(state, () => readPage(state, range, { limit, at: revision, ahead }));
  if (isCacheable) state.pages.set(cacheKey, range, page);
  return page;
}

/** Counts the current keys of a range. */
export async function countRange(state: StoreState, range: Range): Promise<number> {
  state.assertOpen();
  return whileOpen(state, async () => {
    const keys = state.db.keys(rowsOf('current', range));
    let count = 0;
    try {
      for (let isEnd = false; !isEnd; ) {
        const { length } = await keys.nextv(countBatchSize);
        count += length;
        isEnd = length === 0;
      }
      return count;
    } finally {
      await keys.close();
    }
  });
}

/** Runs a read; throws UnavailableError if the store was closed before it ended. */
export async function whileOpen<T>(state: StoreState, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (state.closed) throw new UnavailableError('the store is closed', { cause: error });
    throw error;
  }
}

/** Reads a page from a snapshot, in which nothing is compacted. */
async function readPage(
  { db }: StoreState,
  range: Range,
  { limit, at, ahead }: Required<ListOptions>,
): Promise<Page> {
  const snapshot = db.snapshot();
  try {
    const entries: Entry[] = [];
    let end = range.start;
    for await (const { key, revision, record } of versionsAt(db, snapshot, range, at, limit)) {
      entries.push(decodeRecord({ key, revision, record }));
      end = `${key}!`;
      if (entries.length === limit) break;
    }
    const rest = { start: end, end: range.end };
    const more = entries.length === limit ? await countVersions(db, snapshot, rest, at, ahead) : 0;
    return { entries, revision: at, more };
  } finally {
    await snapshot.close();
  }
}

async function countVersions(
  db: Database,
  snapshot: Snapshot,
  range: Range,
  at: Revision,
  max: number,
): Promise<number> {
  let count = 0;
  for await (const _ of versionsAt(db, snapshot, range, at, max)) {
    count += 1;
    if (count === max) break;
  }
  return count;
}

/** The entry of a key at a revision, as it is stored. */
interface Version {
  readonly key: string;
  readonly revision: Revision;
  readonly record: Buffer;
}

/**
 * Yields what the keys of a range were at a revision, in key order; about `expected` are wanted. Of
 * the rows of a key, which begin with the latest, the first that is old enough counts.
 */
export async function* versionsAt(
  db: Database,
  snapshot: Snapshot,
  range: Range,
  at: Revision,
  expected: number,
): AsyncGenerator<Version> {
  let lastKey = '';
  for await (const chunk of chunksOf(db, snapshot, range, expected))
    for (const [rowKey, record] of chunk) {
      const { key, revision } = splitVersionKey(rowKey);
      if (revision > at || key === lastKey) continue;
      lastKey = key;
      if (record.length > 0) yield { key, revision, record };
    }
}

async function* chunksOf(
  db: Database,
  snapshot: Snapshot,
  range: Range,
  expected: number,
): AsyncGenerator<[string, Buffer][]> {
  const rows = db.iterator({ ...rowsOf('version', range), snapshot, highWaterMarkBytes: maxBytes });
  try {
    for (let size = Math.min(expected + minRows, maxRows); ; size = maxRows) {
      const chunk = await rows.nextv(size);
      if (chunk.length === 0) return;
      yield chunk;
    }
  } finally {
    await rows.close();
  }
}
