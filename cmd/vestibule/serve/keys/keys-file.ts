import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Log } from '../../../../observability/log.js';
import { entriesOf, keysOf } from '../../../../registry/schema/typed-entries.js';
import { type KeyIDs, Keys, KeysFile, newKeys } from '../../../../security/keyring.js';
import { ExposedFile, readSecretFile } from '../../options/secret-file.js';
import { errorCode } from '../../terminal/thrown.js';
import { reloadFiles } from '../watch-files.js';

/** Reads the keys file. Throws with one sentence if it is missing or malformed. */
export const readKeys = (file: string): Keys => new Keys(readKeysFile(file));

function readKeysFile(file: string): KeysFile {
  if (!existsSync(file)) {
    throw new Error(
      `--keys-file: there is no file ${file}; make one with "vestibule keys new ${file}"`,
    );
  }
  const text = readSecret(file);
  try {
    return KeysFile.parse(JSON.parse(text));
  } catch {
    throw new Error(
      `--keys-file: ${file} is not a keys file; make one with "vestibule keys new FILE"`,
    );
  }
}

function readSecret(file: string): string {
  try {
    return readSecretFile(file);
  } catch (error) {
    if (error instanceof ExposedFile) {
      throw new Error(`--keys-file: ${error.message}`, { cause: error });
    }
    throw new Error(`--keys-file: ${file} cannot be read (${errorCode(error)})`, { cause: error });
  }
}

/**
 * Reads the keys again whenever the file changes, and calls `onChange` with the former ids. While
 * the file is invalid, the former keys stay in use. Returns a function that stops it.
 */
export function followKeys(
  file: string,
  keys: Keys,
  log: Log,
  onChange: (before: KeyIDs) => void,
): () => void {
  const messages = {
    reloaded: 'reloaded the keys file',
    failed: 'could not reload the keys file; the former keys stay in use',
  };
  const reload = (): boolean => {
    const before = keys.ids();
    const isChanged = keys.replace(readKeysFile(file));
    if (isChanged) onChange(before);
    return isChanged;
  };
  return reloadFiles([file], messages, reload, log);
}

/** Writes new keys to a file that does not exist yet, readable by its owner only. */
export const writeNewKeys = (file: string): void =>
  writeFileSync(file, serialize(newKeys()), { mode: 0o600, flag: 'wx' });

/**
 * The number of keys of each type that a rotation adds and moves: for signing, one for each
 * algorithm.
 */
const rotatedCounts = { cookies: 1, hmac: 1, signing: 2, sealing: 1 } as const;
type KeyType = keyof typeof rotatedCounts;

/**
 * The steps of a rotation. Each changes the keys file, and replicas reload it
 * (docs/design/operations.md#keys).
 */
const rotationSteps = {
  /** Appends new keys, so that every replica knows them before one of them is used. */
  add(file: KeysFile): string {
    const added = newKeys();
    for (const sort of keysOf(rotatedCounts)) file[sort].push(...(added[sort] as never[]));
    file.unused = true;
    return (
      'added new keys, not active yet; when every replica has had them for ten minutes, run ' +
      '"keys use"'
    );
  },
  /** Moves the last keys to the front, once. */
  use(file: KeysFile): string {
    if (file.unused === false) return 'the newest keys are already active: nothing changed';
    requireSeveral(file, keysOf(rotatedCounts), 'there are no newer keys: run "keys add" first');
    for (const [sort, count] of entriesOf(rotatedCounts)) {
      file[sort].unshift(...(file[sort].splice(-count) as never[]));
    }
    file.unused = false;
    return 'the newest keys are active; in 90 days, run "keys drop"';
  },
  /** Removes the last keys, except sealing keys: the longest-lived values are sealed with those. */
  drop(file: KeysFile): string {
    requireActiveKeys(file);
    const droppable = (['cookies', 'hmac', 'signing'] as const).filter(
      (sort) => file[sort].length > rotatedCounts[sort],
    );
    if (droppable.length === 0) throw new Error('cannot drop the only key of each type');
    for (const sort of droppable) file[sort].splice(-rotatedCounts[sort]);
    return (
      'dropped the oldest keys; signatures by them are now invalid; 400 days after their ' +
      'last use, run "keys drop-sealing"'
    );
  },
  /** Removes the last sealing key. */
  'drop-sealing'(file: KeysFile): string {
    requireActiveKeys(file);
    requireSeveral(file, ['sealing'], 'cannot drop the only sealing key');
    file.sealing.pop();
    return 'dropped the oldest sealing key; values sealed with it can no longer be opened';
  },
} as const;

function requireSeveral(file: KeysFile, wanted: readonly KeyType[], why: string): void {
  if (wanted.some((sort) => file[sort].length <= rotatedCounts[sort])) throw new Error(why);
}

/** Throws if the newest keys are still last: then the last keys are not the oldest. */
function requireActiveKeys(file: KeysFile): void {
  if (file.unused) throw new Error('the newest keys are not active yet: run "keys use" first');
}

/** Reports whether a word names a step of a rotation. */
export const isStep = (word: string | undefined): word is keyof typeof rotationSteps =>
  word !== undefined && Object.hasOwn(rotationSteps, word);

/**
 * Applies one step of a rotation and replaces the file atomically. Returns a sentence about the
 * change and the next step.
 */
export function rotate(file: string, step: keyof typeof rotationSteps): string {
  const keys = readKeysFile(file);
  const before = serialize(keys);
  const message = rotationSteps[step](keys);
  if (serialize(keys) === before) return message;
  const temporary = `${file}.new`;
  try {
    writeFileSync(temporary, serialize(keys), { mode: 0o600, flag: 'wx' });
    renameSync(temporary, file);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') rmSync(temporary, { force: true });
    throw error;
  }
  return message;
}

const serialize = (keys: KeysFile): string => `${JSON.stringify(keys, null, 2)}\n`;

/** Returns the keys of an embedded store. The first start creates them. */
export function ensureKeys(file: string): Keys {
  if (!existsSync(file)) writeNewKeys(file);
  return readKeys(file);
}
