import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  baseKey,
  epochKey,
  SnapshotStats,
  type Revise,
  type SnapshotProgress,
} from '../snapshot/layout.js';
import { UnavailableError } from '../storage.js';
import type { SnapshotItem } from '../snapshot/format.js';
import { readRevised, type Snapshot } from '../snapshot/reader.js';
import { restoredBase, restoredEpoch, type RestoreResult } from '../snapshot/target.js';
import { restoreDirectory } from './interrupted-restore.js';
import { acquireLock } from './lock.js';
import { expiryKey } from './encoding.js';
import { sparedBytes } from './space.js';
import { writeTransaction } from './transaction.js';
import { openTables, databasePath, type Tables } from './tables.js';
import { syncDirectory } from './sync-directory.js';

const emptyValue = Buffer.alloc(1);

/**
 * Restores a snapshot into a directory without a store. Writes to a temporary directory and renames
 * it when everything is on disk. `revise` may change or omit records. Throws if a store exists, and
 * says whether it is in use.
 */
export async function restoreEmbedded(
  directory: string,
  snapshot: Snapshot,
  snapshotProgress: SnapshotProgress,
  revise: Revise = (item) => item,
): Promise<RestoreResult> {
  await assertNoStore(directory);
  const draft = restoreDirectory(directory);
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  const unlock = await acquireLock(draft);
  try {
    removeIncomplete(draft);
    const restored = await writeSnapshot(
      draft,
      readRevised(snapshot, revise),
      snapshot,
      snapshotProgress,
    );
    moveToFinal(draft, directory);
    return restored;
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  } finally {
    unlock();
  }
}

async function assertNoStore(directory: string): Promise<void> {
  if (!existsSync(databasePath(directory))) return;
  (await acquireLock(directory))();
  throw new Error(
    `${directory} has a store already: restore into another folder, or move this one away`,
  );
}

/** Removes what an interrupted restore left behind. */
function removeIncomplete(draft: string): void {
  for (const file of [databasePath(draft), `${databasePath(draft)}-lock`])
    rmSync(file, { force: true });
}

async function writeSnapshot(
  draft: string,
  pages: AsyncIterable<readonly SnapshotItem[]>,
  { header }: Snapshot,
  { signal, progress }: SnapshotProgress,
): Promise<RestoreResult> {
  const stats = new SnapshotStats();
  const epoch = restoredEpoch(header);
  const base = restoredBase(header);
  const tables = openTables(draft);
  try {
    for await (const items of pages) {
      signal.throwIfAborted();
      await writeRecords(tables, items, base);
      for (const { key, value } of items) stats.add(key, key.length + value.length);
      progress(stats);
    }
    await writeRecords(
      tables,
      [
        { key: baseKey, value: Buffer.from(String(base)) },
        { key: epochKey, value: Buffer.from(String(epoch)) },
      ],
      base,
    );
  } finally {
    await tables.root.close();
    tables.space.close();
  }
  syncDirectory(draft);
  return { header, stats, epoch, base };
}

/** Writes records in one transaction, all at the base revision, without history. */
async function writeRecords(
  tables: Tables,
  items: readonly SnapshotItem[],
  base: number,
): Promise<void> {
  const { current, expiry, directory } = tables;
  const bytes = items.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
  try {
    await writeTransaction(tables, 3 * bytes, sparedBytes.upkeep, () => {
      for (const item of items) {
        void current.put(item.key, { ...item, revision: base });
        if (item.expires !== undefined)
          void expiry.put(expiryKey(item.expires, item.key), emptyValue);
      }
    });
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    throw new Error(`no space is left for ${directory}: nothing was restored`, { cause: error });
  }
}

/** Renames a complete store, with its lock, to its final directory. */
function moveToFinal(draft: string, directory: string): void {
  try {
    renameSync(draft, directory);
  } catch (error) {
    throw ['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')
      ? new Error(
          `${directory} is no longer empty: another process wrote to it; nothing was restored`,
        )
      : error;
  }
  syncDirectory(dirname(directory));
  rmSync(join(directory, 'lock'), { force: true });
}
