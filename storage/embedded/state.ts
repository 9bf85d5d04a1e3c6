import {
  CompactedError,
  UnavailableError,
  type Batch,
  type Change,
  type Entry,
  type Revision,
} from '../storage.js';
import { EntryCache } from './entry-cache.js';
import { PageCache } from './page-cache.js';
import { withKey } from './encoding.js';
import { latestEntries, readPending, readRevisions, type Tables } from './tables.js';

const recentRevisions = 1024;
const recentBytes = 4 << 20;
/** How many revisions, or bytes, the tables may be behind the log. */
const maxPendingRevisions = 1024;
const maxPendingBytes = 4 << 20;

/**
 * The state of an open store in memory: the durable revision, and recent changes. Among them are
 * all that the tables do not have yet.
 */
export class StoreState {
  readonly tables: Tables;
  /** The last durable revision; readers see nothing newer. */
  revision: Revision;
  /** The oldest revision that can still be read. */
  oldest: Revision;
  /** The last revision that the tables other than the log have. */
  applied: Revision;
  closed = false;
  readonly pages = new PageCache(this);
  /** Lets the tables follow the log soon; set by the committer. */
  requestApply: () => void = () => {};
  #recent: Batch[] = [];
  #recentBytes = 0;
  #pendingBytes = 0;
  /** The last change of each recently changed key. */
  readonly #latest = new Map<string, Change>();
  /** Entries of other keys, as the tables have them. */
  readonly #cache = new EntryCache();
  readonly #waiters = new Set<() => void>();
  /** Seconds since the store was opened. */
  uptimeSeconds = 0;
  readonly #clock = setInterval(() => {
    this.uptimeSeconds += 1;
    this.notify();
  }, 1000).unref();

  constructor(tables: Tables) {
    this.tables = tables;
    const pending = readPending(tables);
    const { oldest, revision } = readRevisions(tables, latestEntries(pending));
    this.oldest = oldest;
    this.revision = revision;
    this.applied = pending[0] ? pending[0].revision - 1 : revision;
    for (const batch of pending) this.#remember(batch);
  }

  /** Returns the latest durable entry, synchronously. */
  read(key: string): Entry | undefined {
    const recent = this.#latest.get(key);
    return recent ? recent.entry : this.#cache.get(key, this.#readTable);
  }

  readonly #readTable = (key: string): Entry | undefined => {
    const entry = this.tables.current.get(key);
    return entry && withKey(key, entry);
  };

  /** Makes durable batches visible and wakes the watchers. */
  publish(batches: readonly Batch[]): void {
    this.revision = batches.at(-1)?.revision ?? this.revision;
    for (const batch of batches) this.#remember(batch);
    this.#forgetOld();
    this.notify();
  }

  /** Returns whether the tables are so far behind the log that they should follow now. */
  get shouldApply(): boolean {
    return (
      this.revision - this.applied >= maxPendingRevisions || this.#pendingBytes >= maxPendingBytes
    );
  }

  /** Returns the changes that the tables do not have yet. */
  pending(): readonly Batch[] {
    return this.recent(this.applied)!;
  }

  /** Records that the tables have all changes up to `revision`. */
  setApplied(revision: Revision): void {
    this.applied = Math.max(this.applied, revision);
    this.#pendingBytes = this.pending().reduce((sum, batch) => sum + bytesOf(batch), 0);
    this.#forgetOld();
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
    this.#pendingBytes += bytesOf(batch);
    for (const change of batch.changes) this.#latest.set(change.key, change);
  }

  #forgetOld(): void {
    while (
      (this.#recent.length > recentRevisions || this.#recentBytes > recentBytes) &&
      this.#recent[0]!.revision <= this.applied
    )
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
