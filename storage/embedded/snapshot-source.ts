import { allKeys, epochKey } from '../snapshot/layout.js';
import type { SnapshotSource } from '../snapshot/source.js';
import type { Entry } from '../storage.js';
import { openDatabase } from './database.js';
import { hasStore, InUseError } from './directory.js';
import { decodeRecord } from './row-encoding.js';
import { versionsAt } from './reader.js';
import { readFromServer } from './snapshot-socket.js';
import { StoreState } from './state.js';

const pageBytes = 4 << 20;
const pageKeys = 1000;

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
  const state = await StoreState.load(db);
  try {
    return await withSource(state, work);
  } finally {
    state.close();
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
  try {
    return await work({
      store: 'embedded',
      revision,
      epoch: Number(state.read(epochKey)?.value.toString() ?? 0),
      pages: () => pagesOf(versionsAt(db, snapshot, allKeys, revision, Infinity)),
    });
  } finally {
    await snapshot.close();
  }
}

async function* pagesOf(versions: ReturnType<typeof versionsAt>): AsyncGenerator<readonly Entry[]> {
  let entries: Entry[] = [];
  let bytes = 0;
  for await (const { key, revision, record } of versions) {
    entries.push(decodeRecord({ key, revision, record }));
    bytes += record.length;
    if (entries.length < pageKeys && bytes < pageBytes) continue;
    yield entries;
    entries = [];
    bytes = 0;
  }
  if (entries.length > 0) yield entries;
}
