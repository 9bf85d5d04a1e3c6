import {
  CompactedError,
  UnavailableError,
  type Batch,
  type Change,
  type Entry,
  type Revision,
} from '../storage.js';
import { baseKey } from '../snapshot/layout.js';
import { defaultWriteBufferBytes, readLogBounds, readNumber, type Database } from './database.js';
import { currentKey, decodeRecord, versionKey } from './row-encoding.js';
import { EntryCache } from './entry-cache.js';
import { PageCache } from './page-cache.js';
import { Space } from './space.js';

const recentRevisions = 1024;
const recentBytes = 4 << 20;

/** Where the history of a store begins and ends. */
interface Bounds {
  /** The oldest revision that can be read. */
  readonly oldest: Revision;
  /** The first revision of which the log has a row; compaction goes on there. */
  readonly first: Revision;
  readonly revision: Revision;
}

/** The state of an open store in memory: the durable revision, and recent changes. */
export class StoreState {
  readonly db: Database;
  readonly space: Space;
  /** The last durable revision; readers see nothing newer. */
  revision: Revision;
  /** The oldest revision that can still be read. */
  oldest: Revision;
  /** The first revision that the log may have. */
  firstLogged: Revision;
  /** About how many bytes on the disk were superseded, by range, since its tables were written. */
  readonly garbage = new Map<string, number>();
  closed = false;
  readonly pages = new PageCache(this);
  #recent: Batch[] = [];
  #recentBytes = 0;
  /** The last change of each recently changed key. */
  readonly #latest = new Map<string, Change>();
  /** Entries of other keys. */
  readonly #cache = new EntryCache();
  readonly #waiters = new Set<() => void>();
  /** Seconds since the store was opened. */
  uptimeSeconds = 0;
  readonly #clock = setInterval(() => {
    this.uptimeSeconds += 1;
    this.notify();
  }, 1000).unref();

  private constructor(db: Database, space: Space, { oldest, first, revision }: Bounds) {
    this.db = db;
    this.space = space;
    this.oldest = oldest;
    this.firstLogged = first;
    this.revision = revision;
  }

  /** Reads the bounds of a store. A restored one starts at its base without earlier history. */
  static async load(db: Database, writeBufferBytes = defaultWriteBufferBytes): Promise<StoreState> {
    const space = new Space(db.location, writeBufferBytes);
    const base = Number(readLatest(db, baseKey)?.value.toString() ?? 0);
    const oldest = Math.max(base, readNumber(db, 'oldest') ?? 1);
    const log = await readLogBounds(db, oldest);
    const revision = Math.max(log?.last ?? 0, oldest);
    return new StoreState(db, space, { oldest, first: log?.first ?? revision + 1, revision });
  }

  /** Returns the latest durable entry, synchronously. */
  read(key: string): Entry | undefined {
    const recent = this.#latest.get(key);
    return recent ? recent.entry : this.#cache.get(key, this.#readLatest);
  }

  readonly #readLatest = (key: string): Entry | undefined => readLatest(this.db, key);

  /** Makes durable batches visible and wakes the watchers. */
  publish(batches: readonly Batch[]): void {
    this.revision = batches.at(-1)?.revision ?? this.revision;
    for (const batch of batches) this.#remember(batch);
    this.#forgetOld();
    this.notify();
  }

  /** Wakes all waiters. */
  notify(): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const callback of waiters) callback();
  }

  /** Calls `callback` after the next change, or within a second. */
  onNextChange(callback: () => void): void {
    this.#waiters.add(callback);
  }

  /** Closes the store for readers. */
  close(): void {
    this.closed = true;
    clearInterval(this.#clock);
    this.notify();
  }

  /**
   * Returns the changes after `from` that are in memory, or undefined if memory does not reach back
   * so far.
   */
  recent(from: Revision): readonly Batch[] | undefined {
    if (from === this.revision) return [];
    const first = this.#recent[0]?.revision;
    return first === undefined || first > from + 1
      ? undefined
      : this.#recent.slice(this.#recent.findLastIndex((batch) => batch.revision <= from) + 1);
  }

  /**
   * Throws CompactedError for a revision without history, UnavailableError for a future one or a
   * closed store.
   */
  assertReadable(revision: Revision): void {
    this.assertOpen();
    if (revision < this.oldest) throw new CompactedError(this.oldest);
    if (revision > this.revision)
      throw new UnavailableError(`revision ${revision} is not reached yet`);
  }

  /** Throws UnavailableError if the store is closed. */
  assertOpen(): void {
    if (this.closed) throw new UnavailableError('the store is closed');
  }

  #remember(batch: Batch): void {
    this.#recent.push(batch);
    this.#recentBytes += bytesOf(batch);
    for (const change of batch.changes) this.#latest.set(change.key, change);
  }

  #forgetOld(): void {
    while (this.#recent.length > recentRevisions || this.#recentBytes > recentBytes)
      this.#forget(this.#recent.shift()!);
  }

  #forget(batch: Batch): void {
    this.#recentBytes -= bytesOf(batch);
    for (const change of batch.changes) {
      if (this.#latest.get(change.key) !== change) continue;
      this.#latest.delete(change.key);
      this.#cache.set(change.key, change.entry);
    }
  }
}

const bytesOf = (batch: Batch): number =>
  batch.changes.reduce(
    (sum, { entry, before }) =>
      sum + 100 + (entry?.value.length ?? 0) + (before?.value.length ?? 0),
    0,
  );

/** Reads the latest entry of a key from the database. */
function readLatest(db: Database, key: string): Entry | undefined {
  const row = db.getSync(currentKey(key));
  if (row === undefined) return undefined;
  const revision = Number(row.toString('latin1'));
  const record = db.getSync(versionKey(key, revision));
  if (record === undefined)
    throw new Error(`the store is damaged: ${key} has no entry of revision ${revision}`);
  return decodeRecord({ key, revision, record });
}
