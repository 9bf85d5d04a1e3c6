import {
  CompactedError,
  UnavailableError,
  type Batch,
  type Change,
  type Entry,
  type Revision,
} from '../storage.js';
import { withKey } from './encoding.js';
import { readRevisions, type Tables } from './tables.js';

const recentRevisions = 1024;
const recentBytes = 4 << 20;

/**
 * The state of an open store in memory: the durable revision, the batch in flight, and recent
 * changes.
 */
export class StoreState {
  readonly tables: Tables;
  /** The last durable revision; readers see nothing newer. */
  revision: Revision;
  /** The oldest revision that can still be read. */
  oldest: Revision;
  closed = false;
  /**
   * For each key of the batch being written, the entry that readers see until the batch is durable.
   */
  overlay: ReadonlyMap<string, Entry | undefined> = new Map();
  #recent: Batch[] = [];
  #recentBytes = 0;
  /** The last change of each recently changed key; a key just written is often read next. */
  readonly #latest = new Map<string, Change>();
  readonly #waiters = new Set<() => void>();
  /** Seconds since the store was opened. */
  uptimeSeconds = 0;
  readonly #clock = setInterval(() => {
    this.uptimeSeconds += 1;
    this.notify();
  }, 1000).unref();

  constructor(tables: Tables) {
    this.tables = tables;
    const { oldest, revision } = readRevisions(tables);
    this.oldest = oldest;
    this.revision = revision;
  }

  /** Returns the latest durable entry, synchronously. */
  read(key: string): Entry | undefined {
    if (this.overlay.size > 0 && this.overlay.has(key)) return this.overlay.get(key);
    const recent = this.#latest.get(key);
    if (recent) return recent.entry;
    const entry = this.tables.current.get(key);
    return entry && withKey(key, entry);
  }

  /** Makes durable batches visible and wakes the watchers. */
  publish(batches: readonly Batch[]): void {
    this.overlay = new Map();
    this.revision = batches.at(-1)?.revision ?? this.revision;
    for (const batch of batches) this.#remember(batch);
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
    const first = this.#recent[0]?.revision;
    return first === undefined || first > from + 1
      ? undefined
      : this.#recent.slice(from + 1 - first);
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
    while (this.#recent.length > recentRevisions || this.#recentBytes > recentBytes)
      this.#forget(this.#recent.shift()!);
  }

  #forget(batch: Batch): void {
    this.#recentBytes -= bytesOf(batch);
    for (const change of batch.changes)
      if (this.#latest.get(change.key) === change) this.#latest.delete(change.key);
  }
}

const bytesOf = (batch: Batch): number =>
  batch.changes.reduce(
    (sum, { entry, before }) =>
      sum + 100 + (entry?.value.length ?? 0) + (before?.value.length ?? 0),
    0,
  );
