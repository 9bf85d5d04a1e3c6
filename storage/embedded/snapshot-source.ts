import { existsSync } from 'node:fs';
import type { Entry } from '../storage.js';
import { epochKey, everything } from '../snapshot/layout.js';
import type { SnapshotSource } from '../snapshot/source.js';
import { keyed } from './encoding.js';
import { openReadable, pathOf, standingOf } from './tables.js';

const pageBytes = 4 << 20;
const pageKeys = 1000;

/**
 * What the store in a folder has, whether or not a process serves it: one transaction of lmdb,
 * which sees what was durable when it began and keeps no writer waiting. Until the end, the file
 * grows by what is written meanwhile.
 */
export async function readEmbedded<T>(
  directory: string,
  work: (source: SnapshotSource) => Promise<T>,
): Promise<T> {
  if (!existsSync(pathOf(directory))) throw new Error(`there is no store in ${directory}`);
  const tables = openReadable(directory);
  const { root, current } = tables;
  try {
    root.resetReadTxn();
    const transaction = root.useReadTransaction();
    try {
      const { revision } = standingOf(tables, transaction);
      const epoch = Number(current.get(epochKey, { transaction })?.value.toString() ?? 0);
      return await work({ store: 'embedded', revision, epoch, pages });
    } finally {
      transaction.done();
    }
    async function* pages(): AsyncGenerator<readonly Entry[]> {
      for (let start: string | undefined = everything.start; start !== undefined; ) {
        const page: Entry[] = [];
        let bytes = 0;
        let next: string | undefined;
        for (const { key, value } of current.getRange({
          start,
          end: everything.end,
          transaction,
        })) {
          page.push(keyed(key, value));
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
