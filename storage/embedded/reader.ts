import {
  type Entry,
  type ListOptions,
  limits,
  type Page,
  type Range,
  type Revision,
} from '../storage.js';
import type { Database } from './database.js';
import { decodeRecord, rowsOf, splitVersionKey, type Version } from './row-encoding.js';
import type { StoreState } from './state.js';

/** How many rows are read at once, in another thread, and at most so many bytes. */
const minRows = 16;
const maxRows = 1000;
const maxBytes = 1 << 20;
/** About how many bytes of memory an entry of a page takes besides its key and value. */
const entryOverhead = 256;

type Snapshot = ReturnType<Database['snapshot']>;

/**
 * Reads a range at one revision. A page of the latest revision may be one that was read before: its
 * entries are the same array then.
 */
export async function readRange(
  state: StoreState,
  range: Range,
  { limit = Infinity, at, ahead = limits.more }: ListOptions,
): Promise<Page> {
  const revision = at ?? state.revision;
  state.assertReadable(revision);
  const readAt = (): Promise<Page> => readPage(state, range, { limit, at: revision, ahead });
  if (revision !== state.revision || limit === Infinity) return state.whileOpen(readAt);
  const request = `${range.start} ${range.end} ${limit} ${ahead}`;
  const cached = state.pages.get(request);
  const isCurrent = cached && !isChanged(state, range, cached.revision);
  const page = isCurrent ? { ...cached, revision } : await state.whileOpen(readAt);
  state.pages.set(request, page, bytesOf(page));
  return page;
}

/** Returns whether a key of a range changed after a revision, or memory does not reach back to it. */
function isChanged(state: StoreState, { start, end }: Range, revision: Revision): boolean {
  const batches = state.recent(revision);
  return (
    !batches || batches.some(({ changes }) => changes.some(({ key }) => key >= start && key < end))
  );
}

/** The API may keep a page's answer beside it, which is about as long as the values. */
const bytesOf = ({ entries }: Page): number =>
  entries.reduce((sum, { key, value }) => sum + entryOverhead + key.length + 2 * value.length, 0);

/** Counts the current keys of a range. */
export const countRange = (state: StoreState, range: Range): Promise<number> =>
  state.whileOpen(async () => {
    let count = 0;
    for await (const keys of chunksOf(state.db.keys(rowsOf('current', range)), Infinity)) {
      count += keys.length;
    }
    return count;
  });

/** Reads a page from a snapshot, in which nothing is compacted. */
async function readPage(
  { db }: StoreState,
  range: Range,
  { limit, at, ahead }: Required<ListOptions>,
): Promise<Page> {
  const entries: Entry[] = [];
  let more = 0;
  const snapshot = db.snapshot();
  try {
    for await (const versions of versionsAt(db, snapshot, range, at, limit + ahead)) {
      const wanted = versions.slice(0, limit - entries.length);
      entries.push(...wanted.map(decodeRecord));
      more = Math.min(ahead, more + versions.length - wanted.length);
      if (entries.length === limit && more === ahead) break;
    }
    return { entries, revision: at, more };
  } finally {
    await snapshot.close();
  }
}

/**
 * Yields what the keys of a range were at a revision, in key order, some at a time; about `expected`
 * are wanted. Of the rows of a key, which begin with the latest, the first that is old enough counts.
 */
export async function* versionsAt(
  db: Database,
  snapshot: Snapshot,
  range: Range,
  at: Revision,
  expected: number,
): AsyncGenerator<readonly Version[]> {
  const rows = db.iterator({ ...rowsOf('version', range), snapshot, highWaterMarkBytes: maxBytes });
  let lastKey = '';
  for await (const chunk of chunksOf(rows, expected)) {
    const versions: Version[] = [];
    for (const [rowKey, record] of chunk) {
      const { key, revision } = splitVersionKey(rowKey);
      if (revision > at || key === lastKey) continue;
      lastKey = key;
      if (record.length > 0) versions.push({ key, revision, record });
    }
    if (versions.length > 0) yield versions;
  }
}

/** What an iterator of LevelDB reads in another thread. */
interface Chunked<T> {
  nextv(size: number): Promise<T[]>;
  close(): Promise<void>;
}

/** Yields all that an iterator reads, many at a time; about `expected` are wanted. */
async function* chunksOf<T>(rows: Chunked<T>, expected: number): AsyncGenerator<T[]> {
  try {
    for (let wanted = expected + minRows; ; ) {
      const chunk = await rows.nextv(Math.min(Math.max(wanted, minRows), maxRows));
      if (chunk.length === 0) return;
      yield chunk;
      wanted -= chunk.length;
    }
  } finally {
    await rows.close();
  }
}
