import { join } from 'node:path';
import type { Config } from './config.js';
import { DroppedKeys, goneFrom } from './droppedkeys.js';
import type { Holdings } from './holdings.js';
import { followKeys } from './keysfile.js';
import { refuseOtherKeys } from './keysrecord.js';
import type { Keys } from './registry/keys.js';
import type { Log } from './registry/observe.js';
import type { Storage } from './storage/storage.js';

/** Where the keys are: beside the embedded store where nothing else is said. */
export const keysFileOf = ({ keysFile, store }: Config): string =>
  keysFile ?? join((store as { directory: string }).directory, 'keys.json');

/**
 * Refuses keys that are not those of the store; their file, where there is one, is followed until
 * the stop.
 */
export async function useKeys(
  keys: Keys,
  file: string | undefined,
  storage: Storage,
  log: Log,
  held: Holdings,
): Promise<void> {
  await refuseOtherKeys(storage, keys);
  const dropped = new DroppedKeys(storage, keys, log);
  held.add(() => dropped.stop());
  await dropped.start();
  if (file !== undefined)
    held.add(followKeys(file, keys, log, (before) => dropped.drop(goneFrom(before, keys.ids()))));
}
