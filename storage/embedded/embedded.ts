import { mkdirSync } from 'node:fs';
import { validateKey } from '../limits.js';
import type { Storage, StorageMetrics } from '../storage.js';
import { EmbeddedCommitter } from './committer.js';
import { compactTo } from './compaction.js';
import { openDatabase, sizeOf } from './database.js';
import { assertRestoreComplete, syncDirectory } from './directory.js';
import { startExpiryGc } from './expiry-gc.js';
import { countRange, readRange } from './reader.js';
import { serveSnapshots } from './snapshot-socket.js';
import { withSource } from './snapshot-source.js';
import { StoreState } from './state.js';
import { watchPrefix } from './watcher.js';

/** Options of an embedded store; times in milliseconds. */
interface EmbeddedOptions {
  /** The directory that only this store uses; created if missing. */
  readonly directory: string;
  /**
   * How many bytes of rows are in memory before they are written to a table; by default 8 to 64 MiB,
   * by memory and disk. The store keeps eight times as much of the disk free.
   */
  readonly writeBufferBytes?: number;
  /** The interval between collections of expired entries. */
  readonly sweepIntervalMs?: number;
  /**
   * How long an entry is kept after its expiry, so that no process with a slower clock loses an
   * entry that it considers valid.
   */
  readonly sweepGraceMs?: number;
  /**
   * Called once when a write failed for a reason other than disk space. The process must exit, and
   * does so by default.
   */
  readonly onFatal?: (error: Error) => void;
  readonly metrics?: StorageMetrics;
}

/**
 * Opens the store in a local directory, for this process only. Throws if another process uses it,
 * its format is newer, or a restore of it was interrupted.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Storage> {
  assertRestoreComplete(options.directory);
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  const db = await openDatabase(options.directory, options);
  try {
    syncDirectory(options.directory);
    return createStorage(await StoreState.load(db, options.writeBufferBytes), options);
  } catch (error) {
    await db.close();
    throw error;
  }
}

function createStorage(state: StoreState, options: EmbeddedOptions): Storage {
  const { onFatal = throwAsync, sweepIntervalMs = 60_000, sweepGraceMs = 3_600_000 } = options;
  const committer = new EmbeddedCommitter(state, onFatal, options.metrics);
  const storage: Storage = {
    readsInProcess: true,
    async get(key) {
      validateKey(key);
      state.assertOpen();
      const entry = state.read(key);
      return entry ? { entry, revision: state.revision } : { revision: state.revision };
    },
    list: (range, options = {}) => readRange(state, range, options),
    count: (range) => countRange(state, range),
    sizes: async () => new Map([['embedded', await sizeOf(state.db)]]),
    commit: (checks, writes) => committer.commit(checks, writes),
    watch: (prefix, from, signal) => watchPrefix(state, prefix, from, signal),
    compact: (revision) => compactTo(state, revision),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
  const stopServing = serveSnapshots(options.directory, (use) => withSource(state, use));
  const stopExpiryGc = startExpiryGc(state, storage, sweepIntervalMs, sweepGraceMs);
  const clock = setInterval(() => state.notify(), 1000).unref();
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    stopServing();
    clearInterval(clock);
    state.close();
    await stopExpiryGc();
    await committer.settled();
    await state.db.close();
  };
  return storage;
}

function throwAsync(error: Error): void {
  process.nextTick(() => {
    throw error;
  });
}
