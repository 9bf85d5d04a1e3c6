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

/** The format that this release writes, and the newest one it reads. */
const formatVersion = 1;

/** The lmdb databases of one store; keys are strings in byte order, values are Buffers. */
export interface Tables {
  readonly directory: string;
  readonly root: RootDatabase<Buffer, string>;
  readonly preallocator: Preallocator;
  /** key -> the latest entry, stored without its key */
  readonly current: Database<Entry, string>;
  /** revision -> its changes */
  readonly log: Database<Buffer, number>;
  /** key and revision of a deletion within the history -> nothing */
  readonly tombstones: Database<Buffer, string>;
  /** expiry and key -> nothing */
  readonly expiry: Database<Buffer, string>;
  /** `format`, `oldest`: decimal numbers */
  readonly system: Database<Buffer, string>;
}

/** The databases that a reader uses. */
export type ReadonlyTables = Pick<Tables, 'directory' | 'root' | 'current' | 'log' | 'system'>;

const options = {
  noSubdir: true,
  maxDbs: 8,
  encoding: 'binary',
  overlappingSync: false,
  eventTurnBatching: false,
  cache: false,
} as const;

/** Returns the path of the database file in a directory. */
export const databasePath = (directory: string): string => join(directory, 'store.mdb');

const openTable = <K extends string | number>(
  root: Tables['root'],
  name: string,
): Database<Buffer, K> => root.openDB<Buffer, K>({ name, encoding: 'binary', cache: false });
const openCurrent = (root: Tables['root']): Tables['current'] =>
  root.openDB<Entry, string>('current', { encoder: recordEncoding } as DatabaseOptions);

/** Opens or creates the databases in `directory`; throws if their format is newer. */
export function openTables(directory: string): Tables {
  const path = databasePath(directory);
  const root = open<Buffer, string>({ path, ...options });
  const tables: Tables = {
    directory,
    root,
    preallocator: new Preallocator(root, path),
    current: openCurrent(root),
    log: openTable<number>(root, 'log'),
    tombstones: openTable<string>(root, 'gone'),
    expiry: openTable<string>(root, 'expiry'),
    system: openTable<string>(root, 'system'),
  };
  if (checkFormat(tables) === undefined)
    tables.system.putSync('format', Buffer.from(String(formatVersion)));
  return tables;
}

/**
 * Opens databases read-only while another process may write to them; throws if their format is
 * newer.
 */
export function openReadable(directory: string): ReadonlyTables {
  const root = open<Buffer, string>({ path: databasePath(directory), ...options, readOnly: true });
  const tables: ReadonlyTables = {
    directory,
    root,
    current: openCurrent(root),
    log: openTable<number>(root, 'log'),
    system: openTable<string>(root, 'system'),
  };
  checkFormat(tables);
  return tables;
}

/**
 * Returns the oldest readable and the latest revision. A restored store starts at its base without
 * earlier history.
 */
export function readRevisions(
  tables: Pick<ReadonlyTables, 'current' | 'log' | 'system'>,
  transaction?: Transaction,
): { oldest: Revision; revision: Revision } {
  const within = transaction && { transaction };
  const base = Number(tables.current.get('meta/base', within)?.value.toString() ?? 0);
  const oldest = Math.max(base, systemNumber(tables, 'oldest', within) ?? 1);
  const [last = oldest] = tables.log.getKeys({ reverse: true, limit: 1, ...within });
  return { oldest, revision: Math.max(last, oldest) };
}

/** Reads a number from the system table. */
function systemNumber(
  { system }: Pick<Tables, 'system'>,
  name: string,
  within?: { transaction: Transaction },
): number | undefined {
  const text = system.get(name, within)?.toString();
  return text === undefined ? undefined : Number(text);
}

function checkFormat(tables: ReadonlyTables): number | undefined {
  const storedVersion = systemNumber(tables, 'format');
  if (storedVersion === undefined || storedVersion <= formatVersion) return storedVersion;
  void tables.root.close();
  throw new Error(
    `the store in ${tables.directory} has format ${storedVersion}, written by a newer release; this one ` +
      `knows formats up to ${formatVersion}`,
  );
}
