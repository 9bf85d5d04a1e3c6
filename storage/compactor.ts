import {
  CompactedError,
  type Entry,
  type Revision,
  type Storage,
  UnavailableError,
  UnknownOutcomeError,
} from './storage.js';

const recordKey = 'meta/compaction';

/** Options of the compactor. */
interface CompactorOptions {
  /**
   * The interval between compactions in milliseconds; every revision stays readable for at least as
   * long.
   */
  readonly intervalMs: number;
  /** The clock, in milliseconds since the epoch. */
  readonly now?: () => number;
  /**
   * Receives errors other than a store that is unavailable; by default they are thrown
   * asynchronously.
   */
  readonly onError?: (error: unknown) => void;
}

/** The record of the last compaction round: its time, and the revision of the store then. */
interface CompactionRecord {
  readonly time: number;
  readonly revision: Revision;
}

/**
 * Compacts once per interval, on one replica, to the revision of one interval before. Returns a
 * function that stops it and waits for a running round.
 */
export function startCompactor(storage: Storage, options: CompactorOptions): () => Promise<void> {
  const {
    intervalMs,
    now = Date.now,
    onError = (error) => {
      process.nextTick(() => {
        throw error;
      });
    },
  } = options;
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(
    () => {
      running = running
        .then(() => compactOnce(storage, intervalMs, now()))
        .catch((error: unknown) => {
          if (!isTransient(error)) onError(error);
        });
    },
    Math.max(1, intervalMs / 4),
  );
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}

/**
 * Runs one round if the last one is at least an interval old. The replica that wins the record
 * compacts to the revision of the last round. A store without space for the record is compacted
 * too: this makes space.
 */
export async function compactOnce(
  storage: Storage,
  intervalMs: number,
  now: number,
): Promise<void> {
  const { entry, revision } = await storage.get(recordKey);
  const last = parseRecord(entry);
  if (last && last.time <= now && now - last.time < intervalMs) return;
  const value = Buffer.from(JSON.stringify({ time: now, revision } satisfies CompactionRecord));
  const result = await storage
    .commit([{ key: recordKey, is: entry?.revision ?? 'absent' }], [{ put: recordKey, value }])
    .catch((error: unknown) => {
      if (!(error instanceof UnavailableError) || !error.full) throw error;
      return { committed: true };
    });
  if (result.committed && last && last.time <= now) await storage.compact(last.revision);
}

const parseRecord = (entry: Entry | undefined): CompactionRecord | undefined =>
  entry && (JSON.parse(entry.value.toString()) as CompactionRecord);

/** Returns whether the next round resolves the error. */
const isTransient = (error: unknown): boolean =>
  error instanceof UnavailableError ||
  error instanceof UnknownOutcomeError ||
  error instanceof CompactedError;
