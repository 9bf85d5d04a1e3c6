import {
  CompactedError,
  UnavailableError,
  type Batch,
  type Change,
  type Entry,
  type Revision,
} from '../storage.js';
import { keyed } from './encoding.js';
import { standingOf, type Tables } from './tables.js';

const recentRevisions = 1024;
const recentBytes = 4 << 20;

/**
 * What this process knows of the store: how far it is durable, what is in flight, and the latest
 * changes.
 */
export class StoreState {
  readonly tables: Tables;
  /** The last durable revision, the only one a reader is shown. */
  revision: Revision;
  /** The oldest revision that can still be read. */
  oldest: Revision;
  closed = false;
  /** For each key in the batch now being written, what readers see until it is durable. */
  overlay: ReadonlyMap<string, Entry | undefined> = new Map();
  #recent: Batch[] = [];
  #recentBytes = 0;
  /**
   * The last change of each key among the recent ones: what was just written is often read next.
   */
  readonly #latest = new Map<string, Change>();
  readonly #waiting = new Set<() => void>();
  /** Seconds since it was opened. */
  seconds = 0;
  readonly #clock = setInterval(() => {
    this.seconds += 1;
    this.wake();
  }, 1000).unref();

  constructor(tables: Tables) {
    this.tables = tables;
    const { oldest, revision } = standingOf(tables);
    this.oldest = oldest;
    this.revision = revision;
  }

  /** The latest durable entry, synchronously. */
  read(key: string): Entry | undefined {
    if (this.overlay.size > 0 && this.overlay.has(key)) return this.overlay.get(key);
    const recent = this.#latest.get(key);
    if (recent) return recent.entry;
    const entry = this.tables.current.get(key);
    return entry && keyed(key, entry);
  }

  /** Makes a durable batch visible and wakes the watchers. */
  publish(batches: readonly Batch[]): void {
    this.overlay = new Map();
    this.revision = batches.at(-1)?.revision ?? this.revision;
    for (const batch of batches) this.#remember(batch);
    this.wake();
  }

  /** Wakes all that wait. */
  wake(): void {
    const all = [...this.#waiting];
    this.#waiting.clear();
    for (const go of all) go();
  }

  /** Has `go` called at the next change, or when a second is over. */
  wait(go: () => void): void {
    this.#waiting.add(go);
  }

  /** No one is shown anything any more. */
  close(): void {
    this.closed = true;
    clearInterval(this.#clock);
    this.wake();
  }

  /**
   * The changes after `from` that are still in memory, or undefined when they do not reach back
   * that far.
   */
  recent(from: Revision): readonly Batch[] | undefined {
    const first = this.#recent[0]?.revision;
    return first === undefined || first > from + 1
      ? undefined
      : this.#recent.slice(from + 1 - first);
  }

  /**
   * Throws Compacted for a revision whose history is gone, Unavailable for one not reached yet or
   * after the end.
   */
  admit(revision: Revision): void {
    this.admitOpen();
    if (revision < this.oldest) throw new CompactedError(this.oldest);
    if (revision > this.revision)
      throw new UnavailableError(`revision ${revision} is not reached yet`);
  }

  /** Throws Unavailable once the store is closed. */
  admitOpen(): void {
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
