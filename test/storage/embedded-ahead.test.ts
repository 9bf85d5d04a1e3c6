import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import type { Storage } from '../../storage/storage.js';
import { everything } from './drive.js';

const megabyte = 1 << 20;

let directory: string;
let storage: Storage;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vestibule-ahead-'));
  storage = await openEmbedded({ directory });
});
afterEach(async () => {
  await storage.close();
  await rm(directory, { recursive: true });
});

const length = (): number => statSync(join(directory, 'store.mdb')).size;
const value = (of: number, size: number): Buffer => Buffer.alloc(size, `value ${of};`);

test('the file is longer than what it holds, and lengthened by the megabyte', async () => {
  await storage.commit([], [{ put: 'first', value: value(0, 100) }]);
  const lengths = new Set<number>([length()]);
  expect(length()).toBeGreaterThan(megabyte);
  for (let i = 0; i < 600; i += 1) {
    await storage.commit([], [{ put: `key-${i}`, value: value(i, 4000) }]);
    lengths.add(length());
  }
  expect(lengths.size).toBeGreaterThan(2);
  expect([...lengths].every((one) => (one - Math.min(...lengths)) % megabyte === 0)).toBe(true);
});

test('lengthening the file overwrites nothing, even with other writes at the same time', async () => {
  const expected = new Map<string, Buffer>();
  let last = 0;
  for (let round = 0; round < 40; round += 1) {
    const writes = Array.from({ length: 16 }, (_, i) => ({
      put: `key-${(round * 7 + i) % 90}`,
      value: value(round * 100 + i, round % 9 === 4 ? 100_000 : 3000),
    }));
    const forgetting = storage.compact(last);
    const committed = await Promise.all(writes.map((write) => storage.commit([], [write])));
    for (const { put, value: written } of writes) expected.set(put, written);
    last = Math.max(last, ...committed.map(({ revision }) => revision));
    await forgetting;
  }
  await storage.close();
  storage = await openEmbedded({ directory });
  const { entries } = await storage.list(everything);
  expect(entries.map(({ key, value: read }) => [key, read.equals(expected.get(key)!)])).toEqual(
    [...expected.keys()].sort().map((key) => [key, true]),
  );
});
