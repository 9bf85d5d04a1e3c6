import { realpathSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { type Revision, type Size, UnavailableError } from '../storage.js';
import { hasStore, InUseError, lockHolder } from './directory.js';
import { endOfLog, logKey, logRevision, systemKey } from './row-encoding.js';
import { freeBytes, writeBufferFor } from './space.js';

/** The LevelDB database of a store: its rows are in `row-encoding.ts`. */
export type Database = ClassicLevel<string, Buffer>;

/** The format that this release writes, and the only one it reads. */
const formatVersion = 4;
const cacheBytes = 8 << 20;
/** Rows that are compressed together (docs/design/storage.md#blocks). */
const blockBytes = 16 << 10;

/** Options of {@link openDatabase}. */
interface DatabaseOptions {
  /** How many bytes of rows are in memory, and in LevelDB's log, before they are written to a table. */
  readonly writeBufferBytes?: number;
  /** Refuses a directory without a store. */
  readonly mustExist?: boolean;
}

/** The error of a store without space. */
export const noSpace = (cause?: Error): UnavailableError =>
  new UnavailableError('no space is left for the store', { full: true, ...(cause && { cause }) });

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
  { writeBufferBytes = writeBufferFor(directory), mustExist = false }: DatabaseOptions = {},
): Promise<Database> {
  const path = realpathSync(directory);
  if (openDirectories.has(path)) throw new InUseError(directory, process.pid);
  if (!hasStore(directory) && freeBytes(directory) < writeBufferBytes) throw noSpace();
  const db: Database = new ClassicLevel(directory, {
    keyEncoding: 'utf8',
    valueEncoding: 'buffer',
    createIfMissing: !mustExist,
    writeBufferSize: writeBufferBytes,
    cacheSize: cacheBytes,
    blockSize: blockBytes,
  });
  openDirectories.add(path);
  db.once('closed', () => openDirectories.delete(path));
  try {
    await db.open();
    await checkFormat(db);
    return db;
  } catch (error) {
    await db.close();
    openDirectories.delete(path);
    throw openingError(directory, error as Error);
  }
}

/** Describes why LevelDB does not open a directory. */
function openingError(directory: string, error: Error): Error {
  const { cause } = error as { cause?: Error & { code?: string } };
  if (!cause) return error;
  if (cause.code === 'LEVEL_LOCKED') return new InUseError(directory, lockHolder(directory));
  if (/No space left on device|Disk quota exceeded/.test(cause.message)) return noSpace(cause);
  return new Error(`the store in ${directory} cannot be opened: ${cause.message}`, { cause });
}

async function checkFormat(db: Database): Promise<void> {
  const storedVersion = readNumber(db, 'format');
  if (storedVersion === undefined) {
    return db.put(systemKey('format'), Buffer.from(String(formatVersion)), { sync: true });
  }
  if (storedVersion !== formatVersion) {
    throw new Error(
      `the store in ${db.location} has format ${storedVersion}, written by another release; this one ` +
        `knows format ${formatVersion}`,
    );
  }
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
    if (revision > expected) {
      throw new Error(
        `the store in ${db.location} is damaged: its log has no revision ${expected}`,
      );
    }
    first ??= revision;
    last = revision;
  }
  return first === undefined ? undefined : { first, last };
}
