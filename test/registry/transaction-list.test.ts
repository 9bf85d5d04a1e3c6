import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Transaction } from '../../registry/kind.js';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { openEtcd } from '../../storage/etcd/etcd.js';
import type { Storage } from '../../storage/storage.js';
import { type EtcdServer, startEtcd } from '../storage/etcd-server.js';
import { stores } from '../support/stores.js';
import { Room, Thing } from './room.js';

describe.each(stores)('a list of a transaction on %s', (store) => {
  let directory: string;
  let server: EtcdServer | undefined;
  let storage: Storage;
  let one: Room;
  let two: Room;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'vestibule-transaction-list-'));
    if (store === 'etcd') server = await startEtcd();
    storage = server
      ? await openEtcd({ servers: [server.endpoint], prefix: '/v/' })
      : await openEmbedded({ directory });
  });
  beforeEach(async () => {
    [one, two] = [await Room.open(storage), await Room.open(storage)];
    await one.put('big', { size: 9 });
    await one.put('small', { size: 1 });
  });
  afterEach(async () => {
    for (const { metadata } of await one.store.reader(Thing).list()) {
      await one.remove(metadata.name);
    }
    for (const room of [one, two]) await room.close();
  });
  afterAll(async () => {
    await storage.close();
    await server?.stop();
    rmSync(directory, { recursive: true });
  });

  const change = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> =>
    one.store.systemCall().change(work);
  const namesOf = (things: readonly { readonly metadata: { readonly name: string } }[]): string[] =>
    things.map(({ metadata }) => metadata.name).sort();

  test('has what the store has, and what the transaction did', async () => {
    const seen = await change(async (tx) => {
      const before = await tx.list(Thing);
      await tx.create(Thing, { metadata: { name: 'made' }, spec: { size: 5 } });
      await tx.delete(Thing, 'small');
      await tx.update(Thing, 'big', ({ spec }) => {
        spec.size = 2;
      });
      return [
        namesOf(before),
        namesOf(await tx.list(Thing)),
        namesOf(await tx.list(Thing, ({ spec }) => spec.size > 4)),
      ];
    });
    expect(seen).toEqual([['big', 'small'], ['big', 'made'], ['made']]);
  });

  /** What someone else does between the list and the commit, and what the next try finds. */
  const between: [string, () => Promise<void>, string[], number][] = [
    ['a new object', () => two.put('new', { size: 8 }), ['big', 'new'], 2],
    ['one that comes to match', () => two.put('small', { size: 8 }), ['big', 'small'], 2],
    ['a changed one', () => two.put('big', { size: 7 }), ['big'], 2],
    ['one that matches no more', () => two.put('big', { size: 0 }), [], 2],
    ['a deleted one', () => two.remove('big'), [], 2],
    ['a deleted one that does not match', () => two.remove('small'), ['big'], 1],
  ];

  test.each(between)('%s in between is seen', async (_, disturb, found, tries) => {
    const seen: string[][] = [];
    await change(async (tx) => {
      seen.push(namesOf(await tx.list(Thing, ({ spec }) => spec.size > 4)));
      if (seen.length === 1) await disturb();
      await tx.create(Thing, { metadata: { name: 'count' }, spec: { size: 2 } });
    });
    expect([seen.at(-1), seen.length]).toEqual([found, tries]);
  });

  test('lets of many that each add the last one exactly one win', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) =>
        (i % 2 ? one : two).store.systemCall().change(async (tx) => {
          const all = await tx.list(Thing);
          if (all.length > 2) return false;
          await tx.create(Thing, { metadata: { name: `last-${i}` }, spec: { size: 1 } });
          return true;
        }),
      ),
    );
    const made = outcomes.filter((one) => one.status === 'fulfilled' && one.value);
    expect([made.length, (await one.store.reader(Thing).list()).length]).toEqual([1, 3]);
  });

  test('of more objects than one commit checks is for those that match', async () => {
    const many = Array.from({ length: 120 }, (_, i) => `many-${i}`);
    for (const name of many) await one.put(name, { size: 1 });
    const found = await change(async (tx) => {
      const some = await tx.list(Thing, ({ spec }) => spec.size > 4);
      await tx.create(Thing, { metadata: { name: 'count' }, spec: { size: some.length } });
      return namesOf(some);
    });
    expect(found).toEqual(['big']);
    const all = change(async (tx) => {
      const { length } = await tx.list(Thing);
      await tx.create(Thing, { metadata: { name: 'all' }, spec: { size: length } });
    });
    await expect(all).rejects.toThrow('a commit cannot check 125 objects, only 100: give tx.list');
  });
});
