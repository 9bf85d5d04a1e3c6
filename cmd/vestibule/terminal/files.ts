import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CommandError } from './errors.js';
import { errorMessage } from './thrown.js';

/** Returns the text of a file, or of standard input for `-`. */
export const readInput = (file: string): string => readBytes(file).toString('utf8');

/** Returns the bytes of a file, or of standard input for `-`. */
export function readBytes(file: string): Buffer {
  try {
    return readFileSync(file === '-' ? 0 : file);
  } catch (error) {
    throw new CommandError(errorMessage(error));
  }
}

/**
 * Writes a file atomically, by default readable by its owner only. Follows a symbolic link to its
 * target.
 */
export function writeFileAtomically(path: string, text: string, mode = 0o600): void {
  const file = existsSync(path) ? realpathSync(path) : resolve(path);
  makeFolder(file);
  writeFileSync(`${file}.new`, text, { mode });
  chmodSync(`${file}.new`, mode); // The mode above does not apply to a file that an earlier command left behind.
  renameSync(`${file}.new`, file);
}

/** Creates the folder of a file if it is missing, accessible by its owner only. */
export const makeFolder = (file: string): void =>
  void mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
