import type { Log } from '../../../../observability/log.js';
import type { DisposableStack } from '../../../../security/disposable-stack.js';
import type { Keys } from '../../../../security/keyring.js';
import type { Storage } from '../../../../storage/storage.js';
import type { Config } from '../../options/config.js';
import { ClockSkew } from './clock-skew.js';
import { requireStoreKeys } from './keys-record.js';

/**
 * Starts comparing clocks and keys with other replicas. Returns undefined for an embedded store,
 * which has one replica.
 */
export async function followClocks(
  { store }: Config,
  storage: Storage,
  keys: Keys,
  log: Log,
  disposables: DisposableStack,
): Promise<ClockSkew | undefined> {
  if (store.type !== 'etcd') return undefined;
  const clocks = new ClockSkew(storage, log, { keys: () => keys.ids() });
  disposables.add(() => clocks.stop());
  clocks.start();
  await clocks.written();
  await requireStoreKeys(storage, keys); // of two replicas that start together, at least one reads what the other wrote
  return clocks;
}
