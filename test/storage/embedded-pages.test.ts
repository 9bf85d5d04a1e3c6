import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { type Entry, prefixRange, type Range, type Storage } from '../../storage/storage.js';
import { expectFor } from '../support/expect-for.js';
import { draw } from '../support/random.js';
import { bytes, everything, put, remove } from './drive.js';

let directory: string;
let storage: Storage;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vestibule-pages-'));
  storage = await openEmbedded({ directory });
});
afterEach(async () => {
  await storage.close();
  await rm(directory, { recursive: true });
});

/** Writes so many entries of so many bytes below a prefix. */
async function fill(prefix: string, count: number, length = 1): Promise<void> {
  const names = Array.from({ length: count }, (_, i) => `${prefix}${String(i).padStart(3, '0')}`);
  const value = 'x'.repeat(length);
  for (let i = 0; i < count; i += 10) {
    await put(storage, Object.fromEntries(names.slice(i, i + 10).map((name) => [name, value])));
  }
}

const entriesOf = async (range: Range, limit = 100): Promise<readonly Entry[]> =>
  (await storage.list(range, { limit })).entries;

test('a page that is requested again is read once, until its range changes', async () => {
  await fill('a/', 40);
  const range = prefixRange('a/');
  const first = await entriesOf(range);
  expect(await entriesOf(range)).toBe(first);
  expect(await entriesOf(range, 39)).toHaveLength(39);
  const revision = await put(storage, { 'b/000': '' });
  const page = await storage.list(range, { limit: 100 });
  expect([page.revision, page.entries === first]).toEqual([revision, true]);
  await remove(storage, 'a/007');
  expect(await entriesOf(range)).toHaveLength(39);
});

test('repeated lists are what the tables have, after any change between them', async () => {
  await fill('a/', 50);
  await fill('b/', 50);
  for (let i = 0; i < 400; i += 1) {
    const key = `${'ab'[draw(2)]}/${String(draw(60)).padStart(3, '0')}`;
    if (draw(3) === 0) {
      await storage.commit([], [draw(2) ? { delete: key } : { put: key, value: bytes(`${i}`) }]);
    }
    const range = [everything, prefixRange('a/'), { start: 'a/020', end: 'b/045' }][draw(3)]!;
    const limit = [35, 50, 90][draw(3)]!;
    const ahead = [1, 10, 1000][draw(3)]!;
    const all = await storage.list(range);
    const page = await storage.list(range, { limit, ahead });
    expectFor(i, page.revision).toEqual(all.revision);
    expect(page.entries).toEqual(all.entries.slice(0, limit));
    expect(page.more).toBe(Math.min(ahead, Math.max(0, all.entries.length - limit)));
  }
});

test('pages are forgotten by bytes', async () => {
  await fill('small/', 60);
  const small = prefixRange('small/');
  const first = await entriesOf(small);
  await fill('large/', 40, 20_000);
  const large = await entriesOf(prefixRange('large/'));
  expect(await entriesOf(small)).toBe(first);
  for (let i = 1; i < 4; i += 1) await entriesOf({ start: `large/00${i}`, end: 'large0' });
  expect(await entriesOf(prefixRange('large/'))).not.toBe(large);
  await fill('huge/', 40, 60_000);
  const huge = await entriesOf(prefixRange('huge/'));
  expect(await entriesOf(prefixRange('huge/'))).not.toBe(huge);
});
