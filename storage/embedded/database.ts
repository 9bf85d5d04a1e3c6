import { ClassicLevel } from 'classic-level';
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { UnavailableError, type Revision, type Size } from '../storage.js';
import { endOfLog, logKey, logRevision, systemKey } from './row-encoding.js';
import { freeBytes } from './space.js';

/** The LevelDB database of a store: its rows are in `encoding.ts`. */
export type Database = ClassicLevel<string, Buffer>;

/** The format that this release writes, and the only one it reads. */
const formatVersion = 4;
/** How many bytes of rows are in memory, and in LevelDB's log, before they are written to a table. */
export const defaultWriteBufferBytes = 16 << 20;
const cacheBytes = 8 << 20;

/** Options of {@link openDatabase}. */
interface DatabaseOptions {
  /** How many bytes of rows are in memory before they are written to a table. */
  readonly writeBufferBytes?: number;
  /** Refuses a directory without a store. */
  readonly mustExist?: boolean;
}

/** The error of a store without space. */
export const noSpace = (cause?: Error): UnavailableError =>
  new UnavailableError('no space is left for the store', { full: true, ...(cause && { cause }) });

/** Returns whether a directory has a store, of this release or an earlier one. */
export const hasStore = (directory: string): boolean =>
  existsSync(join(directory, 'CURRENT')) || hasFormerStore(directory);

const hasFormerStore = (directory: string): boolean => existsSync(join(directory, 'store.mdb'));

/** Another process uses the directory, or this one has it open already. */
export class InUseError extends Error {
  override readonly name = 'InUseError';
}

/**
 * The directories that this process has open. LevelDB's own check of this loses its lock on the
 * directory.
 */
const openDirectories = new Set<string>();

/**
 * Opens or creates the database in a directory, for this process only. Throws InUseError if another
 * process uses it, Error if it is damaged or another release wrote it, and UnavailableError if there
 * is no space.
 */
export async function openDatabase(
  directory: string,
  options: DatabaseOptions = {},
): Promise<Database> {
  if (hasFormerStore(directory))
    throw new Error(
      `the store in ${directory} was written by an earlier release: save a snapshot of it with that ` +
        'release, and restore it into another folder with this one',
    );
  const path = realpathSync(directory);
  if (openDirectories.has(path)) throw inUseError(directory, process.pid);
  openDirectories.add(path);
  try {
    const db = await open(directory, options);
    db.once('closed', () => openDirectories.delete(path));
    return db;
  } catch (error) {
    openDirectories.delete(path);
    throw error;
  }
}

async function open(
  directory: string,
  { writeBufferBytes = defaultWriteBufferBytes, mustExist = false }: DatabaseOptions,
): Promise<Database> {
  if (!hasStore(directory) && freeBytes(directory) < writeBufferBytes) throw noSpace();
  const db: Database = new ClassicLevel(directory, {
    keyEncoding: 'utf8',
    valueEncoding: 'buffer',
    createIfMissing: !mustExist,
    writeBufferSize: writeBufferBytes,
    cacheSize: cacheBytes,
  });
  await db.open().catch((error: Error) => {
    throw openingError(directory, error);
  });
  try {
    await checkFormat(db, directory);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** Describes why LevelDB does not open a directory. */
function openingError(directory: string, { cause }: Error): Error {
  const { message, code } = cause as Error & { code?: string };
  if (code === 'LEVEL_LOCKED') return inUseError(directory, lockHolder(directory));
  if (/No space left on device|Disk quota exceeded/.test(message)) return noSpace(cause as Error);
  return new Error(`the store in ${directory} cannot be opened: ${message}`, { cause });
}

const inUseError = (directory: string, pid: number | undefined): InUseError =>
  new InUseError(
    `${directory} is in use by process ${pid ?? 'unknown'}: one process at a time may open an embedded store`,
  );

/** Returns the process that holds LevelDB's lock, if this machine says so (proc_locks(5)). */
function lockHolder(directory: string): number | undefined {
  try {
    const { ino } = statSync(join(directory, 'LOCK'));
    const locks = readFileSync('/proc/locks', 'latin1').split('\n');
    const [holder] = locks
      .map((line) => line.split(' ').filter(Boolean))
      .filter(([, , , , , place]) => place?.endsWith(`:${ino}`));
    return holder && Number(holder[4]);
  } catch {
    return undefined;
  }
}

async function checkFormat(db: Database, directory: string): Promise<void> {
  const storedVersion = readNumber(db, 'format');
  if (storedVersion === undefined)
    return db.put(systemKey('format'), Buffer.from(String(formatVersion)), { sync: true });
  if (storedVersion !== formatVersion)
    throw new Error(
      `the store in ${directory} has format ${storedVersion}, written by another release; this one ` +
        `knows format ${formatVersion}`,
    );
}

/** Returns the bytes of the files of a database, and of its tables among them. */
export async function sizeOf(db: Database): Promise<Size> {
  const files = await readdir(db.location);
  const sizes = await Promise.all(files.map((file) => sizeOfFile(join(db.location, file))));
  return {
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    inUse: await db.approximateSize('', '~'),
  };
}

/** LevelDB may remove a file in between. */
const sizeOfFile = async (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

/** Reads a number from the system table. */
export function readNumber(db: Database, name: string): number | undefined {
  const text = db.getSync(systemKey(name))?.toString();
  return text === undefined ? undefined : Number(text);
}

/**
 * Returns the first and the last revision of the log, or undefined for an empty one. Throws if one
 * after `oldest` is missing: LevelDB leaves out what it cannot read of its own log.
 */
export async function readLogBounds(
  db: Database,
  oldest: Revision,
): Promise<{ first: Revision; last: Revision } | undefined> {
  let first: Revision | undefined;
  let last: Revision = 0;
  for await (const key of db.keys({ gte: logKey(0), lt: endOfLog })) {
    const revision = logRevision(key);
    const expected = Math.max(last, oldest) + 1;
    if (revision > expected)
      throw new Error(
        `the store in ${db.location} is damaged: its log has no revision ${expected}`,
      );
    first ??= revision;
    last = revision;
  }
  return first === undefined ? undefined : { first, last };
}
