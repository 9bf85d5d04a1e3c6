import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SnapshotItem } from '../snapshot/format.js';
import {
  baseKey,
  epochKey,
  type Revise,
  type SnapshotProgress,
  SnapshotStats,
} from '../snapshot/layout.js';
import { readRevised, type Snapshot } from '../snapshot/reader.js';
import { type RestoreResult, restoredBase, restoredEpoch } from '../snapshot/target.js';
import { UnavailableError } from '../storage.js';
import { type Database, noSpace, openDatabase } from './database.js';
import { hasStore, InUseError, restoreDirectory, syncDirectory } from './directory.js';
import { bytesOfRows, rowsOfChange } from './row-encoding.js';
import { Space, writeBufferFor } from './space.js';

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
  if (existsSync(draft)) await assertUnused(draft);
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  let db: Database | undefined;
  try {
    db = await openDatabase(draft);
    const pages = readRevised(snapshot, revise);
    const restored = await writeSnapshot(db, pages, snapshot, snapshotProgress);
    await db.close();
    moveToFinal(draft, directory);
    return restored;
  } catch (error) {
    await db?.close();
    rmSync(draft, { recursive: true, force: true });
    if (!(error instanceof UnavailableError)) throw error;
    throw new Error(`no space is left for ${draft}: nothing was restored`, { cause: error });
  }
}

async function assertNoStore(directory: string): Promise<void> {
  if (!hasStore(directory)) return;
  await assertUnused(directory);
  throw new Error(
    `${directory} has a store already: restore into another folder, or move this one away`,
  );
}

async function writeSnapshot(
  db: Database,
  pages: AsyncIterable<readonly SnapshotItem[]>,
  { header }: Snapshot,
  { signal, progress }: SnapshotProgress,
): Promise<RestoreResult> {
  const stats = new SnapshotStats();
  const epoch = restoredEpoch(header);
  const base = restoredBase(header);
  const space = new Space(db.location, writeBufferFor(db.location));
  for await (const items of pages) {
    signal.throwIfAborted();
    await writeRecords(db, space, items, base);
    for (const { key, value } of items) stats.add(key, key.length + value.length);
    progress(stats);
  }
  const numbers = [
    { key: baseKey, value: Buffer.from(String(base)) },
    { key: epochKey, value: Buffer.from(String(epoch)) },
  ];
  await writeRecords(db, space, numbers, base);
  return { header, stats, epoch, base };
}

/** Writes records at the base revision, without history. */
async function writeRecords(
  db: Database,
  space: Space,
  items: readonly SnapshotItem[],
  base: number,
): Promise<void> {
  const rows = items.flatMap((item) =>
    rowsOfChange({ key: item.key, entry: { ...item, revision: base } }, base),
  );
  if (!space.fits(bytesOfRows(rows), 'upkeep')) throw noSpace();
  await db.batch(rows, { sync: true });
}

/** Throws InUseError if a process has the store of a directory open. */
async function assertUnused(directory: string): Promise<void> {
  const db = await openDatabase(directory, { mustExist: true }).catch((error: unknown) => {
    if (error instanceof InUseError) throw error;
  });
  await db?.close();
}

/** Renames a complete store to its final directory. */
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
}
