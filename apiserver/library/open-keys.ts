import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Keys, KeysFile, newKeys } from '../../security/keyring.js';

/**
 * Returns the keys in a file, which seal continue tokens and outbox rows. Creates the file, readable
 * by its owner only, if there is none. Servers that share a store need the same keys.
 */
export function openKeys(file: string): Keys {
  if (!existsSync(file)) {
    writeFileSync(file, `${JSON.stringify(newKeys(), null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  }
  return new Keys(KeysFile.parse(JSON.parse(readFileSync(file, 'utf8'))));
}
