import { GenerationCache } from '../generation-cache.js';
import { baseKey } from '../snapshot/layout.js';
import {
  type Batch,
  type Change,
  CompactedError,
  type Entry,
  type Page,
  type Revision,
  UnavailableError,
} from '../storage.js';
import { type Database, readLogBounds, readNumber } from './database.js';
import { currentKey, decodeRecord, versionKey } from './row-encoding.js';
import { Space, writeBufferFor } from './space.js';

const recentBytes = 4 << 20;
/** About how many bytes of memory a change takes besides its values. */
const changeOverhead = 256;

/** Where the history of a store begins and ends. */
interface Bounds {
  /** The oldest revision that can be read. */
  readonly oldest: Revision;
  /** The first revision of which the log has a row; compaction goes on there. */
  readonly first: Revision;
  readonly revision: Revision;
}

/** The state of an open store in memory: the durable revision, recent changes, and caches. */
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
  /** Pages as they were at their revision, by the request. */
  readonly pages = new GenerationCache<Page>(2 << 20);
  closed = false;
  readonly #entries = new GenerationCache<Entry | 'absent'>(4 << 20);
  #recent: Batch[] = [];
  #recentBytes = 0;
  #nextChange: Promise<void> | undefined;
  #wakeUp = (): void => {};

  private constructor(db: Database, space: Space, { oldest, first, revision }: Bounds) {
    this.db = db;
    this.space = space;
    this.oldest = oldest;
    this.firstLogged = first;
    this.revision = revision;
  }

  /** Reads the bounds of a store. A restored one starts at its base without earlier history. */
  static async load(
    db: Database,
    writeBufferBytes = writeBufferFor(db.location),
  ): Promise<StoreState> {
    const space = new Space(db.location, writeBufferBytes);
    const base = Number(readLatest(db, baseKey)?.value.toString() ?? 0);
    const oldest = Math.max(base, readNumber(db, 'oldest') ?? 1);
    const log = await readLogBounds(db, oldest);
    const revision = Math.max(log?.last ?? 0, oldest);
    return new StoreState(db, space, { oldest, first: log?.first ?? revision + 1, revision });
  }

  /** Returns the latest durable entry, synchronously. */
  read(key: string): Entry | undefined {
    const cached = this.#entries.get(key);
    if (cached) return cached === 'absent' ? undefined : cached;
    const entry = readLatest(this.db, key);
    this.#cache(key, entry);
    return entry;
  }

  /** Makes durable batches visible and wakes the watchers. */
  publish(batches: readonly Batch[]): void {
    for (const batch of batches) {
      this.revision = batch.revision;
      this.#recent.push(batch);
      this.#recentBytes += bytesOf(batch);
      for (const { key, entry } of batch.changes) this.#cache(key, entry);
    }
    while (this.#recentBytes > recentBytes) this.#recentBytes -= bytesOf(this.#recent.shift()!);
    this.notify();
  }

  #cache(key: string, entry: Entry | undefined): void {
    this.#entries.set(key, entry ?? 'absent', entry?.value.length ?? 0);
  }

  /** Resolves when {@link StoreState.notify} is called next: after a change, or within a second. */
  get nextChange(): Promise<void> {
    this.#nextChange ??= new Promise((resolve) => {
      this.#wakeUp = resolve;
    });
    return this.#nextChange;
  }

  /** Wakes all who wait for a change. */
  notify(): void {
    this.#nextChange = undefined;
    this.#wakeUp();
  }

  /** Closes the store for readers. */
  close(): void {
    this.closed = true;
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
    if (revision > this.revision) {
      throw new UnavailableError(`revision ${revision} is not reached yet`);
    }
  }

  /** Throws UnavailableError if the store is closed. */
  assertOpen(): void {
    if (this.closed) throw new UnavailableError('the store is closed');
  }

  /** Runs a read; throws UnavailableError if the store was closed before it ended. */
  async whileOpen<T>(read: () => Promise<T>): Promise<T> {
    this.assertOpen();
    try {
      return await read();
    } catch (error) {
      this.assertOpen();
      throw error;
    }
  }
}

const bytesOf = ({ changes }: Batch): number =>
  changes.reduce((sum, change) => sum + changeOverhead + valueBytes(change), 0);

const valueBytes = ({ entry, before }: Change): number =>
  (entry?.value.length ?? 0) + (before?.value.length ?? 0);

/** Reads the latest entry of a key from the database. */
function readLatest(db: Database, key: string): Entry | undefined {
  const row = db.getSync(currentKey(key));
  if (row === undefined) return undefined;
  const revision = Number(row.toString('latin1'));
  const record = db.getSync(versionKey(key, revision));
  if (record === undefined) {
    throw new Error(`the store is damaged: ${key} has no entry of revision ${revision}`);
  }
  return decodeRecord({ key, revision, record });
}
