import type { Config } from './config.js';
import type { Holdings } from './holdings.js';
import { refuseOtherKeys } from './keysrecord.js';
import { Clocks } from './registry/clocks.js';
import type { Keys } from './registry/keys.js';
import type { Log } from './registry/observe.js';
import type { Storage } from './storage/storage.js';

/**
 * The clocks of other replicas, and whether they have these keys: there are none beside an embedded
 * store.
 */
export async function followClocks(
  { store }: Config,
  storage: Storage,
  keys: Keys,
  log: Log,
  held: Holdings,
): Promise<Clocks | undefined> {
  if (store.type !== 'etcd') return undefined;
  const clocks = new Clocks(storage, log, { keys: () => keys.ids() });
  held.add(() => clocks.stop());
  clocks.start();
  await clocks.written();
  await refuseOtherKeys(storage, keys); // of two that start at the same time, one at least reads what the other wrote
  return clocks;
}
