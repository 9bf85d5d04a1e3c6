import { chmodSync, existsSync, mkdirSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Puts a file in place whole, for its owner alone to read unless told: anyone who reads it meanwhile
 * reads the former, and a link to it stays one.
 */
export function putFile(path: string, text: string, mode = 0o600): void {
  const file = existsSync(path) ? realpathSync(path) : resolve(path);
  makeFolder(file);
  writeFileSync(`${file}.new`, text, { mode });
  chmodSync(`${file}.new`, mode); // one that a former command left behind may have had another mode
  renameSync(`${file}.new`, file);
}

/** Makes the folder of a file, for its owner alone, where there is none. */
export const makeFolder = (file: string): void =>
  void mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
