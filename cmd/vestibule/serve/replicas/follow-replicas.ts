import type { Log } from '../../../../observability/log.js';
import { startReplicaRecord } from '../../../../registry/store/replicas/replica-record.js';
import type { StoredVersions } from '../../../../registry/store/replicas/stored-versions.js';
import {
  startMigration,
  type VersionFacts,
} from '../../../../registry/store/replicas/version-migration.js';
import type { DisposableStack } from '../../../../security/disposable-stack.js';
import type { Keys } from '../../../../security/keyring.js';
import type { Storage } from '../../../../storage/storage.js';
import { type KeyFacts, requireStoreKeys } from './keys-record.js';

/** What the replicas of a store have in common. */
interface SharedStore {
  readonly storage: Storage;
  readonly storedVersions: StoredVersions;
}

/**
 * Starts comparing keys and versions with other replicas, which an embedded store does not have, and
 * bringing stored objects to the newest version.
 */
export async function followReplicas(
  { storage, storedVersions }: SharedStore,
  keys: Keys,
  log: Log,
  disposables: DisposableStack,
): Promise<void> {
  if (!storage.readsInProcess) {
    const { group } = storedVersions;
    const facts = (): KeyFacts & VersionFacts => ({
      keys: keys.ids(),
      versions: { [group]: storedVersions.own },
    });
    disposables.add(await startReplicaRecord(storage, facts));
    await requireStoreKeys(storage, keys); // of two replicas that start together, at least one reads what the other wrote
  }
  disposables.add(startMigration(storedVersions, storage, log));
}
