import type { Log } from '../../../observability/log.js';
import type { Storage } from '../../../storage/storage.js';
import { startBackgroundTask } from './background-task.js';
import { replicaRecords } from './replica-record.js';
import type { ReplicaVersions, StoredVersions } from './stored-versions.js';

/** Of a replica that says nothing of the versions of a group. */
const unknown: ReplicaVersions = { read: [], written: '' };

/** What the record of a replica says of versions, by group. */
export interface VersionFacts {
  readonly versions: Readonly<Record<string, ReplicaVersions>>;
}

/** Returns what the running replicas of a store say of the versions of a group. */
export const replicaVersions = async (
  storage: Storage,
  group: string,
): Promise<ReplicaVersions[]> =>
  (await replicaRecords<VersionFacts>(storage)).map(({ versions }) => versions?.[group] ?? unknown);

/**
 * Brings the objects of a group to the version of this release in the background, as soon as all
 * replicas read it, and follows a release that writes a newer one. Returns what ends it.
 */
export function startMigration(
  versions: StoredVersions,
  storage: Storage,
  log: Log,
): () => Promise<void> {
  return startBackgroundTask({
    async step(signal) {
      await versions.refresh();
      if (versions.isUniform) return;
      const replicas = await replicaVersions(storage, versions.group);
      const objects = await versions.advance(replicas, signal);
      if (objects > 0) log.info({ objects }, 'stored objects were rewritten in the newer version');
    },
    // An embedded store has no other replica that could change the version.
    isDone: () => versions.isUniform && storage.readsInProcess === true,
    onError: (error) =>
      log.error({ err: error }, 'the version of stored objects could not be checked'),
  });
}
