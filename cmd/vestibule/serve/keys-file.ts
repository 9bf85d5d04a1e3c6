import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { followFiles } from './watch-files.js';
import { Keys, KeysFile, newKeys, type KeyIDs } from '../../../security/keyring.js';
import type { Log } from '../../../observability/log.js';
import { ExposedFile, readSecretFile } from '../options/secret-file.js';

/** Reads the keys file; throws with one sentence where it is missing or malformed. */
export const readKeys = (file: string): Keys => new Keys(read(file));

function read(file: string): KeysFile {
  if (!existsSync(file))
    throw new Error(
      `--keys-file: there is no file ${file}; make one with "vestibule keys new ${file}"`,
    );
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
    if (error instanceof ExposedFile)
      throw new Error(`--keys-file: ${error.message}`, { cause: error });
    throw new Error(
      `--keys-file: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`,
      { cause: error },
    );
  }
}

/**
 * Reads the keys again whenever the file changes, and calls `changed` with the former ids. While
 * the file is invalid, the former keys stay in use. Returns a function that stops it.
 */
export function followKeys(
  file: string,
  keys: Keys,
  log: Log,
  changed: (before: KeyIDs) => void,
): () => void {
  return followFiles(
    [file],
    () => {
      try {
        const before = keys.ids();
        if (!keys.replace(read(file))) return;
        log.info({ file }, 'the keys file has changed: its keys are in use');
        changed(before);
      } catch (error) {
        log.error(
          { err: error, file },
          'the keys file has changed and cannot be used; the former keys stay',
        );
      }
    },
    log,
  );
}

/** Writes new keys to a file that does not exist yet, readable by its owner alone. */
export const writeKeys = (file: string): void =>
  writeFileSync(file, textOf(newKeys()), { mode: 0o600, flag: 'wx' });

/**
 * How many keys of each sort a rotation adds and moves: of those that sign, one for each algorithm.
 */
const sorts = { cookies: 1, hmac: 1, signing: 2, sealing: 1 } as const;
type Sort = keyof typeof sorts;

/**
 * The steps of a rotation, each a change of the keys file that replicas take over by themselves
 * (docs/design/operations.md#keys).
 */
const steps = {
  /** New keys, last: they are known everywhere before anything is made by them. */
  add(file: KeysFile): string {
    const fresh = newKeys();
    for (const sort of Object.keys(sorts) as Sort[]) file[sort].push(...(fresh[sort] as never[]));
    file.unused = true;
    return (
      'added new keys, which nothing is signed or sealed by yet; when every replica has had them ' +
      'for ten minutes: keys use'
    );
  },
  /** The last keys come first, once. */
  use(file: KeysFile): string {
    if (file.unused === false) return 'the newest keys are in use already: nothing was changed';
    refuseSingle(
      file,
      Object.keys(sorts) as Sort[],
      'there are no others to use: first add some, with "keys add"',
    );
    for (const [sort, count] of Object.entries(sorts) as [Sort, number][])
      file[sort].unshift(...(file[sort].splice(-count) as never[]));
    file.unused = false;
    return 'the newest keys sign and seal from now on; in 90 days: keys drop';
  },
  /** The last keys go, except those that seal: what lives longest was sealed by them. */
  drop(file: KeysFile): string {
    refuseUnused(file);
    const going = (['cookies', 'hmac', 'signing'] as const).filter(
      (sort) => file[sort].length > sorts[sort],
    );
    if (going.length === 0) throw new Error('cannot drop the only key of each type');
    for (const sort of going) file[sort].splice(-sorts[sort]);
    return (
      'the oldest keys are gone: what they signed is refused; 400 days after they were last ' +
      'used: keys drop-sealing'
    );
  },
  /** The last sealing key goes. */
  'drop-sealing'(file: KeysFile): string {
    refuseUnused(file);
    refuseSingle(file, ['sealing'], 'there is one sealing key: it cannot go');
    file.sealing.pop();
    return 'the oldest sealing key is gone: what it sealed does not open any more';
  },
} as const;

function refuseSingle(file: KeysFile, wanted: readonly Sort[], why: string): void {
  if (wanted.some((sort) => file[sort].length <= sorts[sort])) throw new Error(why);
}

/** The last keys are the oldest only once the newest have come first. */
function refuseUnused(file: KeysFile): void {
  if (file.unused) throw new Error('the newest keys are not active yet: run "keys use" first');
}

/** Whether a word is a step of a rotation. */
export const isStep = (word: string | undefined): word is keyof typeof steps =>
  word !== undefined && Object.hasOwn(steps, word);

/**
 * Takes one step of a rotation: the file is replaced whole. Answers what was done, and what is
 * next.
 */
export function rotate(file: string, step: keyof typeof steps): string {
  const keys = read(file);
  const before = textOf(keys);
  const told = steps[step](keys);
  if (textOf(keys) === before) return told;
  const next = `${file}.new`;
  try {
    writeFileSync(next, textOf(keys), { mode: 0o600, flag: 'wx' });
    renameSync(next, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') rmSync(next, { force: true });
    throw error;
  }
  return told;
}

const textOf = (keys: KeysFile): string => `${JSON.stringify(keys, null, 2)}\n`;

/** The keys of an embedded store: made beside it at the first start. */
export function ensureKeys(file: string): Keys {
  if (!existsSync(file)) writeKeys(file);
  return readKeys(file);
}
