import { allKeys, epochKey } from '../snapshot/layout.js';
import type { SnapshotSource } from '../snapshot/source.js';
import type { Entry } from '../storage.js';
import { openDatabase } from './database.js';
import { hasStore, InUseError } from './directory.js';
import { versionsAt } from './reader.js';
import { decodeRecord } from './row-encoding.js';
import { readFromServer } from './snapshot-socket.js';
import { StoreState } from './state.js';

/**
 * Reads the store in a directory at its latest revision. If another process has it open, that
 * process sends it.
 */
export async function readEmbedded<T>(
  directory: string,
  work: (source: SnapshotSource) => Promise<T>,
): Promise<T> {
  if (!hasStore(directory)) throw new Error(`there is no store in ${directory}`);
  const db = await openDatabase(directory, { mustExist: true }).catch((error: unknown) => {
    if (error instanceof InUseError) return undefined;
    throw error;
  });
  if (!db) return readFromServer(directory, work);
  try {
    return await withSource(await StoreState.load(db), work);
  } finally {
    await db.close();
  }
}

/** Runs `work` with a snapshot of an open store, from which nothing is compacted. */
export async function withSource<T>(
  state: StoreState,
  work: (source: SnapshotSource) => Promise<T>,
): Promise<T> {
  const { db, revision } = state;
  const snapshot = db.snapshot();
  async function* pages(): AsyncGenerator<readonly Entry[]> {
    for await (const versions of versionsAt(db, snapshot, allKeys, revision, Infinity)) {
      yield versions.map(decodeRecord);
    }
  }
  try {
    const epoch = Number(state.read(epochKey)?.value.toString() ?? 0);
    return await work({ store: 'embedded', revision, epoch, pages });
  } finally {
    await snapshot.close();
  }
}
