import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  baseKey,
  epochKey,
  Tally,
  type Revise,
  type SnapshotProgress,
} from '../snapshot/layout.js';
import type { SnapshotItem } from '../snapshot/format.js';
import { readRevised, type Snapshot } from '../snapshot/reader.js';
import { baseAfter, epochAfter, type Restored } from '../snapshot/target.js';
import { draftOf } from './interrupted-restore.js';
import { acquireLock } from './lock.js';
import { expiryKey } from './encoding.js';
import { isFull } from './disk-full.js';
import { openTables, pathOf, type Tables } from './tables.js';

const nothing = Buffer.alloc(1);

/**
 * Makes a store of a snapshot in a folder that has none: beside it, and in its place only when all
 * of it is on disk. `revise` may change records, or leave them out. Throws where there is one,
 * saying whether it is in use.
 */
export async function restoreEmbedded(
  directory: string,
  snapshot: Snapshot,
  watcher: SnapshotProgress,
  revise: Revise = (item) => item,
): Promise<Restored> {
  await refuseStore(directory);
  const draft = draftOf(directory);
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  const unlock = await acquireLock(draft);
  try {
    empty(draft);
    const restored = await fill(draft, readRevised(snapshot, revise), snapshot, watcher);
    place(draft, directory);
    return restored;
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  } finally {
    unlock();
  }
}

async function refuseStore(directory: string): Promise<void> {
  if (!existsSync(pathOf(directory))) return;
  (await acquireLock(directory))();
  throw new Error(
    `${directory} has a store already: restore into another folder, or move this one away`,
  );
}

/** Clears away what a restore left that was killed. */
function empty(draft: string): void {
  for (const file of [pathOf(draft), `${pathOf(draft)}-lock`]) rmSync(file, { force: true });
}

async function fill(
  draft: string,
  pages: AsyncIterable<readonly SnapshotItem[]>,
  { header }: Snapshot,
  { signal, progress }: SnapshotProgress,
): Promise<Restored> {
  const tally = new Tally();
  const epoch = epochAfter(header);
  const base = baseAfter(header);
  const tables = openTables(draft);
  try {
    for await (const items of pages) {
      signal.throwIfAborted();
      await write(tables, items, base);
      for (const { key, value } of items) tally.add(key, key.length + value.length);
      progress(tally);
    }
    await write(
      tables,
      [
        { key: baseKey, value: Buffer.from(String(base)) },
        { key: epochKey, value: Buffer.from(String(epoch)) },
      ],
      base,
    );
  } finally {
    await tables.root.close();
    tables.preallocator.close();
  }
  sync(draft);
  return { header, tally, epoch, base };
}

/** One transaction; all of it stands at the base, and there is no history before. */
async function write(
  { root, current, expiry, directory }: Tables,
  items: readonly SnapshotItem[],
  base: number,
): Promise<void> {
  try {
    root.transactionSync(() => {
      for (const item of items) {
        current.putSync(item.key, { ...item, revision: base });
        if (item.expires !== undefined) expiry.putSync(expiryKey(item.expires, item.key), nothing);
      }
    });
  } catch (error) {
    throw (await isFull(error as Error, directory))
      ? new Error(`no space is left for ${directory}: nothing was restored`, { cause: error })
      : error;
  }
}

/** Gives a store its place, with its lock, which no one has found meanwhile. */
function place(draft: string, directory: string): void {
  try {
    renameSync(draft, directory);
  } catch (error) {
    throw ['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')
      ? new Error(
          `${directory} is not empty any more: another process wrote there; nothing was restored`,
        )
      : error;
  }
  sync(dirname(directory));
  rmSync(join(directory, 'lock'), { force: true });
}

/** Makes names in a folder as durable as what they name. */
function sync(directory: string): void {
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
