import type { Log } from '../../../../observability/log.js';
import type { StoredVersions } from '../../../../registry/store/stored-versions.js';
import type { DisposableStack } from '../../../../security/disposable-stack.js';
import type { Keys } from '../../../../security/keyring.js';
import type { Storage } from '../../../../storage/storage.js';
import type { Config } from '../../options/config.js';
import { ClockSkew } from './clock-skew.js';
import { requireStoreKeys } from './keys-record.js';
import { startMigration } from './version-migration.js';

/** What the replicas of a store have in common. */
interface SharedStore {
  readonly storage: Storage;
  readonly storedVersions: StoredVersions;
}

/**
 * Starts comparing clocks, keys and versions with other replicas, and bringing stored objects to the
 * newest version. Returns undefined for an embedded store, which has one replica.
 */
export async function followReplicas(
  { store }: Config,
  { storage, storedVersions }: SharedStore,
  keys: Keys,
  log: Log,
  disposables: DisposableStack,
): Promise<ClockSkew | undefined> {
  if (store.type !== 'etcd') {
    startMigration(storedVersions, storage, log, disposables);
    return undefined;
  }
  const clocks = new ClockSkew(storage, log, {
    keys: () => keys.ids(),
    versions: () => storedVersions.own,
  });
  disposables.add(() => clocks.stop());
  clocks.start();
  await clocks.written();
  startMigration(storedVersions, storage, log, disposables);
  await requireStoreKeys(storage, keys); // of two replicas that start together, at least one reads what the other wrote
  return clocks;
}
