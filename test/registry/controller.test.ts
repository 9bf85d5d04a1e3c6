import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createLog } from '../../observability/log.js';
import { Controller, type Reconciler } from '../../registry/store/controller.js';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { openEtcd } from '../../storage/etcd/etcd.js';
import type { Storage } from '../../storage/storage.js';
import { until } from '../provider/support/fixture.js';
import { type EtcdServer, startEtcd } from '../storage/etcd-server.js';
import { stores } from '../support/stores.js';
import { Room, Thing } from './room.js';

type Reconcile = Reconciler<typeof Thing>['reconcile'];

describe.each(stores)('a controller on %s', (store) => {
  let directory: string;
  let server: EtcdServer | undefined;
  let storage: Storage;
  let count = 0;
  const rooms: Room[] = [];
  const controllers: Controller<typeof Thing>[] = [];

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'vestibule-controller-'));
    if (store === 'etcd') server = await startEtcd();
    storage = server
      ? await openEtcd({ servers: [server.endpoint], prefix: '/v/' })
      : await openEmbedded({ directory });
  });
  afterEach(async () => {
    for (const controller of controllers.splice(0)) await controller.stop();
    for (const { metadata } of (await rooms[0]?.store.reader(Thing).list()) ?? []) {
      await rooms[0]?.remove(metadata.name);
    }
    for (const room of rooms.splice(0)) await room.close();
  });
  afterAll(async () => {
    await storage.close();
    await server?.stop();
    rmSync(directory, { recursive: true });
  });

  const replica = async (): Promise<Room> => {
    const room = await Room.open(storage);
    rooms.push(room);
    return room;
  };

  /** Starts a controller that takes things of size 0 as due. */
  async function start(
    room: Room,
    name: string,
    reconcile: Reconcile,
  ): Promise<Controller<typeof Thing>> {
    const controller = new Controller(
      room.store,
      { name, kind: Thing, isDue: ({ spec }) => spec.size === 0, reconcile },
      createLog('silent'),
    );
    controllers.push(controller);
    await controller.start();
    return controller;
  }

  const sizes = async (room: Room, prefix: string): Promise<number[]> =>
    (await room.store.reader(Thing).list())
      .filter(({ metadata }) => metadata.name.startsWith(prefix))
      .map(({ spec }) => spec.size);
  const lease = async (name: string) => (await storage.get(`meta/controllers/${name}`)).entry;
  const fresh = (): string => `c${(count += 1)}`;

  const enlarge: Reconcile = async (tx, { metadata }) => {
    await tx.update(Thing, metadata.name, (next) => {
      next.spec.size = 7;
    });
  };

  test('reconciles what is there at its start and what comes, then gives its lease back', async () => {
    const [room, name] = [await replica(), fresh()];
    await room.put(`${name}-there`, { size: 0 });
    await start(room, name, enlarge);
    await room.put(`${name}-later`, { size: 0 });
    await until(
      async () => (await sizes(room, name)).join() === '7,7',
      'both things to be enlarged',
    );
    await until(async () => (await lease(name)) === undefined, 'the lease to be given back');
  });

  test('leaves what is not due, and what is gone before its turn', async () => {
    const [room, name] = [await replica(), fresh()];
    await room.put(`${name}-large`, { size: 3 });
    for (const last of ['a', 'b']) await room.put(`${name}-${last}`, { size: 0 });
    const seen: string[] = [];
    await start(room, name, async (_tx, { metadata }) => {
      seen.push(metadata.name);
      for (const last of ['a', 'b']) {
        if (metadata.name !== `${name}-${last}`) await room.remove(`${name}-${last}`);
      }
    });
    await until(async () => seen.length > 0, 'a thing to be reconciled');
    await until(async () => (await lease(name)) === undefined, 'the lease to be given back');
    expect(new Set(seen)).toEqual(new Set([`${name}-a`]));
  });

  test('comes again a second after an error, and at the time that it is given', async () => {
    const [room, name] = [await replica(), fresh()];
    const at: number[] = [];
    let isFailing = true;
    await start(room, name, async () => {
      at.push(Date.now());
      if (isFailing) throw new Error('not yet');
      return Date.now() + 300;
    });
    await room.put(`${name}-a`, { size: 0 });
    await until(async () => at.length > 0, 'the first try');
    isFailing = false;
    const count = at.length;
    await until(async () => at.length > count, 'a try more');
    expect(at[count]! - at[count - 1]!).toBeGreaterThanOrEqual(1_000);
    await until(async () => at.at(-1)! - at[count]! >= 300, 'the try at the time that was given');
  });

  test('checks again what did not change, and only what is concerned', async () => {
    const [room, name] = [await replica(), fresh()];
    const seen: string[] = [];
    const controller = await start(room, name, async (_tx, { metadata }) => {
      seen.push(metadata.name.slice(name.length + 1));
    });
    await room.put(`${name}-a`, { size: 0 });
    await room.put(`${name}-b`, { size: 0 });
    await until(async () => seen.includes('a') && seen.includes('b'), 'both things');
    await until(async () => (await lease(name)) === undefined, 'the lease to be given back');
    seen.length = 0;
    controller.check(({ metadata }) => metadata.name.endsWith('-b'));
    await until(async () => seen.length > 0, 'a thing to be checked');
    expect(new Set(seen)).toEqual(new Set(['b']));
  });

  test('works on one replica at a time', async () => {
    const [one, other, name] = [await replica(), await replica(), fresh()];
    let [running, most, done] = [0, 0, 0];
    const slowly: Reconcile = async (tx, object, call) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running -= 1;
      done += 1;
      await enlarge(tx, object, call);
    };
    for (const room of [one, other]) await start(room, name, slowly);
    for (let i = 0; i < 8; i += 1) await one.put(`${name}-${i}`, { size: 0 });
    await until(
      async () => (await sizes(one, name)).every((size) => size === 7),
      'all things to be enlarged',
    );
    expect(most).toBe(1);
    expect(done).toBeGreaterThanOrEqual(8);
  });

  test('is taken over when the replica that holds its lease is gone', async () => {
    const [room, name] = [await replica(), fresh()];
    const key = `meta/controllers/${name}`;
    const gone = { put: key, value: Buffer.from('gone'), expires: Date.now() + 1_500 };
    await storage.commit([], [gone]);
    const at: number[] = [];
    await start(room, name, async () => void at.push(Date.now()));
    await room.put(`${name}-a`, { size: 0 });
    await until(async () => at.length > 0, 'the lease to be taken over');
    expect(at[0]).toBeGreaterThanOrEqual(gone.expires);
  });

  test('waits at its stop for the object that it reconciles, and does no other', async () => {
    const [room, name] = [await replica(), fresh()];
    const seen: string[] = [];
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const controller = await start(room, name, async (_tx, { metadata }) => {
      seen.push(metadata.name);
      await finished;
    });
    await room.put(`${name}-a`, { size: 0 });
    await until(async () => seen.length === 1, 'a thing to be reconciled');
    await room.put(`${name}-b`, { size: 0 });
    const stopped = controller.stop();
    finish();
    await stopped;
    expect(new Set(seen)).toEqual(new Set([`${name}-a`]));
  });
});
