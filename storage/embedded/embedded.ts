import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { validateKey } from '../limits.js';
import { UnavailableError, type Storage, type StorageMetrics } from '../storage.js';
import { EmbeddedCommitter } from './committer.js';
import { compactTo } from './compaction.js';
import { refuseHalfRestored } from './interrupted-restore.js';
import { StoreState } from './state.js';
import { acquireLock } from './lock.js';
import { countRange, readRange } from './reader.js';
import { sweepOnce } from './expiry-gc.js';
import { openTables } from './tables.js';
import { watchPrefix } from './watcher.js';

/** How an embedded store is opened; times in milliseconds. */
interface EmbeddedOptions {
  /** The folder that holds the store alone; made when missing. */
  readonly directory: string;
  /** Pause between two looks for expired entries. */
  readonly sweepInterval?: number;
  /**
   * How long an entry stays after its expiry, so that no clock sweeps what another still counts as
   * valid.
   */
  readonly sweepGrace?: number;
  /**
   * Called once when a write failed for another reason than space: the process must stop, and by
   * default it does.
   */
  readonly onFatal?: (error: Error) => void;
  readonly metrics?: StorageMetrics;
}

/**
 * Opens the store in a folder of this machine for this process alone; throws when another process
 * holds it, its format is newer or a restore of it was broken off.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Storage> {
  refuseHalfRestored(options.directory);
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  const unlock = await acquireLock(options.directory);
  try {
    const state = new StoreState(openTables(options.directory));
    syncDirectory(options.directory);
    return assemble(state, options, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

/** Makes the names of files just created as durable as their contents. */
function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function assemble(state: StoreState, options: EmbeddedOptions, unlock: () => void): Storage {
  const committer = new EmbeddedCommitter(state, options.onFatal ?? crash, options.metrics);
  const storage: Storage = {
    readsInProcess: true,
    async get(key) {
      validateKey(key);
      state.admitOpen();
      const entry = state.read(key);
      return entry ? { entry, revision: state.revision } : { revision: state.revision };
    },
    list: (range, options = {}) => readRange(state, range, options),
    count: (range) => countRange(state, range),
    commit: (checks, writes) => committer.commit(checks, writes),
    watch: (prefix, from, signal) => watchPrefix(state, prefix, from, signal),
    compact: (revision) => compactTo(state, revision),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
  const stopSweeping = sweepEvery(
    state,
    storage,
    options.sweepInterval ?? 60_000,
    options.sweepGrace ?? 3_600_000,
  );
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await stopSweeping();
    state.close();
    await committer.settled();
    await state.tables.root.close();
    state.tables.preallocator.close();
    unlock();
  };
  return storage;
}

function sweepEvery(
  state: StoreState,
  storage: Storage,
  interval: number,
  grace: number,
): () => Promise<void> {
  const stopping = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const sweep = async (): Promise<void> => {
    while (!stopping.signal.aborted && (await sweepOnce(state, storage, Date.now() - grace)) > 0) {
      /* the next hundred */
    }
  };
  const timer = setInterval(() => {
    running = running.then(sweep).catch(passUnavailable);
  }, interval);
  timer.unref();
  return async () => {
    stopping.abort();
    clearInterval(timer);
    await running;
  };
}

/** Without space nothing can be swept now; the next round tries again. */
function passUnavailable(error: unknown): void {
  if (!(error instanceof UnavailableError)) throw error;
}

function crash(error: Error): void {
  process.nextTick(() => {
    throw error;
  });
}
