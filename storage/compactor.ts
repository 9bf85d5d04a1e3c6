import {
  CompactedError,
  UnavailableError,
  UnknownOutcomeError,
  type Entry,
  type Revision,
  type Storage,
} from './storage.js';

const record = 'meta/compaction';

/** How history is forgotten. */
interface CompactorOptions {
  /** Milliseconds between two compactions, and the least time a revision stays readable. */
  readonly interval: number;
  /** The clock, in milliseconds since the epoch. */
  readonly now?: () => number;
  /** Told of an error that is not a store out of reach; by default it is thrown out of band. */
  readonly onError?: (error: unknown) => void;
}

/** What the last winner wrote: when, and how far the store had come. */
interface Round {
  readonly time: number;
  readonly revision: Revision;
}

/**
 * Each interval, one replica compacts to the revision seen an interval before; the answered
 * function stops this and waits for a round under way.
 */
export function startCompactor(storage: Storage, options: CompactorOptions): () => Promise<void> {
  const {
    interval,
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
        .then(() => compactOnce(storage, interval, now()))
        .catch((error: unknown) => {
          if (!passing(error)) onError(error);
        });
    },
    Math.max(1, interval / 4),
  );
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}

/**
 * One round: when the last is an interval old and this replica wins the record, history before that
 * round is forgotten.
 */
export async function compactOnce(storage: Storage, interval: number, time: number): Promise<void> {
  const { entry, revision } = await storage.get(record);
  const last = roundOf(entry);
  if (last && last.time <= time && time - last.time < interval) return;
  const value = Buffer.from(JSON.stringify({ time, revision } satisfies Round));
  const result = await storage.commit(
    [{ key: record, is: entry?.revision ?? 'absent' }],
    [{ put: record, value }],
  );
  if (result.committed && last && last.time <= time) await storage.compact(last.revision);
}

const roundOf = (entry: Entry | undefined): Round | undefined =>
  entry && (JSON.parse(entry.value.toString()) as Round);

/** What the next round makes good by itself. */
const passing = (error: unknown): boolean =>
  error instanceof UnavailableError ||
  error instanceof UnknownOutcomeError ||
  error instanceof CompactedError;
