/**
 * The contract between the registry and a store: etcd's semantics, small enough for two drivers to
 * agree on to the letter. One revision sequence for the whole store; a commit has one revision, and
 * two commits may share one as long as no key is in both.
 */

/** A point in the store's history: a positive safe integer that only grows. */
export type Revision = number;

/** One key as stored, expired or not: anyone who reads judges `expires` by a clock of their own. */
export interface Entry {
  readonly key: string;
  readonly value: Buffer;
  /** The revision of the commit that last wrote this key. */
  readonly revision: Revision;
  /**
   * Milliseconds since the epoch after which the value no longer counts; the driver collects it
   * some time later.
   */
  readonly expires?: number;
}

/**
 * What must hold for a commit to be made: the key stands exactly at a revision, is absent, or is
 * present.
 */
export interface Check {
  readonly key: string;
  readonly is: Revision | 'absent' | 'present';
}

/**
 * One change of a commit. A key may be written once in a commit. Deleting an absent key is no error
 * and no change.
 */
export type Write =
  | { readonly put: string; readonly value: Buffer; readonly expires?: number }
  | { readonly delete: string };

/** The commit was made and is durable; `batch` is how many were handed over together. */
export interface Committed {
  readonly committed: true;
  readonly revision: Revision;
  readonly batch?: number;
}

/**
 * A check did not hold and nothing was written; `winners` has, for each key whose check failed,
 * what stands there instead.
 */
export interface Lost {
  readonly committed: false;
  readonly revision: Revision;
  readonly winners: ReadonlyMap<string, Entry | undefined>;
}

/**
 * Part of a range, in key order, all at `revision`; `more` counts what follows in the range, as far
 * as it was to be counted (0: the end was reached).
 */
export interface Page {
  readonly entries: readonly Entry[];
  readonly revision: Revision;
  readonly more: number;
}

/** One key's change in a commit: `entry` is absent for a deletion, `before` for a creation. */
export interface Change {
  readonly key: string;
  readonly entry?: Entry;
  readonly before?: Entry;
}

/**
 * All changes of one revision under the watched prefix, or, without changes, the mark that nothing
 * up to `revision` is missing. `asOf`, by performance.now(): whatever was written before then has
 * been told by now; absent where that is the present.
 */
export interface Batch {
  readonly revision: Revision;
  readonly changes: readonly Change[];
  readonly asOf?: number;
}

/** Keys from `start` (included) to `end` (excluded), compared as bytes. */
export interface Range {
  readonly start: string;
  readonly end: string;
}

/**
 * How much of a range is wanted: at most `limit` entries, as of the revision `at`, with what
 * follows counted up to `ahead`, at most and by default 1,000.
 */
export interface ListOptions {
  readonly limit?: number;
  readonly at?: Revision;
  readonly ahead?: number;
}

/**
 * What both drivers refuse to exceed; longer work goes in pages. Keys are printable ASCII without
 * space.
 */
export const limits = {
  checks: 100,
  writes: 100,
  commitBytes: 1 << 20,
  keyBytes: 1024,
  more: 1000,
} as const;

/**
 * How large one copy of the store is on its disk and how much of that is in use, in bytes, and
 * where it takes no more writes, as far as it says that.
 */
export interface Size {
  readonly bytes: number;
  readonly inUse: number;
  readonly quota?: number;
}

/** What a driver counts; nothing of it may throw. */
export interface StorageMetrics {
  /** How many commits were handed over together. */
  readonly commitBatchSize: { observe(commits: number): void };
  /** A commit was made, lost its race, may have been made, or certainly was not. */
  readonly commits: { inc(labels: { result: 'ok' | 'lost' | 'unknown' | 'refused' }): void };
  /** How long calls to etcd took, in seconds. */
  readonly etcdRequestDuration: { observe(labels: { operation: string }, seconds: number): void };
  readonly etcdRequestErrors: { inc(labels: { operation: string }, by: number): void };
  /** 1 where the store is of a release that is supported, else 0. */
  readonly storageVersionSupported: { set(value: number): void };
}

/**
 * A driver. Every method may throw {@link UnavailableError}, {@link UnknownOutcomeError} (commit
 * alone), {@link CompactedError} or {@link TooLargeError}, and nothing else that a caller could be
 * expected to handle.
 *
 * @example
 * ```ts
 * const key = 'meta/visits';
 * const { entry } = await storage.get(key);
 * const visits = Number(entry?.value.toString() ?? 0) + 1;
 * const { committed } = await storage.commit(
 *   [{ key, is: entry?.revision ?? 'absent' }],
 *   [{ put: key, value: Buffer.from(String(visits)) }],
 * );
 * if (!committed) throw new Error('someone else wrote first: read again');
 * ```
 */
export interface Storage {
  /**
   * The latest (on etcd a quorum read); `revision` is how far a cache must have come to be as new
   * as this answer.
   */
  get(key: string): Promise<{ entry?: Entry; revision: Revision }>;
  /** As get, at once; absent in a driver that has to ask another process. */
  peek?(key: string): { entry?: Entry; revision: Revision };
  /**
   * In key order, all at one revision; `at` reads an old one and fails with Compacted. Without
   * `limit` everything.
   */
  list(range: Range, options?: ListOptions): Promise<Page>;
  /**
   * How many keys a range has, roughly where they change meanwhile; what has expired and was not
   * collected yet is among them.
   */
  count(range: Range): Promise<number>;
  /**
   * By name, each copy that answers; throws Unavailable where none does. Absent in a driver without
   * such.
   */
  sizes?(): Promise<ReadonlyMap<string, Size>>;
  /**
   * One transaction: every check holds or nothing is written. A lost race is an answer, not an
   * exception, and brings the winners along.
   */
  commit(checks: readonly Check[], writes: readonly Write[]): Promise<Committed | Lost>;
  /**
   * Every change after `from`, once, in revision order, with the value before; progress marks in
   * between; Compacted when too old. Ends when `signal` aborts.
   */
  watch(prefix: string, from: Revision, signal: AbortSignal): AsyncIterable<Batch>;
  /**
   * Forgets history before `revision`; reading or watching from an older one fails with Compacted
   * from then on.
   */
  compact(revision: Revision): Promise<void>;
  /** Ends watches, finishes what is in flight and lets go of the store. */
  close(): Promise<void>;
}

/**
 * The store cannot be reached or has no room, and nothing was written. `full`: deletes alone may
 * still pass.
 */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
  readonly full: boolean;
  constructor(message: string, options: { full?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.full = options.full ?? false;
  }
}

/** A commit was sent and its outcome could not be learnt: it may have happened. */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError';
}

/** The revision asked for, or one needed to answer, is no longer in the history. */
export class CompactedError extends Error {
  override readonly name = 'CompactedError';
  /** The oldest revision that can still be read. */
  readonly oldest: Revision;
  constructor(oldest: Revision) {
    super(`history before revision ${oldest} is compacted`);
    this.oldest = oldest;
  }
}

/**
 * A key, a value or a whole commit is over {@link limits}, or a key is malformed; nothing was
 * written.
 */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}

/** The range of all keys that begin with `prefix`. */
export function prefixRange(prefix: string): Range {
  const last = prefix.charCodeAt(prefix.length - 1);
  return { start: prefix, end: prefix.slice(0, -1) + String.fromCharCode(last + 1) };
}
