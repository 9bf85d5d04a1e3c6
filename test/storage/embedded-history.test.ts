import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { readEmbedded } from '../../storage/embedded/snapshot-source.js';
import {
  CompactedError,
  type Entry,
  type Revision,
  type Storage,
  type Write,
} from '../../storage/storage.js';
import { expectFor } from '../support/expect-for.js';
import { draw, random } from '../support/random.js';
import { bytes, everything, made } from './drive.js';

let directory: string;
let storage: Storage;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vestibule-history-'));
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
    for (const write of writes) {
      if ('put' in write) {
        this.#entries.set(write.put, { ...write, key: write.put, revision });
      } else {
        this.#entries.delete(write.delete);
      }
    }
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
  expectFor(at, contentOf(page.entries)).toEqual(model.at(at));
  const first = await storage.list(everything, { at, limit: 3 });
  expect(first.more).toBe(Math.max(0, model.at(at).length - 3));
  expect(await storage.count(everything)).toBe(model.at(revision).length);
}

test('every revision is read as it was, and what was compacted is refused', async () => {
  const model = new Model();
  let revision = 0;
  let oldest = 0;
  for (let i = 0; i < 1500; i += 1) {
    const writes = drawWrites();
    const result = await storage.commit([], [...writes, { put: 'last', value: bytes(`${i}`) }]);
    revision = made(result);
    model.take(revision, [...writes, { put: 'last', value: bytes(`${i}`) }]);
    if (i % 50 === 49) await expectAsModel(model, revision, revision);
    if (i % 200 === 199) {
      expect(await savedContent(revision)).toEqual(model.at(revision));
      oldest = revision - 150;
      await storage.compact(oldest);
      await storage.close();
      expect(await savedContent(revision)).toEqual(model.at(revision));
      storage = await openEmbedded({ directory });
      await expectAsModel(model, revision, revision);
      await expectChanges(model, oldest, revision);
      for (let at = oldest; at <= revision; at += 7) await expectAsModel(model, revision, at);
      await expect(storage.list(everything, { at: oldest - 1 })).rejects.toThrow(CompactedError);
    }
  }
});

/** Reads a snapshot, which the process sends that has the store open if there is one. */
async function savedContent(revision: Revision): Promise<Content> {
  const saved: Entry[] = [];
  await readEmbedded(directory, async (source) => {
    expect(source.revision).toBe(revision);
    for await (const page of source.pages()) saved.push(...page);
  });
  return contentOf(saved);
}

/** Follows the log from `from`, each change with its entry before. */
async function expectChanges(model: Model, from: Revision, to: Revision): Promise<void> {
  const entries = new Map(model.at(from).map(([key, value]) => [key, value]));
  const stopping = new AbortController();
  for await (const { revision, changes } of storage.watch('', from, stopping.signal)) {
    for (const { key, entry, before } of changes) {
      expectFor([revision, key], before?.value.toString()).toEqual(entries.get(key));
      if (entry) {
        entries.set(key, entry.value.toString());
      } else {
        entries.delete(key);
      }
    }
    if (revision === to) break;
  }
  stopping.abort();
  expect([...entries].sort()).toEqual(
    model
      .at(to)
      .map(([key, value]) => [key, value])
      .sort(),
  );
}
