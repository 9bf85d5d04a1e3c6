import { randomBytes } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import type { Storage, Write } from '../../storage/storage.js';
import { until } from '../support/patience.js';
import { bytes, everything, made } from './drive.js';

let directory: string;
let storage: Storage;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vestibule-compaction-'));
});
afterEach(async () => {
  await storage.close();
  await rm(directory, { recursive: true });
});

const sizeOnDisk = (): number =>
  readdirSync(directory).reduce((sum, file) => sum + statSync(join(directory, file)).size, 0);

/** Commits a write for each number, a hundred at a time; returns the last revision. */
async function commitMany(count: number, write: (i: number) => Write): Promise<number> {
  let revision = 0;
  for (let i = 0; i < count; i += 100) {
    const writes = Array.from({ length: 100 }, (_, j) => write(i + j));
    revision = made(await storage.commit([], writes));
  }
  return revision;
}

test('the directory follows its content after much was written and deleted', async () => {
  storage = await openEmbedded({ directory, writeBufferBytes: 1 << 20 });
  const value = (): Buffer => bytes(randomBytes(2000).toString('hex'));
  await commitMany(1000, (i) => ({ put: `objects/kept/${i}`, value: value() }));
  await commitMany(12_000, (i) => ({ put: `objects/gone/${i}`, value: value() }));
  const revision = await commitMany(12_000, (i) => ({ delete: `objects/gone/${i}` }));
  expect(sizeOnDisk()).toBeGreaterThan(24 << 20);
  await storage.compact(revision);
  const { entries } = await storage.list(everything);
  const content = entries.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
  expect(entries).toHaveLength(1000);
  expect(sizeOnDisk()).toBeLessThan(1.5 * content);
  expect((await storage.sizes!()).get('embedded')?.bytes).toBe(sizeOnDisk());
});

test('an entry whose expiry was moved is collected then, and not before', async () => {
  storage = await openEmbedded({ directory, sweepIntervalMs: 20, sweepGraceMs: 0 });
  const [soon, later] = [Date.now() + 50, Date.now() + 5000];
  const put = (key: string, expires: number): Write => ({ put: key, value: bytes(''), expires });
  await storage.commit([], [put('shortened', later), put('extended', soon), put('gone', soon)]);
  await storage.commit([], [put('shortened', soon), put('extended', later), { delete: 'gone' }]);
  await storage.commit([], [put('witness', soon)]);
  const keys = async (): Promise<string[]> =>
    (await storage.list(everything)).entries.map(({ key }) => key);
  await until(async () => !(await keys()).includes('shortened'));
  await until(async () => !(await keys()).includes('witness'));
  if (Date.now() < later) expect(await keys()).toEqual(['extended']);
  await until(async () => (await keys()).length === 0);
});
