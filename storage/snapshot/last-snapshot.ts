import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Storage } from '../storage.js';
import { lastSnapshotKey } from './layout.js';

/** Where the time of the last snapshot is: in the data folder, or in the store in etcd. */
export type SnapshotRecord = { readonly directory: string } | { readonly storage: Storage };

// The embedded store has one writer, which is the service: the command writes a file beside it.
const fileIn = (directory: string): string => join(directory, 'last-snapshot');

/** Records that a snapshot was saved; `time` as RFC 3339. */
export async function recordSnapshot(record: SnapshotRecord, time: string): Promise<void> {
  if ('storage' in record) {
    await record.storage.commit([], [{ put: lastSnapshotKey, value: Buffer.from(time) }]);
    return;
  }
  const file = fileIn(record.directory);
  await writeFile(`${file}.partial`, time);
  await rename(`${file}.partial`, file);
}

/** Returns when a store was last saved, in ms since the epoch; undefined if that is not recorded. */
export async function lastSnapshotTime(record: SnapshotRecord): Promise<number | undefined> {
  const text =
    'storage' in record
      ? (await record.storage.get(lastSnapshotKey)).entry?.value.toString()
      : await readFile(fileIn(record.directory), 'utf8').catch(() => '');
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}
