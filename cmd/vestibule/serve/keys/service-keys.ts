import { join } from 'node:path';
import type { Log } from '../../../../observability/log.js';
import type { DisposableStack } from '../../../../security/disposable-stack.js';
import type { Keys } from '../../../../security/keyring.js';
import type { Storage } from '../../../../storage/storage.js';
import type { Config } from '../../options/config.js';
import { requireStoreKeys } from '../replicas/keys-record.js';
import { DroppedKeys, droppedKeys } from './dropped-keys.js';
import { followKeys } from './keys-file.js';

/** Returns the keys file of the settings, by default beside the embedded store. */
export const keysFilePath = ({ keysFile, store }: Config): string =>
  keysFile ?? join((store as { directory: string }).directory, 'keys.json');

/** Checks that the keys belong to the store, and watches their file, if any, until the stop. */
export async function followServiceKeys(
  keys: Keys,
  file: string | undefined,
  storage: Storage,
  log: Log,
  disposables: DisposableStack,
): Promise<void> {
  await requireStoreKeys(storage, keys);
  const dropped = new DroppedKeys(storage, keys, log);
  disposables.add(() => dropped.stop());
  await dropped.start();
  if (file !== undefined) {
    disposables.add(
      followKeys(file, keys, log, (before) => dropped.drop(droppedKeys(before, keys.ids()))),
    );
  }
}
