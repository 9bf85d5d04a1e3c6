import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { SnapshotItem } from '../snapshot/format.js';
import {
  allKeys,
  baseKey,
  epochKey,
  type Revise,
  restoringKey,
  type SnapshotProgress,
  SnapshotStats,
} from '../snapshot/layout.js';
import { readRevised, type Snapshot } from '../snapshot/reader.js';
import { type RestoreResult, restoredBase, restoredEpoch } from '../snapshot/target.js';
import {
  type Check,
  type Entry,
  limits,
  type Revision,
  type Storage,
  startAfter,
  UnavailableError,
  UnknownOutcomeError,
  type Write,
} from '../storage.js';

const maxRecordsPerCommit = limits.writes - 1;
const maxConcurrentCommits = 4;
const maxAttempts = 20;
const retryDelayMs = 250;

/**
 * Fills an empty store. All commits check a marker that is set before the first and deleted by the
 * last; until then no replica opens the store. First removes what an interrupted restore left
 * behind. `revise` may change or omit records.
 */
export async function fillStorage(
  storage: Storage,
  snapshot: Snapshot,
  { signal, progress }: SnapshotProgress,
  revise: Revise = (item) => item,
): Promise<RestoreResult> {
  const marker = { key: restoringKey, is: await createMarker(storage, signal) };
  const { header } = snapshot;
  const stats = new SnapshotStats();
  const epoch = restoredEpoch(header);
  const base = restoredBase(header);
  const pool = new TaskPool();
  for await (const items of readRevised(snapshot, revise)) {
    for (const chunk of chunks(items)) {
      signal.throwIfAborted();
      await pool.add(putRecords(storage, marker, chunk));
    }
    for (const { key, value } of items) stats.add(key, key.length + value.length);
    progress(stats);
  }
  await pool.settled();
  if ((await storage.count(allKeys)) !== stats.keys + 1) throw concurrentWriteError();
  await commitWithRetry(
    storage,
    [marker],
    [
      { delete: restoringKey },
      { put: baseKey, value: Buffer.from(String(base)) },
      { put: epochKey, value: Buffer.from(String(epoch)) },
    ],
  );
  return { header, stats, epoch, base };
}

/**
 * Sets the marker in a store that is empty or has only an interrupted restore; returns its
 * revision.
 */
async function createMarker(storage: Storage, signal: AbortSignal): Promise<Revision> {
  const { entry } = await storage.get(restoringKey);
  if (!entry && (await storage.count(allKeys)) > 0) {
    throw new Error(
      'this prefix of etcd is not empty: restore below another --etcd-prefix, or empty it with etcdctl',
    );
  }
  const value = Buffer.from(JSON.stringify({ id: randomUUID(), time: new Date().toISOString() }));
  const set = await storage.commit(
    [{ key: restoringKey, is: entry?.revision ?? 'absent' }],
    [{ put: restoringKey, value }],
  );
  if (!set.committed) throw concurrentRestoreError();
  if (entry) await removeRecords(storage, { key: restoringKey, is: set.revision }, signal);
  if ((await storage.count(allKeys)) !== 1) {
    await storage.commit([{ key: restoringKey, is: set.revision }], [{ delete: restoringKey }]);
    throw concurrentWriteError();
  }
  return set.revision;
}

async function removeRecords(storage: Storage, marker: Check, signal: AbortSignal): Promise<void> {
  for (let { start } = allKeys; ; ) {
    signal.throwIfAborted();
    const { entries, more } = await storage.list(
      { start, end: allKeys.end },
      { limit: maxRecordsPerCommit },
    );
    const keys = entries.map(({ key }) => key).filter((key) => key !== restoringKey);
    if (keys.length > 0) {
      await commitWithRetry(
        storage,
        [marker],
        keys.map((key) => ({ delete: key })),
      );
    }
    if (more === 0) return;
    start = startAfter(entries);
  }
}

/** Splits records into chunks of one commit each. */
function* chunks(items: readonly SnapshotItem[]): Generator<readonly SnapshotItem[]> {
  let chunk: SnapshotItem[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = item.key.length + item.value.length;
    if (
      chunk.length === maxRecordsPerCommit ||
      (chunk.length > 0 && bytes + size > limits.commitBytes)
    ) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(item);
    bytes += size;
  }
  if (chunk.length > 0) yield chunk;
}

async function putRecords(
  storage: Storage,
  marker: Check,
  items: readonly SnapshotItem[],
): Promise<void> {
  const writes = items.map(
    ({ key, value, expires }): Write => ({
      put: key,
      value,
      ...(expires !== undefined && { expires }),
    }),
  );
  await commitWithRetry(
    storage,
    [marker, ...items.map(({ key }): Check => ({ key, is: 'absent' }))],
    writes,
  );
}

/**
 * Commits, and retries if etcd did not respond. A retry loses against itself if the first attempt
 * was made, so a loss is checked against the store.
 */
async function commitWithRetry(
  storage: Storage,
  checks: readonly Check[],
  writes: readonly Write[],
): Promise<void> {
  for (let attemptsLeft = maxAttempts; ; attemptsLeft -= 1) {
    try {
      const result = await storage.commit(checks, writes);
      if (result.committed || (attemptsLeft < maxAttempts && (await isStored(storage, writes)))) {
        return;
      }
      throw result.winners.has(restoringKey) ? concurrentRestoreError() : concurrentWriteError();
    } catch (error) {
      if (error instanceof UnavailableError && error.full) {
        throw new Error(
          'etcd has no space left: raise --quota-backend-bytes or make room, then restore again',
          { cause: error },
        );
      }
      if (
        attemptsLeft === 1 ||
        !(error instanceof UnavailableError || error instanceof UnknownOutcomeError)
      ) {
        throw error;
      }
      await pause(retryDelayMs);
    }
  }
}

/** Returns whether the store has exactly these writes. */
async function isStored(storage: Storage, writes: readonly Write[]): Promise<boolean> {
  const found = await Promise.all(
    writes.map(
      async (write) =>
        [write, (await storage.get('put' in write ? write.put : write.delete)).entry] as const,
    ),
  );
  return found.every(([write, entry]) =>
    'put' in write ? isSameEntry(write, entry) : entry === undefined,
  );
}

const isSameEntry = (
  write: { value: Buffer; expires?: number },
  entry: Entry | undefined,
): boolean =>
  entry !== undefined && entry.value.equals(write.value) && entry.expires === write.expires;

const concurrentRestoreError = (): Error =>
  new Error('another restore started under this prefix of etcd: this one was stopped');
const concurrentWriteError = (): Error =>
  new Error(
    'another process writes under this prefix of etcd: stop every replica, then restore again',
  );

/** Runs a limited number of tasks concurrently. */
class TaskPool {
  readonly #running = new Set<Promise<void>>();
  #failure: unknown;

  async add(task: Promise<void>): Promise<void> {
    const running = task
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    while (this.#running.size >= maxConcurrentCommits) await Promise.race(this.#running);
    this.#throw();
  }

  async settled(): Promise<void> {
    await Promise.all(this.#running);
    this.#throw();
  }

  #throw(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}
