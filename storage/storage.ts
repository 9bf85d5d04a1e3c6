/**
 * The contract between the registry and a store: etcd's semantics, small enough that two drivers
 * behave the same. The store has one revision sequence. A commit has one revision; two commits may
 * share one if they write different keys.
 */

/** A point in the store's history: a positive safe integer that only grows. */
export type Revision = number;

/** A key as stored, expired or not: the reader compares `expires` with its own clock. */
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
  /**
   * What `value` was encoded from or decoded to, if this process knows it; not stored. Must not be
   * changed.
   */
  decoded?: object;
}

/** A condition of a commit: of a key, or of a range of keys. */
export type Check = KeyCheck | RangeCheck;

/** The key is at a revision, absent, or present. */
export interface KeyCheck {
  readonly key: string;
  readonly end?: undefined;
  readonly is: Revision | 'absent' | 'present';
}

/**
 * No key from `key` (included) to `end` (excluded) was written after revision `is`: none is new, none
 * has changed. Deleted keys do not count. A driver may lose a check of a revision that it does not
 * remember, although nothing was written.
 */
export interface RangeCheck {
  readonly key: string;
  readonly end: string;
  readonly is: Revision;
}

/**
 * One change of a commit. A key may be written once in a commit. Deleting an absent key is no error
 * and no change.
 */
export type Write =
  | {
      readonly put: string;
      readonly value: Buffer;
      readonly expires?: number;
      /** For {@link Entry.decoded}: a driver may hand it to readers in this process. */
      readonly decoded?: object;
    }
  | { readonly delete: string };

/** The commit is durable; `batch` is the number of commits that were written together. */
export interface Committed {
  readonly committed: true;
  readonly revision: Revision;
  readonly batch?: number;
}

/**
 * A check failed and nothing was written; `winners` maps each failed key to its current entry, and has
 * none for a range.
 */
export interface Lost {
  readonly committed: false;
  readonly revision: Revision;
  readonly winners: ReadonlyMap<string, Entry | undefined>;
}

/**
 * A page of a range, in key order, at `revision`; `more` counts the entries that follow, up to the
 * requested bound (0: none).
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
 * All changes of one revision under the watched prefix, or, without changes, a progress mark:
 * nothing up to `revision` is missing. `asOf` (performance.now()): everything written before was
 * delivered; now if absent.
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
 * Options of a list: at most `limit` entries, as of revision `at`; entries that follow are counted
 * up to `ahead` (default and maximum 1,000).
 */
export interface ListOptions {
  readonly limit?: number;
  readonly at?: Revision;
  readonly ahead?: number;
}

/**
 * Limits of both drivers; larger work is split into pages. Keys are printable ASCII without space.
 */
export const limits = {
  checks: 100,
  writes: 100,
  commitBytes: 1 << 20,
  keyBytes: 1024,
  more: 1000,
} as const;

/**
 * The size of one copy of the store on disk, the part in use, and the quota if there is one; in
 * bytes.
 */
export interface Size {
  readonly bytes: number;
  readonly inUse: number;
  readonly quota?: number;
}

/** Metrics of a driver; they must not throw. */
export interface StorageMetrics {
  /** How many commits were written together. */
  readonly commitBatchSize: { observe(commits: number): void };
  /** A commit succeeded, lost a race, has an unknown outcome, or was certainly not made. */
  readonly commits: { inc(labels: { result: 'ok' | 'lost' | 'unknown' | 'refused' }): void };
  /** How long calls to etcd took, in seconds. */
  readonly etcdRequestDuration: { observe(labels: { operation: string }, seconds: number): void };
  readonly etcdRequestErrors: { inc(labels: { operation: string }, by: number): void };
  /** 1 if the version of the store is supported, else 0. */
  readonly storageVersionSupported: { set(value: number): void };
}

/** Options of a watch. */
export interface WatchOptions {
  /**
   * The watch may leave out the values before changes, and its progress marks may be two seconds late
   * instead of half a second. On etcd both cost every replica.
   */
  readonly newValuesOnly?: boolean;
}

/**
 * A driver. Every method may throw {@link UnavailableError}, {@link UnknownOutcomeError} (only
 * commit), {@link CompactedError} or {@link TooLargeError}, and no other error that a caller should
 * handle.
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
   * Returns the latest entry (on etcd a quorum read); a cache at `revision` is as new as this
   * answer.
   */
  get(key: string): Promise<{ entry?: Entry; revision: Revision }>;
  /** True if reads ask no other process: no cache of them is faster. */
  readonly readsInProcess?: true;
  /**
   * Returns entries in key order, at one revision; `at` reads an old one and may throw
   * CompactedError. Without `limit`, all.
   */
  list(range: Range, options?: ListOptions): Promise<Page>;
  /**
   * Counts the keys of a range, approximately while they change; expired keys count until they are
   * collected.
   */
  count(range: Range): Promise<number>;
  /**
   * Returns the size of each copy that answers, by name; throws UnavailableError if none does.
   * Absent if the driver does not know.
   */
  sizes?(): Promise<ReadonlyMap<string, Size>>;
  /**
   * Commits a transaction: every check holds, or nothing is written. A lost race is a result, not
   * an exception.
   */
  commit(checks: readonly Check[], writes: readonly Write[]): Promise<Committed | Lost>;
  /**
   * Yields every change after `from` once, in revision order, with the value before, and progress
   * marks. Throws CompactedError if `from` is too old; ends when `signal` aborts.
   */
  watch(
    prefix: string,
    from: Revision,
    signal: AbortSignal,
    options?: WatchOptions,
  ): AsyncIterable<Batch>;
  /**
   * Removes history before `revision`: reads and watches from an older one throw CompactedError.
   */
  compact(revision: Revision): Promise<void>;
  /** Ends watches, finishes commits in flight, and closes the store. */
  close(): Promise<void>;
}

/**
 * The store cannot be reached or is out of space; nothing was written. `full`: deletes may still
 * succeed.
 */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
  readonly full: boolean;
  constructor(message: string, options: { full?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.full = options.full ?? false;
  }
}

/** The outcome of a commit is unknown: it may have happened. */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError';
}

/** The requested revision, or one needed for the response, is no longer in the history. */
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
 * A key, a value or a whole commit exceeds {@link limits}, or a key is malformed; nothing was
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

/** Returns the start of a range after the last of entries; there must be one. */
export const startAfter = (entries: readonly Pick<Entry, 'key'>[]): string =>
  `${entries.at(-1)!.key}!`;

/**
 * Returns the bytes in memory of their own. What stays in a cache must not keep the larger buffer that
 * it is a part of: the pool of small buffers, a message of etcd, the output of zlib.
 */
export function ownBytes(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}
