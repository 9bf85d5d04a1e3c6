import { open, type Database, type DatabaseOptions, type RootDatabase } from 'lmdb';
import { join } from 'node:path';
import type { Entry } from '../storage.js';
import { Ahead } from './ahead.js';
import { recordEncoding } from './record.js';

/** The format this release writes, and the newest it can read. */
const format = 1;

/** The lmdb databases of one store; keys are strings in byte order, values Buffers. */
export interface Tables {
  readonly directory: string;
  readonly root: RootDatabase<Buffer, string>;
  readonly ahead: Ahead;
  /** key -> the latest entry, read without its key */
  readonly current: Database<Entry, string>;
  /** revision -> its changes */
  readonly log: Database<Buffer, number>;
  /** key and the revision that deleted it, within the history -> nothing */
  readonly gone: Database<Buffer, string>;
  /** expiry and key -> nothing */
  readonly expiry: Database<Buffer, string>;
  /** `format`, `oldest`: numbers in decimal */
  readonly system: Database<Buffer, string>;
}

/** Opens or creates the databases in `directory`; throws when they are of a newer format. */
export function openTables(directory: string): Tables {
  const path = join(directory, 'store.mdb');
  const root = open<Buffer, string>({
    path, noSubdir: true, maxDbs: 8, encoding: 'binary',
    overlappingSync: false, eventTurnBatching: false, cache: false,
  });
  const table = <K extends string | number>(name: string) => root.openDB<Buffer, K>({ name, encoding: 'binary', cache: false });
  const tables: Tables = {
    directory, root, ahead: new Ahead(root, path), current: root.openDB<Entry, string>('current', { encoder: recordEncoding } as DatabaseOptions),
    log: table<number>('log'), gone: table<string>('gone'), expiry: table<string>('expiry'), system: table<string>('system'),
  };
  admitFormat(tables);
  return tables;
}

/** A number kept in the system table. */
export function systemNumber(tables: Tables, name: string): number | undefined {
  const text = tables.system.get(name)?.toString();
  return text === undefined ? undefined : Number(text);
}

function admitFormat(tables: Tables): void {
  const found = systemNumber(tables, 'format');
  if (found === undefined) tables.system.putSync('format', Buffer.from(String(format)));
  else if (found > format) {
    void tables.root.close();
    throw new Error(`the store in ${tables.directory} has format ${found}, written by a newer release; this one knows formats up to ${format}`);
  }
}
