import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  baseKey,
  epochKey,
  everything,
  restoringKey,
  Tally,
  type Revise,
  type SnapshotProgress,
} from '../snapshot/layout.js';
import type { SnapshotItem } from '../snapshot/format.js';
import { readRevised, type Snapshot } from '../snapshot/reader.js';
import { baseAfter, epochAfter, type Restored } from '../snapshot/target.js';
import {
  limits,
  UnavailableError,
  UnknownOutcomeError,
  type Check,
  type Entry,
  type Revision,
  type Storage,
  type Write,
} from '../storage.js';

const together = limits.writes - 1;
const underWay = 4;
const tries = 20;
const restTime = 250;

/**
 * Fills an empty store by commits that all check a mark set before the first; the last one takes it
 * away, and until then no replica opens that store. What was left of a restore that was broken off
 * is cleared away first.
 * `revise` may change records, or leave them out.
 */
export async function fillStorage(
  storage: Storage,
  snapshot: Snapshot,
  { signal, progress }: SnapshotProgress,
  revise: Revise = (item) => item,
): Promise<Restored> {
  const mark = { key: restoringKey, is: await markOf(storage, signal) };
  const { header } = snapshot;
  const tally = new Tally();
  const epoch = epochAfter(header);
  const base = baseAfter(header);
  const pool = new Pool();
  for await (const items of readRevised(snapshot, revise)) {
    for (const share of shares(items)) {
      signal.throwIfAborted();
      await pool.add(put(storage, mark, share));
    }
    for (const { key, value } of items) tally.add(key, key.length + value.length);
    progress(tally);
  }
  await pool.settled();
  if ((await storage.count(everything)) !== tally.keys + 1) throw disturbed();
  await made(
    storage,
    [mark],
    [
      { delete: restoringKey },
      { put: baseKey, value: Buffer.from(String(base)) },
      { put: epochKey, value: Buffer.from(String(epoch)) },
    ],
  );
  return { header, tally, epoch, base };
}

/**
 * Sets the mark in a store that has nothing, or only what a restore left that was broken off;
 * answers its revision.
 */
async function markOf(storage: Storage, signal: AbortSignal): Promise<Revision> {
  const { entry } = await storage.get(restoringKey);
  if (!entry && (await storage.count(everything)) > 0)
    throw new Error(
      'this prefix of etcd is not empty: restore below another --etcd-prefix, or empty it with etcdctl',
    );
  const value = Buffer.from(JSON.stringify({ id: randomUUID(), time: new Date().toISOString() }));
  const set = await storage.commit(
    [{ key: restoringKey, is: entry?.revision ?? 'absent' }],
    [{ put: restoringKey, value }],
  );
  if (!set.committed) throw overtaken();
  if (entry) await clear(storage, { key: restoringKey, is: set.revision }, signal);
  if ((await storage.count(everything)) !== 1) {
    await storage.commit([{ key: restoringKey, is: set.revision }], [{ delete: restoringKey }]);
    throw disturbed();
  }
  return set.revision;
}

async function clear(storage: Storage, mark: Check, signal: AbortSignal): Promise<void> {
  for (let { start } = everything; ; ) {
    signal.throwIfAborted();
    const { entries, more } = await storage.list(
      { start, end: everything.end },
      { limit: together },
    );
    const keys = entries.map(({ key }) => key).filter((key) => key !== restoringKey);
    if (keys.length > 0)
      await made(
        storage,
        [mark],
        keys.map((key) => ({ delete: key })),
      );
    if (more === 0) return;
    start = `${entries.at(-1)!.key}!`;
  }
}

/** What fits into one commit each. */
function* shares(items: readonly SnapshotItem[]): Generator<readonly SnapshotItem[]> {
  let share: SnapshotItem[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = item.key.length + item.value.length;
    if (share.length === together || (share.length > 0 && bytes + size > limits.commitBytes)) {
      yield share;
      share = [];
      bytes = 0;
    }
    share.push(item);
    bytes += size;
  }
  if (share.length > 0) yield share;
}

async function put(storage: Storage, mark: Check, items: readonly SnapshotItem[]): Promise<void> {
  const writes = items.map(
    ({ key, value, expires }): Write => ({
      put: key,
      value,
      ...(expires !== undefined && { expires }),
    }),
  );
  await made(storage, [mark, ...items.map(({ key }): Check => ({ key, is: 'absent' }))], writes);
}

/**
 * One commit, again where etcd did not answer; one that was made and not answered has lost against
 * itself.
 */
async function made(
  storage: Storage,
  checks: readonly Check[],
  writes: readonly Write[],
): Promise<void> {
  for (let left = tries; ; left -= 1) {
    try {
      const result = await storage.commit(checks, writes);
      if (result.committed || (left < tries && (await stands(storage, writes)))) return;
      throw result.winners.has(restoringKey) ? overtaken() : disturbed();
    } catch (error) {
      if (error instanceof UnavailableError && error.full)
        throw new Error(
          'etcd has no space left: raise --quota-backend-bytes or make room, then restore again',
          { cause: error },
        );
      if (
        left === 1 ||
        !(error instanceof UnavailableError || error instanceof UnknownOutcomeError)
      )
        throw error;
      await pause(restTime);
    }
  }
}

/** Whether all of this is what the store has. */
async function stands(storage: Storage, writes: readonly Write[]): Promise<boolean> {
  const found = await Promise.all(
    writes.map(
      async (write) =>
        [write, (await storage.get('put' in write ? write.put : write.delete)).entry] as const,
    ),
  );
  return found.every(([write, entry]) =>
    'put' in write ? same(write, entry) : entry === undefined,
  );
}

const same = (write: { value: Buffer; expires?: number }, entry: Entry | undefined): boolean =>
  entry !== undefined && entry.value.equals(write.value) && entry.expires === write.expires;

const overtaken = (): Error =>
  new Error('another restore has begun below this prefix of etcd: this one has ended');
const disturbed = (): Error =>
  new Error(
    'something else writes below this prefix of etcd: stop every replica, then restore again',
  );

/** So much at once and no more. */
class Pool {
  readonly #running = new Set<Promise<void>>();
  #failure: unknown;

  async add(work: Promise<void>): Promise<void> {
    const settling = work
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => this.#running.delete(settling));
    this.#running.add(settling);
    while (this.#running.size >= underWay) await Promise.race(this.#running);
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
