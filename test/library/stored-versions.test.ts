import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import {
  type ApiServer,
  type DefineKind,
  kindsOf,
  openStorage,
  startApiServer,
} from '../../apiserver/library/index.js';
import { EncodedObject, encode, objectKey, objectsRange } from '../../registry/encoded-object.js';
import type { AnyKind } from '../../registry/kind.js';
import { Registry } from '../../registry/store/registry.js';
import { StoredVersions } from '../../registry/store/replicas/stored-versions.js';
import { prefixRange, type Storage } from '../../storage/storage.js';
import { type EtcdServer, startEtcd } from '../storage/etcd-server.js';
import { until } from '../support/patience.js';
import { stores } from '../support/stores.js';

const group = 'wardle.example.com';

const fischer = (define: DefineKind, hub: 'v1' | 'v1alpha1'): AnyKind =>
  define({
    kind: 'Fischer',
    resource: 'fischers',
    description: 'Who fishes.',
    verbs: ['get', 'list', 'create'],
    ...(hub === 'v1' && { names: { v1alpha1: { 'spec.reach': 'radius' } } }),
    spec: z.object({ [hub === 'v1' ? 'reach' : 'radius']: z.number() }),
    status: z.object({}),
    columns: {},
  }) as AnyKind;

/** Three releases: one with v1alpha1 alone, one that reads v1 as well, and one that writes it. */
const first = (): Registry =>
  new Registry([fischer(kindsOf({ group, version: 'v1alpha1' }), 'v1alpha1')], []);
const third = (): Registry =>
  new Registry(
    [fischer(kindsOf({ group, version: 'v1', versions: [{ version: 'v1alpha1' }] }), 'v1')],
    [],
  );
const second = (): Registry => Object.assign(third(), { storedVersion: 'v1alpha1' });

describe.each(stores)('the versions of stored objects on %s', (store) => {
  const directory = mkdtempSync(join(tmpdir(), 'vestibule-stored-versions-'));
  let etcd: EtcdServer | undefined;
  let storage: Storage;
  beforeAll(async () => {
    if (store === 'etcd') etcd = await startEtcd();
    storage = await openStorage(etcd ? { servers: [etcd.endpoint], prefix: '/w/' } : { directory });
  });
  afterAll(async () => {
    await storage.close();
    await etcd?.stop();
    rmSync(directory, { recursive: true });
  });
  beforeEach(async () => {
    for (const prefix of ['objects/', 'meta/']) {
      const { entries } = await storage.list(prefixRange(prefix));
      await storage.commit(
        [],
        entries.map(({ key }) => ({ delete: key })),
      );
    }
  });

  async function write(registry: Registry, name: string, size: number, expires?: number) {
    const [kind] = registry.kinds as [AnyKind];
    const field = kind.version === 'v1' ? 'reach' : 'radius';
    const object = { metadata: { name }, spec: { [field]: size }, status: {} };
    const value = encode(registry.storedView(kind), object as never);
    await storage.commit(
      [],
      [{ put: objectKey(kind, name), value, ...(expires !== undefined && { expires }) }],
    );
  }
  /** Returns name, stored version and reach of all objects. */
  async function stored() {
    const [kind] = third().kinds as [AnyKind];
    const { entries } = await storage.list(objectsRange(kind));
    return entries.map((entry) => {
      const object = new EncodedObject(kind, entry);
      const { reach } = object.object.spec as { reach: number };
      return [object.name, object.storedVersion, reach, entry.expires] as const;
    });
  }

  test('a release does not start on objects of a version that it does not read', async () => {
    await StoredVersions.open(storage, third());
    await expect(StoredVersions.open(storage, first())).rejects.toThrow(
      'the store has objects of version v1, and this release reads v1alpha1: start a release that ' +
        'reads it, and run "migrate" with that',
    );
  });

  test('the newer version is written when each replica reads it, and the older then goes', async () => {
    const [old, now] = [second(), third()];
    const former = await StoredVersions.open(storage, old);
    await write(old, 'one', 1);
    const next = await StoredVersions.open(storage, now);
    expect(now.storedVersion).toBe('v1alpha1');
    await write(now, 'two', 2, 4e12);
    const reads = { read: ['v1alpha1'], written: 'v1alpha1' };
    expect(await next.advance([next.own, reads])).toBe(0);
    expect(now.storedVersion).toBe('v1alpha1');

    // All read it, and one does not write it yet.
    expect(await next.advance([next.own, former.own])).toBe(0);
    expect([now.storedVersion, old.storedVersion]).toEqual(['v1', 'v1alpha1']);
    await write(old, 'late', 3);
    expect(await next.advance([next.own, former.own])).toBe(0);
    expect(next.isUniform).toBe(false);

    await former.refresh();
    expect(old.storedVersion).toBe('v1');
    expect(await next.advance([next.own, former.own])).toBe(3);
    expect(next.isUniform).toBe(true);
    expect(await stored()).toEqual([
      ['late', 'v1', 3, undefined],
      ['one', 'v1', 1, undefined],
      ['two', 'v1', 2, 4e12],
    ]);
  });

  test('a release of before that reads the newer version goes on with it', async () => {
    await (await StoredVersions.open(storage, third())).advance([]);
    const old = second();
    const versions = await StoredVersions.open(storage, old);
    await write(old, 'back', 5);
    expect(old.storedVersion).toBe('v1');
    expect(await stored()).toEqual([['back', 'v1', 5, undefined]]);
    expect(await versions.advance([versions.own])).toBe(0);
    expect([old.storedVersion, versions.isUniform]).toEqual(['v1', true]);
  });

  test('an object that changes while it is rewritten stays as it is', async () => {
    const old = second();
    await StoredVersions.open(storage, old);
    for (let i = 0; i < 250; i += 1) await write(old, `f-${String(i).padStart(3, '0')}`, i);
    const now = third();
    const changing = Object.assign(Object.create(storage) as Storage, {
      async list(...asked: Parameters<Storage['list']>) {
        const page = await storage.list(...asked);
        if (asked[0].start.includes('fischers/f-099')) await write(now, 'f-150', 1_000);
        return page;
      },
    });
    const versions = await StoredVersions.open(changing, now);
    expect(await versions.advance([])).toBe(249);
    const objects = await stored();
    expect(new Set(objects.map(([, version]) => version))).toEqual(new Set(['v1']));
    expect(objects.map(([, , reach]) => reach)).toEqual(
      Array.from({ length: 250 }, (_, i) => (i === 150 ? 1_000 : i)),
    );
  });
});

describe('servers of one store on etcd', () => {
  test('the newer version is written once the last server without it is gone', async () => {
    const etcd = await startEtcd();
    const started: ApiServer[] = [];
    const serve = async (kind: AnyKind): Promise<ApiServer> => {
      const storage = await openStorage({ servers: [etcd.endpoint], prefix: '/w/' });
      const server = await startApiServer({ kinds: [kind], storage });
      started.push(server);
      return server;
    };
    const create = async (server: ApiServer, version: string, name: string, spec: object) => {
      const answer = await fetch(`${server.url}/apis/${group}/${version}/fischers`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ metadata: { name }, spec }),
      });
      expect(answer.status).toBe(201);
    };
    const [kind] = third().kinds as [AnyKind];
    const read = await openStorage({ servers: [etcd.endpoint], prefix: '/w/' });
    const stored = async () =>
      (await read.list(objectsRange(kind))).entries.map((entry) => {
        const { name, storedVersion } = new EncodedObject(kind, entry);
        return `${name} ${storedVersion}`;
      });
    try {
      const former = await serve(first().kinds[0]!);
      await create(former, 'v1alpha1', 'one', { radius: 1 });
      const next = await serve(kind);
      await create(next, 'v1', 'two', { reach: 2 });
      expect(await stored()).toEqual(['one v1alpha1', 'two v1alpha1']);
      await former.stop();
      await until(async () => (await stored()).every((object) => object.endsWith(' v1')));
      await create(next, 'v1', 'three', { reach: 3 });
      expect(await stored()).toEqual(['one v1', 'three v1', 'two v1']);
    } finally {
      for (const server of started) await server.stop();
      await read.close();
      await etcd.stop();
    }
  });
});
