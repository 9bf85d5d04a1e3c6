import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineKind } from '../../kinds/define-kind.js';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import type { Storage } from '../../storage/storage.js';
import { counting } from '../provider/support/fixture.js';
import { Room } from './room.js';

const verbs = ['get'] as const;
const Holder = defineKind({
  kind: 'Holder',
  resource: 'holders',
  owner: 'metadata.name',
  cached: true,
  description: 'Owns.',
  verbs,
  spec: z.object({ size: z.number().optional().describe('Size.') }),
  status: z.object({}),
  columns: {},
});
const Piece = defineKind({
  kind: 'Piece',
  resource: 'pieces',
  owner: 'status.account',
  description: 'Is owned.',
  verbs,
  spec: z.object({}),
  status: z.object({ account: z.string().describe('Its owner.') }),
  columns: {},
});

const shop = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'shop', uid: 'u-1' };
const Adopted = defineKind({
  kind: 'Adopted',
  resource: 'adopted',
  owner: 'status.account',
  description: 'Is adopted by a hook.',
  verbs,
  spec: z.object({}),
  status: z.object({ account: z.string().describe('Its owner.') }),
  columns: {},
  strategy: {
    default({ metadata }, old) {
      if (!old) metadata.ownerReferences = [...(metadata.ownerReferences ?? []), shop];
    },
  },
});

let directory: string;
let storage: Storage & { commits: number; reads: number };
let room: Room;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'vestibule-owners-'));
  storage = counting(await openEmbedded({ directory }));
  room = await Room.open(storage, { kinds: [Holder, Piece, Adopted] });
});
afterEach(async () => {
  await room.close();
  await storage.close();
  rmSync(directory, { recursive: true });
});

const hold = () =>
  room.store.change(room.store.systemCall(), (tx) =>
    tx.create(Holder, { metadata: { name: 'ada' }, spec: {} }),
  );
const piece = (name: string, before = async (): Promise<unknown> => undefined) =>
  room.store.change(room.store.systemCall(), async (tx) => {
    await before();
    return tx.create(Piece, { metadata: { name }, spec: {}, status: { account: 'ada' } });
  });

test('what is owned points to its owner from the beginning, as its transaction sees it', async () => {
  const {
    metadata: { uid },
  } = await hold();
  const owners = [{ apiVersion: 'id.vestibule.org/v1beta1', kind: 'Holder', name: 'ada', uid }];
  expect((await piece('ada-1')).metadata.ownerReferences).toEqual(owners);
  const both = await room.store.change(room.store.systemCall(), async (tx) => {
    await tx.create(Holder, { metadata: { name: 'bob' }, spec: {} });
    return [
      await tx.get(Holder, 'bob'),
      await tx.create(Piece, { metadata: { name: 'bob-1' }, spec: {}, status: { account: 'bob' } }),
    ];
  });
  expect(both[1]!.metadata.ownerReferences![0]).toMatchObject({
    name: 'bob',
    uid: both[0]!.metadata.uid,
  });
  expect((await room.store.reader(Piece).get('ada-1'))!.metadata.ownerReferences).toEqual(owners);
  expect((await room.store.reader(Holder).get('ada'))!.metadata.ownerReferences).toBeUndefined();
});

test('an owner that is in memory is not read, and causes no conflict', async () => {
  await hold();
  await room.watchCache.waitUntil((await storage.get('x')).revision, 60_000);
  await room.store.cached(Holder, 'ada');
  const from = { reads: storage.reads, commits: storage.commits };
  await piece('ada-2');
  expect([storage.reads - from.reads, storage.commits - from.commits]).toEqual([1, 1]);
  let tries = 0;
  await piece('ada-3', async () => {
    tries += 1;
    await room.store.change(room.store.systemCall(), (tx) =>
      tx.update(Holder, 'ada', (next) => {
        next.spec = { size: tries };
      }),
    );
  });
  expect(tries).toBe(1);
});

test('an owner that a hook sets is stored, beside that of the Account', async () => {
  await hold();
  const made = await room.store.change(room.store.systemCall(), (tx) =>
    tx.create(Adopted, { metadata: { name: 'ada-5' }, spec: {}, status: { account: 'ada' } }),
  );
  expect(made.metadata.ownerReferences!.map(({ name }) => name)).toEqual(['ada', 'shop']);
  await room.store.change(room.store.systemCall(), (tx) => tx.update(Adopted, 'ada-5', () => {}));
  expect((await room.store.reader(Adopted).get('ada-5'))!.metadata.ownerReferences).toEqual(
    made.metadata.ownerReferences,
  );
});

test('without its owner an object stands alone', async () => {
  expect((await piece('ada-4')).metadata.ownerReferences).toBeUndefined();
});
