import { join } from 'node:path';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { restoreEmbedded } from '../../storage/embedded/restore.js';
import { readEmbedded } from '../../storage/embedded/snapshot-source.js';
import { openEtcd } from '../../storage/etcd/etcd.js';
import { fillStorage } from '../../storage/etcd/restore.js';
import {
  allKeys,
  isExcluded,
  type Revise,
  type SnapshotProgress,
} from '../../storage/snapshot/layout.js';
import { verifySnapshot } from '../../storage/snapshot/reader.js';
import { snapshotSource } from '../../storage/snapshot/source.js';
import type { RestoreResult } from '../../storage/snapshot/target.js';
import { type SaveResult, saveSnapshot } from '../../storage/snapshot/writer.js';
import type { Storage } from '../../storage/storage.js';

/** A place for a store of one kind, empty at first. */
export interface Site {
  readonly kind: 'embedded' | 'etcd';
  open(options?: { sweeping?: boolean }): Promise<Storage>;
  save(file: string, watcher?: SnapshotProgress): Promise<SaveResult>;
  restore(file: string, watcher?: SnapshotProgress, revise?: Revise): Promise<RestoreResult>;
}

/** Work that no one looks at and no one ends. */
export const unwatched = (): SnapshotProgress => ({
  progress: () => undefined,
  signal: new AbortController().signal,
});

/** A folder for an embedded store. */
export const embeddedSite = (folder: string): Site => ({
  kind: 'embedded',
  open: ({ sweeping } = {}) =>
    openEmbedded({
      directory: join(folder, 'store'),
      ...(sweeping && { sweepIntervalMs: 50, sweepGraceMs: 0 }),
    }),
  save: (file, watcher = unwatched()) =>
    readEmbedded(join(folder, 'store'), (source) => saveSnapshot(source, file, 'test', watcher)),
  restore: async (file, watcher = unwatched(), revise) =>
    restoreEmbedded(join(folder, 'store'), await verifySnapshot(file), watcher, revise),
});

/** A prefix of an etcd. */
export function etcdSite(endpoint: string, prefix: string): Site {
  const place = { servers: [endpoint], prefix };
  return {
    kind: 'etcd',
    open: ({ sweeping } = {}) =>
      openEtcd({ ...place, ...(sweeping && { leaseGraceMs: 0, leaseBucketMs: 500 }) }),
    save: (file, watcher = unwatched()) =>
      using(openEtcd(place), async (storage) =>
        saveSnapshot(await snapshotSource(storage, 'etcd'), file, 'test', watcher),
      ),
    restore: async (file, watcher = unwatched(), revise) => {
      const snapshot = await verifySnapshot(file);
      return using(openEtcd({ ...place, allowPartial: true }), (storage) =>
        fillStorage(storage, snapshot, watcher, revise),
      );
    },
  };
}

/** Closes a store behind the work. */
export async function using<T>(
  opening: Promise<Storage>,
  work: (storage: Storage) => Promise<T>,
): Promise<T> {
  const storage = await opening;
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}

/** What a store has but what is its own, in order: key, value, expiry. */
export async function contentOf(storage: Storage): Promise<[string, string, number | undefined][]> {
  const { entries } = await storage.list(allKeys);
  return entries
    .filter(({ key }) => !isExcluded(key))
    .map(({ key, value, expires }) => [key, value.toString('latin1'), expires]);
}
