import { existsSync } from 'node:fs';
import type { Transaction } from 'lmdb';
import type { Entry } from '../storage.js';
import { epochKey, allKeys } from '../snapshot/layout.js';
import type { SnapshotSource } from '../snapshot/source.js';
import { mergeChanged } from './history.js';
import {
  databasePath,
  latestEntries,
  openReadable,
  readPending,
  readRevisions,
  type ChangedEntries,
  type ReadonlyTables,
} from './tables.js';

const pageBytes = 4 << 20;
const pageKeys = 1000;

/**
 * Reads the store in a directory, even while another process uses it. Uses one lmdb read
 * transaction: it sees what was durable at its start, blocks no writer, and makes the file grow by
 * everything written until it ends.
 */
export async function readEmbedded<T>(
  directory: string,
  work: (source: SnapshotSource) => Promise<T>,
): Promise<T> {
  if (!existsSync(databasePath(directory))) throw new Error(`there is no store in ${directory}`);
  const tables = openReadable(directory);
  const { root } = tables;
  try {
    root.resetReadTxn();
    const transaction = root.useReadTransaction();
    try {
      return await work(sourceWithin(tables, transaction));
    } finally {
      transaction.done();
    }
  } finally {
    await root.close();
  }
}

function sourceWithin(tables: ReadonlyTables, transaction: Transaction): SnapshotSource {
  const { current } = tables;
  const changed = latestEntries(readPending(tables, transaction));
  const epoch = changed.get(epochKey) ?? current.get(epochKey, { transaction });
  return {
    store: 'embedded',
    revision: readRevisions(tables, changed, transaction).revision,
    epoch: Number(epoch?.value.toString() ?? 0),
    async *pages() {
      for (let start: string | undefined = allKeys.start; start !== undefined; ) {
        const rows = current.getRange({ start, end: allKeys.end, transaction });
        const page = takePage(mergeChanged(rows, changedFrom(changed, start)));
        yield page.entries;
        start = page.next;
      }
    },
  };
}

const changedFrom = (changed: ChangedEntries, start: string): ChangedEntries =>
  new Map([...changed].filter(([key]) => key >= start));

/** Takes entries up to the size of a page; `next` is where to continue. */
function takePage(steps: ReturnType<typeof mergeChanged>): {
  entries: readonly Entry[];
  next?: string;
} {
  const entries: Entry[] = [];
  let bytes = 0;
  for (const [key, entry] of steps) {
    if (!entry) continue;
    entries.push(entry);
    bytes += entry.value.length;
    if (entries.length === pageKeys || bytes >= pageBytes) return { entries, next: `${key}!` };
  }
  return { entries };
}
