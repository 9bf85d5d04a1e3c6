import { CompactedError, type Entry, type Revision, type Storage, startAfter } from '../storage.js';
import { allKeys, epochKey } from './layout.js';

/** A store at one revision, to be read once from beginning to end. */
export interface SnapshotSource {
  readonly store: 'embedded' | 'etcd';
  readonly revision: Revision;
  readonly epoch: number;
  /** Yields all entries in key order, page by page. */
  pages(): AsyncIterable<readonly Entry[]>;
}

const pageBytes = 4 << 20;
const maxPageKeys = 2000;

/**
 * Returns the store at its latest revision, read page by page from its history. Reading throws if
 * that revision is compacted.
 */
export async function snapshotSource(
  storage: Storage,
  store: SnapshotSource['store'],
): Promise<SnapshotSource> {
  const {
    entries: [epoch],
    revision,
  } = await storage.list({ start: epochKey, end: `${epochKey}!` });
  return {
    store,
    revision,
    epoch: epoch ? Number(epoch.value.toString()) : 0,
    pages: () => readPages(storage, revision),
  };
}

async function* readPages(storage: Storage, revision: Revision): AsyncGenerator<readonly Entry[]> {
  let limit = 100;
  for (let { start } = allKeys; ; ) {
    const { entries, more } = await storage
      .list({ start, end: allKeys.end }, { limit, at: revision })
      .catch((error: unknown) => {
        throw error instanceof CompactedError ? compactedDuringRead() : error;
      });
    if (entries.length > 0) yield entries;
    if (more === 0) return;
    start = startAfter(entries);
    limit = Math.max(1, Math.min(maxPageKeys, Math.floor(pageBytes / meanSize(entries))));
  }
}

const meanSize = (entries: readonly Entry[]): number =>
  entries.reduce((sum, { key, value }) => sum + key.length + value.length, 0) / entries.length;

const compactedDuringRead = (): Error =>
  new Error(
    'the revision was compacted before all of it was read: serve with a longer ' +
      '--etcd-compaction-interval, or save with etcdctl',
  );
