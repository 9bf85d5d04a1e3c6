import type { Config } from '../options/config.js';
import type { DisposableStack } from './disposables.js';
import { refuseOtherKeys } from './keys-record.js';
import { ClockSkew } from './clock-skew.js';
import type { Keys } from '../../../security/keyring.js';
import type { Log } from '../../../observability/log.js';
import type { Storage } from '../../../storage/storage.js';

/**
 * The clocks of other replicas, and whether they have these keys: there are none beside an embedded
 * store.
 */
export async function followClocks(
  { store }: Config,
  storage: Storage,
  keys: Keys,
  log: Log,
  held: DisposableStack,
): Promise<ClockSkew | undefined> {
  if (store.type !== 'etcd') return undefined;
  const clocks = new ClockSkew(storage, log, { keys: () => keys.ids() });
  held.add(() => clocks.stop());
  clocks.start();
  await clocks.written();
  await refuseOtherKeys(storage, keys); // of two that start at the same time, one at least reads what the other wrote
  return clocks;
}
