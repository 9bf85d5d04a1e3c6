import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { readEmbedded } from '../../storage/embedded/snapshot-source.js';
import { openReadable, readPending } from '../../storage/embedded/tables.js';
import type { Entry, Revision, Storage, Write } from '../../storage/storage.js';
import { bytes, everything, made, put, remove, text } from './drive.js';
import { draw, random } from '../support/random.js';

let directory: string;
let storage: Storage;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vestibule-tables-'));
  storage = await openEmbedded({ directory });
});
afterEach(async () => {
  await storage.close();
  await rm(directory, { recursive: true });
});

type Content = readonly (readonly [key: string, value: string, expires: number | undefined])[];

const contentOf = (entries: Iterable<Entry>): Content =>
  [...entries].map(({ key, value, expires }) => [key, value.toString(), expires]);

/** Keeps what a store has at every revision. */
class Model {
  readonly #states = new Map<Revision, Content>();
  readonly #entries = new Map<string, Entry>();

  take(revision: Revision, writes: readonly Write[]): void {
    for (const write of writes)
      if ('put' in write) this.#entries.set(write.put, { ...write, key: write.put, revision });
      else this.#entries.delete(write.delete);
    const sorted = [...this.#entries.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    this.#states.set(revision, contentOf(sorted));
  }

  at(revision: Revision): Content {
    return this.#states.get(revision)!;
  }
}

/** A few of thirty keys with random values and expiries, or deleted. */
function drawWrites(): Write[] {
  const keys = new Set(Array.from({ length: 4 }, () => `key-${draw(30)}`));
  return [...keys].map((key) => {
    if (random() < 0.3) return { delete: key };
    const value = bytes(`${random()}`);
    return random() < 0.5 ? { put: key, value } : { put: key, value, expires: 2 ** 42 };
  });
}

async function expectAsModel(model: Model, revision: Revision, at: Revision): Promise<void> {
  const page = await storage.list(everything, { at });
  expect([at, contentOf(page.entries)]).toEqual([at, model.at(at)]);
  const first = await storage.list(everything, { at, limit: 3 });
  expect(first.more).toBe(Math.max(0, model.at(at).length - 3));
  expect(await storage.count(everything)).toBe(model.at(revision).length);
}

test('every revision is read as it was, whether the tables have it or only the log', async () => {
  const model = new Model();
  let revision = 0;
  const first = await put(storage, { 'key-0': '' });
  model.take(first, [{ put: 'key-0', value: bytes('') }]);
  for (let i = 0; i < 1500; i += 1) {
    const writes = drawWrites();
    const result = await storage.commit([], [...writes, { put: 'last', value: bytes(`${i}`) }]);
    revision = made(result);
    model.take(revision, [...writes, { put: 'last', value: bytes(`${i}`) }]);
    if (i % 50 === 49) await expectAsModel(model, revision, revision);
    if (i % 200 === 199) {
      await storage.close();
      storage = await openEmbedded({ directory });
      await expectAsModel(model, revision, revision);
      const saved: Entry[] = [];
      await readEmbedded(directory, async (source) => {
        expect(source.revision).toBe(revision);
        for await (const page of source.pages()) saved.push(...page);
      });
      expect(contentOf(saved)).toEqual(model.at(revision));
    }
  }
  for (let at = first; at <= revision; at += 7) await expectAsModel(model, revision, at);
});

test('changes larger than memory remembers are read before the tables have them', async () => {
  const keys = Array.from({ length: 9 }, (_, i) => `large-${i}`);
  const commits = keys.map((key) =>
    storage.commit([], [{ put: key, value: Buffer.alloc(900_000) }]),
  );
  await Promise.all(
    commits.map(async (commit) => {
      const at = made(await commit);
      for (const key of keys) expect((await storage.get(key)).entry?.value.length).toBe(900_000);
      expect((await storage.list(everything, { at, limit: 1 })).entries).toHaveLength(1);
    }),
  );
});

/** Returns how many revisions of a closed store are only in the log. */
async function pendingCount(): Promise<number> {
  const tables = openReadable(directory);
  const { length } = readPending(tables);
  await tables.root.close();
  return length;
}

test('the tables follow a list of many changes that they do not have', async () => {
  const keys = Array.from({ length: 101 }, (_, i) => `key-${i}`);
  await put(storage, Object.fromEntries(keys.slice(1).map((key) => [key, ''])));
  await put(storage, { [keys[0]!]: '' });
  await storage.list({ start: 'key-0', end: 'key-99' }, { limit: 1 });
  await storage.close();
  expect(await pendingCount()).toBe(2);
  storage = await openEmbedded({ directory });
  expect((await storage.list(everything, { limit: 3 })).entries).toHaveLength(3);
  await storage.close();
  expect(await pendingCount()).toBe(0);
  storage = await openEmbedded({ directory });
  expect((await storage.list(everything)).entries).toHaveLength(101);
});

test('compaction leaves what the tables do not have, and the next process has it', async () => {
  await put(storage, { a: '1', b: '1', c: '1' });
  await storage.compact(await remove(storage, 'b'));
  await storage.close();
  storage = await openEmbedded({ directory });
  expect([await text(storage, 'a'), await text(storage, 'b')]).toEqual(['1', undefined]);
});

const ioFile = '/proc/self/io';
const bytesWritten = (): number =>
  Number(/^wchar: (\d+)/m.exec(readFileSync(ioFile, 'latin1'))![1]);

(existsSync(ioFile) ? test : test.skip)(
  `a commit of four keys writes at most ten pages${existsSync(ioFile) ? '' : ` (skipped: there is no ${ioFile})`}`,
  async () => {
    const value = Buffer.alloc(500, 'x');
    const write = (): Write => ({ put: `${random()}`, value, expires: Date.now() + 1e9 });
    for (let i = 0; i < 10; i += 1) await storage.commit([], Array.from({ length: 100 }, write));
    const before = bytesWritten();
    for (let i = 0; i < 600; i += 1) await storage.commit([], Array.from({ length: 4 }, write));
    expect((bytesWritten() - before) / 600 / 4096).toBeLessThan(10);
  },
);
