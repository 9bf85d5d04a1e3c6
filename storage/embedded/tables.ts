import {
  open,
  type Database,
  type DatabaseOptions,
  type RootDatabase,
  type Transaction,
} from 'lmdb';
import { join } from 'node:path';
import type { Entry, Revision } from '../storage.js';
import { Preallocator } from './preallocate.js';
import { recordEncoding } from './encoding.js';

/** The format this release writes, and the newest it can read. */
const format = 1;

/** The lmdb databases of one store; keys are strings in byte order, values Buffers. */
export interface Tables {
  readonly directory: string;
  readonly root: RootDatabase<Buffer, string>;
  readonly preallocator: Preallocator;
  /** key -> the latest entry, read without its key */
  readonly current: Database<Entry, string>;
  /** revision -> its changes */
  readonly log: Database<Buffer, number>;
  /** key and the revision that deleted it, within the history -> nothing */
  readonly tombstones: Database<Buffer, string>;
  /** expiry and key -> nothing */
  readonly expiry: Database<Buffer, string>;
  /** `format`, `oldest`: numbers in decimal */
  readonly system: Database<Buffer, string>;
}

/** What is read of them by anyone who only reads. */
export type Readable = Pick<Tables, 'directory' | 'root' | 'current' | 'log' | 'system'>;

const options = {
  noSubdir: true,
  maxDbs: 8,
  encoding: 'binary',
  overlappingSync: false,
  eventTurnBatching: false,
  cache: false,
} as const;

/** Where the databases of a folder are. */
export const pathOf = (directory: string): string => join(directory, 'store.mdb');

const tableOf = <K extends string | number>(
  root: Tables['root'],
  name: string,
): Database<Buffer, K> => root.openDB<Buffer, K>({ name, encoding: 'binary', cache: false });
const currentOf = (root: Tables['root']): Tables['current'] =>
  root.openDB<Entry, string>('current', { encoder: recordEncoding } as DatabaseOptions);

/** Opens or creates the databases in `directory`; throws when they are of a newer format. */
export function openTables(directory: string): Tables {
  const path = pathOf(directory);
  const root = open<Buffer, string>({ path, ...options });
  const tables: Tables = {
    directory,
    root,
    preallocator: new Preallocator(root, path),
    current: currentOf(root),
    log: tableOf<number>(root, 'log'),
    tombstones: tableOf<string>(root, 'gone'),
    expiry: tableOf<string>(root, 'expiry'),
    system: tableOf<string>(root, 'system'),
  };
  if (admitFormat(tables) === undefined)
    tables.system.putSync('format', Buffer.from(String(format)));
  return tables;
}

/**
 * Opens databases that another process may be writing to, to read them alone; throws when they are
 * of a newer format.
 */
export function openReadable(directory: string): Readable {
  const root = open<Buffer, string>({ path: pathOf(directory), ...options, readOnly: true });
  const tables: Readable = {
    directory,
    root,
    current: currentOf(root),
    log: tableOf<number>(root, 'log'),
    system: tableOf<string>(root, 'system'),
  };
  admitFormat(tables);
  return tables;
}

/**
 * The oldest revision that can still be read, and the latest; a restored store begins at its base,
 * and knows nothing of before.
 */
export function standingOf(
  tables: Pick<Readable, 'current' | 'log' | 'system'>,
  transaction?: Transaction,
): { oldest: Revision; revision: Revision } {
  const within = transaction && { transaction };
  const base = Number(tables.current.get('meta/base', within)?.value.toString() ?? 0);
  const oldest = Math.max(base, systemNumber(tables, 'oldest', within) ?? 1);
  const [last = oldest] = tables.log.getKeys({ reverse: true, limit: 1, ...within });
  return { oldest, revision: Math.max(last, oldest) };
}

/** A number kept in the system table. */
function systemNumber(
  { system }: Pick<Tables, 'system'>,
  name: string,
  within?: { transaction: Transaction },
): number | undefined {
  const text = system.get(name, within)?.toString();
  return text === undefined ? undefined : Number(text);
}

function admitFormat(tables: Readable): number | undefined {
  const found = systemNumber(tables, 'format');
  if (found === undefined || found <= format) return found;
  void tables.root.close();
  throw new Error(
    `the store in ${tables.directory} has format ${found}, written by a newer release; this one ` +
      `knows formats up to ${format}`,
  );
}
