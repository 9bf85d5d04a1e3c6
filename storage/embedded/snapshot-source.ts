import { existsSync } from 'node:fs';
import type { Entry } from '../storage.js';
import { epochKey, allKeys } from '../snapshot/layout.js';
import type { SnapshotSource } from '../snapshot/source.js';
import { withKey } from './encoding.js';
import { openReadable, databasePath, readRevisions } from './tables.js';

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
  const { root, current } = tables;
  try {
    root.resetReadTxn();
    const transaction = root.useReadTransaction();
    try {
      const { revision } = readRevisions(tables, transaction);
      const epoch = Number(current.get(epochKey, { transaction })?.value.toString() ?? 0);
      return await work({ store: 'embedded', revision, epoch, pages });
    } finally {
      transaction.done();
    }
    async function* pages(): AsyncGenerator<readonly Entry[]> {
      for (let start: string | undefined = allKeys.start; start !== undefined; ) {
        const page: Entry[] = [];
        let bytes = 0;
        let next: string | undefined;
        for (const { key, value } of current.getRange({
          start,
          end: allKeys.end,
          transaction,
        })) {
          page.push(withKey(key, value));
          bytes += value.value.length;
          if (page.length === pageKeys || bytes >= pageBytes) {
            next = `${key}!`;
            break;
          }
        }
        if (page.length > 0) yield page;
        start = next;
      }
    }
  } finally {
    await root.close();
  }
}
