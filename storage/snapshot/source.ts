import { CompactedError, type Entry, type Revision, type Storage } from '../storage.js';
import { epochKey, everything } from './layout.js';

/** A store as it stood at one revision, to be read once from beginning to end. */
export interface SnapshotSource {
  readonly store: 'embedded' | 'etcd';
  readonly revision: Revision;
  readonly epoch: number;
  /** All entries in order of their keys, some at a time. */
  pages(): AsyncIterable<readonly Entry[]>;
}

const pageBytes = 4 << 20;
const mostKeys = 2000;

/**
 * What a store has at its latest revision, read page by page out of its history; throws where that
 * is forgotten meanwhile.
 */
export async function sourceOf(
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
    pages: () => pagesOf(storage, revision),
  };
}

async function* pagesOf(storage: Storage, at: Revision): AsyncGenerator<readonly Entry[]> {
  let limit = 100;
  for (let { start } = everything; ; ) {
    const { entries, more } = await storage
      .list({ start, end: everything.end }, { limit, at })
      .catch((error: unknown) => {
        throw error instanceof CompactedError ? tooSlow() : error;
      });
    if (entries.length > 0) yield entries;
    if (more === 0) return;
    start = `${entries.at(-1)!.key}!`;
    limit = Math.max(1, Math.min(mostKeys, Math.floor(pageBytes / meanSize(entries))));
  }
}

const meanSize = (entries: readonly Entry[]): number =>
  entries.reduce((sum, { key, value }) => sum + key.length + value.length, 0) / entries.length;

const tooSlow = (): Error =>
  new Error(
    'the store forgot that revision before all of it was read: serve with a longer ' +
      '--etcd-compaction-interval, or save with etcdctl',
  );
