import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { uniqueKey } from '../../registry/encoded-object.js';
import type { Transaction } from '../../registry/kind.js';
import type { StatusError } from '../../registry/status/status.js';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { prefixRange, type Storage } from '../../storage/storage.js';
import { Room, Thing } from './room.js';

let directory: string;
let storage: Storage;
let one: Room;
let two: Room;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'vestibule-transaction-'));
  storage = await openEmbedded({ directory });
  [one, two] = [await Room.open(storage), await Room.open(storage)];
});
afterEach(async () => {
  for (const room of [one, two]) await room.close();
  await storage.close();
  rmSync(directory, { recursive: true });
});

const either = (i: number): Room => (i % 2 ? one : two);
const reasonOf = (error: unknown): string => (error as StatusError).reason;
const holderOf = async (colour: string): Promise<string | undefined> =>
  (await storage.get(uniqueKey(Thing, 'colour', colour))).entry?.value.toString();
const everything = async (): Promise<string[]> =>
  (await storage.list({ start: '!', end: '~' })).entries.map(
    ({ key, revision }) => `${key} ${revision}`,
  );
const change = <T>(room: Room, work: (tx: Transaction) => Promise<T>, dryRun = false): Promise<T> =>
  room.store
    .call({
      caller: { type: 'System' },
      request: { auditID: '', network: '', userAgent: '', acceptLanguage: '', browser: false },
      ports: {} as never,
      dryRun,
    })
    .change(work);

describe('a name that is only begun', () => {
  test('is cut, ended at random, and given up with 409 after eight in use', async () => {
    const make = (): Promise<string> =>
      change(
        one,
        async (tx) =>
          (
            await tx.create(Thing, {
              metadata: { generateName: `${'x'.repeat(57)}-and-more` },
              spec: { size: 1 },
            })
          ).metadata.name,
      );
    const made = await make();
    expect(made).toMatch(/^x{57}-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    const tried: string[] = [];
    const get = storage.get.bind(storage);
    const entry = (await get(`objects/things/${made}`)).entry!;
    storage.get = async (key) => {
      if (!key.startsWith('objects/things/')) return get(key);
      tried.push(key);
      return { entry: { ...entry, key }, revision: entry.revision };
    };
    const error = (await make().catch((thrown: StatusError) => thrown)) as StatusError;
    expect([
      error.reason,
      error.details?.retryAfterSeconds,
      tried.length,
      new Set(tried).size,
    ]).toEqual(['AlreadyExists', 1, 8, 8]);
  });

  test('answers a trial without a version, and stores nothing', async () => {
    const version = await change(
      one,
      async (tx) =>
        (await tx.create(Thing, { metadata: { name: 'tried' }, spec: { size: 1 } })).metadata,
      true,
    );
    expect(version.resourceVersion).toBe('');
    expect((await storage.get('objects/things/tried')).entry).toBeUndefined();
  });
});

describe('unique values', () => {
  test('raced by twenty creations have one holder, and the others get 409', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => either(i).put(`thing-${i}`, { colour: 'red' })),
    );
    const won = outcomes.flatMap(({ status }, i) => (status === 'fulfilled' ? [`thing-${i}`] : []));
    expect(won).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(reasonOf(outcome.reason)).toBe('AlreadyExists');
    }
    expect(await holderOf('red')).toBe(won[0]);
    expect(
      (await storage.list(prefixRange('objects/things/'))).entries.map(({ key }) => key),
    ).toEqual([`objects/things/${won[0]}`]);
  });

  test('raced by changes: one gets the new one and gives the old one back', async () => {
    for (let i = 0; i < 10; i += 1) await one.put(`thing-${i}`, { colour: `colour-${i}` });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) => either(i).put(`thing-${i}`, { colour: 'red' })),
    );
    const won = outcomes.findIndex(({ status }) => status === 'fulfilled');
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await holderOf('red')).toBe(`thing-${won}`);
    for (let i = 0; i < 10; i += 1) {
      expect(await holderOf(`colour-${i}`)).toBe(i === won ? undefined : `thing-${i}`);
    }
  });

  test('swap hands in one transaction, and go with their object', async () => {
    await one.put('a', { colour: 'red' });
    await one.put('b', { colour: 'blue' });
    await change(one, async (tx) => {
      await tx.delete(Thing, 'a');
      await tx.update(Thing, 'b', ({ spec }) => {
        delete spec.colour;
      });
    });
    expect([await holderOf('red'), await holderOf('blue')]).toEqual([undefined, undefined]);
    await one.put('c', { colour: 'red' });
    expect(await holderOf('red')).toBe('c');
  });

  test('deleted and taken at once are never held by an object that does not exist', async () => {
    for (let round = 0; round < 15; round += 1) {
      await one.put('old', { colour: 'red' });
      const [, taken] = await Promise.allSettled([
        one.remove('old'),
        two.put('new', { colour: 'red' }),
      ]);
      expect(await holderOf('red')).toBe(taken.status === 'fulfilled' ? 'new' : undefined);
      await one.remove('new');
      expect(await holderOf('red')).toBeUndefined();
    }
  });
});

describe('a transaction', () => {
  test('counts right, however many change one object at once', async () => {
    await one.put('a', { size: 0 });
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        change(either(i), (tx) =>
          tx.update(Thing, 'a', ({ spec }) => {
            spec.size += 1;
          }),
        ),
      ),
    );
    expect((await one.store.reader(Thing).get('a'))!.spec.size).toBe(40);
    expect((await one.store.reader(Thing).get('a'))!.metadata.generation).toBe(41);
  });

  test('that read something depends on it: what was absent as well', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        change(either(i), async (tx) => {
          if (await tx.get(Thing, 'leader')) return false;
          await tx.create(Thing, { metadata: { name: 'leader' }, spec: { size: i } });
          return true;
        }),
      ),
    );
    expect(outcomes.filter(Boolean)).toHaveLength(1);
  });

  test('writes nothing when it changes nothing', async () => {
    await one.put('a', { colour: 'red', size: 3 });
    const before = await everything();
    await one.put('a', { colour: 'red', size: 3 });
    expect(await everything()).toEqual(before);
  });

  test('of which a part fails writes nothing', async () => {
    await one.put('a', { colour: 'red' });
    const before = await everything();
    await expect(
      change(one, async (tx) => {
        await tx.create(Thing, { metadata: { name: 'b' }, spec: { size: 1 } });
        await tx.enqueue('work', {}, Date.now() + 1000);
        await tx.spend({ name: 'x', max: 1, seconds: 1 }, 'y');
        await tx.create(Thing, { metadata: { name: 'c' }, spec: { size: 1, colour: 'red' } });
      }),
    ).rejects.toMatchObject({ reason: 'AlreadyExists' });
    expect(await everything()).toEqual(before);
  });

  test('that is a dry run checks everything and writes nothing', async () => {
    await one.put('a', { colour: 'red' });
    const before = await everything();
    const made = await change(
      one,
      async (tx) => {
        await tx.update(Thing, 'a', ({ spec }) => {
          spec.size = 5;
        });
        await tx.enqueue('work', {}, Date.now() + 60_000);
        await tx.spend({ name: 'x', max: 1, seconds: 60 }, 'y');
        return tx.create(Thing, { metadata: { name: 'b' }, spec: { size: 2 } });
      },
      true,
    );
    expect(made).toMatchObject({
      metadata: { name: 'b', uid: expect.any(String) },
      spec: { size: 2 },
    });
    await expect(
      change(
        one,
        (tx) => tx.create(Thing, { metadata: { name: 'c' }, spec: { size: 1, colour: 'red' } }),
        true,
      ),
    ).rejects.toMatchObject({ reason: 'AlreadyExists' });
    await expect(
      change(one, (tx) => tx.create(Thing, { metadata: { name: 'c' }, spec: { size: 0.5 } }), true),
    ).rejects.toMatchObject({ reason: 'Invalid' });
    expect(await everything()).toEqual(before);
  });

  test('begun before a deletion brings nothing back', async () => {
    await one.put('a', { size: 1 });
    let begun = 0;
    const late = change(one, async (tx) =>
      tx.update(Thing, 'a', async ({ spec }) => {
        begun += 1;
        if (begun === 1) await two.remove('a');
        spec.size = 2;
      }),
    );
    await expect(late).rejects.toMatchObject({ reason: 'NotFound' });
    expect((await storage.get('objects/things/a')).entry).toBeUndefined();
  });
});
