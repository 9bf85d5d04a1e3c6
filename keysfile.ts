import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Keys, KeysFile, newKeys } from './registry/keys.js';

/** Reads the keys file; throws with one sentence where it is missing or malformed. */
export function readKeys(file: string): Keys {
  if (!existsSync(file)) throw new Error(`--keys-file: there is no file ${file}; make one with "vestibule keys new ${file}"`);
  let parsed;
  try { parsed = KeysFile.parse(JSON.parse(readFileSync(file, 'utf8'))) } catch { throw new Error(`--keys-file: ${file} is not a keys file; make one with "vestibule keys new FILE"`) }
  return new Keys(parsed);
}

/** Writes new keys to a file that does not exist yet, readable by its owner alone. */
export const writeKeys = (file: string): void => writeFileSync(file, `${JSON.stringify(newKeys(), null, 2)}\n`, { mode: 0o600, flag: 'wx' });

/** The keys of an embedded store: made beside it at the first start. */
export function ensureKeys(file: string): Keys {
  if (!existsSync(file)) writeKeys(file);
  return readKeys(file);
}
