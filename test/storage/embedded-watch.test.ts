import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import type { Batch, Storage } from '../../storage/storage.js';
import { put } from './drive.js';

let directory: string;
let storage: Storage;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vestibule-watch-'));
  storage = await openEmbedded({ directory });
});
afterEach(async () => {
  await storage.close();
  await rm(directory, { recursive: true });
});

const reopen = async (): Promise<void> => {
  await storage.close();
  storage = await openEmbedded({ directory });
};

test.each([
  ['aborted', 'memory', 1],
  ['aborted', 'memory', 2],
  ['aborted', 'the log', 1],
  ['aborted', 'the log', 2],
  ['closed', 'memory', 1],
  ['closed', 'memory', 2],
  ['closed', 'the log', 1],
  ['closed', 'the log', 2],
])(
  'a watch that is %s while changes of %s come marks no progress past number %i',
  async (end, source, delivered) => {
    const { revision } = await storage.get('w/1');
    const revisions: number[] = [];
    for (let i = 1; i <= 5; i += 1) revisions.push(await put(storage, { [`w/${i}`]: 'x' }));
    if (source === 'the log') await reopen();
    const aborting = new AbortController();
    const received: Batch[] = [];
    for await (const batch of storage.watch('w/', revision, aborting.signal)) {
      received.push(batch);
      if (received.length !== delivered) continue;
      if (end === 'aborted') {
        aborting.abort();
      } else {
        await storage.close();
      }
    }
    expect(received.map((batch) => [batch.revision, batch.changes.length])).toEqual(
      revisions.slice(0, delivered).map((revision) => [revision, 1]),
    );
  },
);
