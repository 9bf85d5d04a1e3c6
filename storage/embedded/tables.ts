import {
  open,
  type Database,
  type DatabaseOptions,
  type RangeOptions,
  type RootDatabase,
  type Transaction,
} from 'lmdb';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { baseKey } from '../snapshot/layout.js';
import type { Batch, Entry, Revision } from '../storage.js';
import { freeBytes, sparedBytes, Space } from './space.js';
import { noSpace } from './transaction.js';
import { decodeLog, recordEncoding } from './encoding.js';

/** The format that this release writes, and the newest one it reads. */
const formatVersion = 2;
/** The database that had the log in format 1. */
const formerLogName = 'log';
const copyBatchSize = 64;

/**
 * The lmdb databases of one store; keys are strings in byte order, values are Buffers. A commit
 * writes only the log; the other tables follow in larger transactions
 * (docs/design/storage.md#tables-of-the-embedded-store).
 */
export interface Tables {
  readonly directory: string;
  readonly root: RootDatabase<Buffer, Revision>;
  readonly space: Space;
  /** key -> the entry at revision `applied`, stored without its key */
  readonly current: Database<Entry, string>;
  /** revision -> its changes; the root database, in which lmdb also has the names of the others */
  readonly log: Database<Buffer, Revision>;
  /** key and revision of a deletion within the history -> nothing */
  readonly tombstones: Database<Buffer, string>;
  /** expiry and key -> nothing */
  readonly expiry: Database<Buffer, string>;
  /** `format`, `oldest`, `applied` (the last revision that the other tables have): decimal numbers */
  readonly system: Database<Buffer, string>;
}

/** Entries at the revision being read, for keys where the tables may have something else. */
export type ChangedEntries = ReadonlyMap<string, Entry | undefined>;

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

/** A key of the root database above every revision, below every name of a database. */
const endOfLog = Number.MAX_SAFE_INTEGER;

const openTable = <K extends string | number = string>(
  root: Tables['root'],
  name: string,
): Database<Buffer, K> => root.openDB<Buffer, K>({ name, encoding: 'binary', cache: false });
const openCurrent = (root: Tables['root']): Tables['current'] =>
  root.openDB<Entry, string>('current', { encoder: recordEncoding } as DatabaseOptions);

/**
 * Opens or creates the databases in `directory`, and converts those of an earlier format. Throws if
 * their format is newer, and UnavailableError if there is no space for this.
 */
export function openTables(directory: string): Tables {
  const path = databasePath(directory);
  if (!existsSync(path) && freeBytes(directory) < sparedBytes.values) throw noSpace();
  const root = open<Buffer, Revision>({ path, ...options });
  const current = openCurrent(root);
  const tombstones = openTable(root, 'gone');
  const expiry = openTable(root, 'expiry');
  const system = openTable(root, 'system');
  const space = new Space(root, [current, tombstones, expiry, system], directory, path);
  const tables = { directory, root, space, current, log: root, tombstones, expiry, system };
  const storedVersion = checkFormat(tables);
  try {
    if (storedVersion !== formatVersion) convert(tables, storedVersion);
    return tables;
  } catch (error) {
    void root.close();
    space.close();
    throw error;
  }
}

/**
 * Converts a store of an earlier format, or gives a new one its numbers, in a last transaction. Until
 * then a store of format 1 is as it was, and its conversion may be repeated.
 */
function convert(tables: Tables, storedVersion: number | undefined): void {
  const { root, log, system } = tables;
  const formerLog = storedVersion === 1 ? openTable<Revision>(root, formerLogName) : undefined;
  if (formerLog) copyLog(formerLog, tables);
  root.transactionSync(() => {
    system.putSync('applied', Buffer.from(String(lastRevision(log) ?? 0)));
    system.putSync('format', Buffer.from(String(formatVersion)));
    formerLog?.dropSync();
  });
}

function copyLog(from: Tables['log'], { root, space }: Tables): void {
  for (let start: Revision | undefined = 0; start !== undefined; ) {
    const rows: readonly { key: Revision; value: Buffer }[] = [
      ...from.getRange({ start, limit: copyBatchSize }),
    ];
    const bytes = rows.reduce((sum, { value }) => sum + value.length, 0);
    if (!space.fits(2 * bytes, sparedBytes.upkeep)) throw noSpace();
    root.transactionSync(() => {
      for (const { key, value } of rows) root.putSync(key, value);
    });
    start = rows.length === copyBatchSize ? rows.at(-1)!.key + 1 : undefined;
  }
}

/**
 * Opens databases read-only while another process may write to them; throws if their format is
 * newer.
 */
export function openReadable(directory: string): ReadonlyTables {
  const root = open<Buffer, Revision>({
    path: databasePath(directory),
    ...options,
    readOnly: true,
  });
  const tables = { directory, root, current: openCurrent(root), system: openTable(root, 'system') };
  const isFormer = checkFormat(tables) === 1;
  return { ...tables, log: isFormer ? openTable<Revision>(root, formerLogName) : root };
}

/**
 * Returns the oldest readable and the latest revision. A restored store starts at its base without
 * earlier history.
 */
export function readRevisions(
  tables: Pick<ReadonlyTables, 'current' | 'log' | 'system'>,
  pending: ChangedEntries,
  transaction?: Transaction,
): { oldest: Revision; revision: Revision } {
  const within = transaction && { transaction };
  const baseEntry = pending.get(baseKey) ?? tables.current.get(baseKey, within);
  const base = Number(baseEntry?.value.toString() ?? 0);
  const oldest = Math.max(base, systemNumber(tables, 'oldest', within) ?? 1);
  return { oldest, revision: Math.max(lastRevision(tables.log, within) ?? 0, oldest) };
}

/** Returns the batches of the log that the other tables do not have yet. */
export function readPending(
  tables: Pick<ReadonlyTables, 'log' | 'system'>,
  transaction?: Transaction,
): Batch[] {
  const within = transaction && { transaction };
  const applied = systemNumber(tables, 'applied', within) ?? endOfLog;
  return readBatches(tables.log, { start: applied + 1, end: endOfLog, ...within });
}

/** Returns the last entry of each key in some batches. */
export const latestEntries = (batches: readonly Batch[]): ChangedEntries =>
  new Map(batches.flatMap(({ changes }) => changes.map(({ key, entry }) => [key, entry] as const)));

/** Reads batches of the log, in order of revision. */
export const readBatches = (log: Tables['log'], range: RangeOptions): Batch[] =>
  [...log.getRange(range)].map(({ key: revision, value }) => ({
    revision,
    changes: [...decodeLog(value)],
  }));

function lastRevision(
  log: Tables['log'],
  within?: { transaction: Transaction },
): Revision | undefined {
  const [last] = log.getKeys({ start: endOfLog, reverse: true, limit: 1, ...within });
  return last;
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

function checkFormat(
  tables: Pick<ReadonlyTables, 'directory' | 'root' | 'system'>,
): number | undefined {
  const storedVersion = systemNumber(tables, 'format');
  if (storedVersion === undefined || storedVersion <= formatVersion) return storedVersion;
  void tables.root.close();
  throw new Error(
    `the store in ${tables.directory} has format ${storedVersion}, written by a newer release; this one ` +
      `knows formats up to ${formatVersion}`,
  );
}
