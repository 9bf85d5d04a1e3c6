import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type AnyKind, kindsOf } from '../../apiserver/library/index.js';
import { until } from '../provider/support/fixture.js';
import { expectFor } from '../support/expect-for.js';
import { stopAll } from '../support/service.js';
import { stores } from '../support/stores.js';
import { group, LibraryServer, mediaTypes, verbs } from './fixture.js';

const define = kindsOf({ group, version: 'v1', versions: [{ version: 'v1alpha1' }] });
const common = {
  description: 'A fish, or who fishes.',
  verbs,
  columns: {},
  spec: z.object({}),
  status: z.object({}),
};
const Fischer = define({ ...common, kind: 'Fischer', resource: 'fischers' });
const Flunder = define({ ...common, kind: 'Flunder', resource: 'flunders' });
const Stepwise: AnyKind = define({
  ...common,
  kind: 'Stepwise',
  resource: 'stepwises',
  strategy: { beginDelete: (tx, { metadata }) => tx.erase(Stepwise, metadata.name) },
});

interface Reference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly blockOwnerDeletion?: boolean;
}

afterAll(stopAll);

describe.each(stores)('garbage collection on %s', (store) => {
  const library = new LibraryServer(store, [Fischer, Flunder, Stepwise]);
  const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

  async function create(
    resource: string,
    ownerReferences: readonly Reference[] = [],
    finalizers: readonly string[] = [],
  ): Promise<string> {
    const metadata = { name: library.newName(), ownerReferences, finalizers };
    const { code } = await library.ask('POST', `v1/${resource}`, { metadata, spec: {} });
    expect(code).toBe(201);
    return `v1/${resource}/${metadata.name}`;
  }
  async function referenceTo(path: string, blockOwnerDeletion?: boolean): Promise<Reference> {
    const { apiVersion, kind, metadata } = await library.get(path);
    const { name, uid } = metadata;
    return { apiVersion, kind, name, uid, ...(blockOwnerDeletion && { blockOwnerDeletion }) };
  }
  const isGone = async (path: string): Promise<boolean> =>
    (await library.ask('GET', path)).code === 404;
  const gone = (...paths: string[]): Promise<unknown> =>
    until(async () => (await Promise.all(paths.map(isGone))).every(Boolean), `${paths} to go`);
  const unfinish = (path: string) =>
    library.ask('PATCH', path, { metadata: { finalizers: null } }, mediaTypes.merge);
  /** Resolves when the collector has looked at all that happened before. */
  async function settled(): Promise<void> {
    await gone(await create('flunders', [{ ...absent, uid: library.newName() }]));
  }
  let absent: Reference;

  beforeEach(() => {
    absent = { apiVersion: `${group}/v1`, kind: 'Fischer', name: 'absent', uid: 'absent' };
  });

  /** Every road on which an owner goes without waiting. */
  const roads: [string, (path: string) => Promise<unknown>][] = [
    ['DELETE', (path) => library.ask('DELETE', path)],
    [
      'DELETE in the background',
      (path) => library.ask('DELETE', path, { propagationPolicy: 'Background' }),
    ],
    [
      'deletecollection',
      (path) => library.ask('DELETE', `v1/fischers?fieldSelector=metadata.name=${nameOf(path)}`),
    ],
    [
      'a transaction',
      (path) => library.server.store.systemCall().change((tx) => tx.delete(Fischer, nameOf(path))),
    ],
    [
      'a transaction that erases',
      (path) => library.server.store.systemCall().change((tx) => tx.erase(Fischer, nameOf(path))),
    ],
    [
      'the end of its finalizers',
      async (path) => {
        await library.ask('PATCH', path, { metadata: { finalizers: ['a/b'] } }, mediaTypes.merge);
        await library.ask('DELETE', path);
        await unfinish(path);
      },
    ],
  ];

  test.each(roads)('%s takes the dependents along, and theirs', async (_, remove) => {
    const owner = await create('fischers');
    const dependent = await create('flunders', [await referenceTo(owner)]);
    const below = await create('stepwises', [await referenceTo(dependent)]);
    const other = await create('flunders', [await referenceTo(await create('fischers'))]);
    await remove(owner);
    await gone(owner, dependent, below);
    expect(await isGone(other)).toBe(false);
  });

  test('an object with an owner left stays, and loses the reference to the other', async () => {
    const [one, two] = [await create('fischers'), await create('stepwises')];
    const kept = await referenceTo(two);
    const dependent = await create('flunders', [await referenceTo(one), kept]);
    await library.ask('DELETE', one);
    await until(
      async () => (await library.get(dependent)).metadata.ownerReferences.length === 1,
      'the reference to go',
    );
    expect((await library.get(dependent)).metadata.ownerReferences).toEqual([kept]);
    await library.ask('DELETE', two);
    await gone(dependent);
  });

  test('an owner is known by its uid, in any version, and by its name', async () => {
    const owner = await create('fischers');
    const reference = await referenceTo(owner);
    const old = await create('flunders', [{ ...reference, apiVersion: `${group}/v1alpha1` }]);
    const stray = await create('flunders', [{ ...reference, uid: 'another' }]);
    const renamed = await create('flunders', [{ ...reference, name: 'another' }]);
    await gone(stray, renamed);
    await settled();
    expect(await isGone(old)).toBe(false);
    await library.ask('DELETE', owner);
    const again = await library.ask('POST', 'v1/fischers', {
      metadata: { name: nameOf(owner) },
      spec: {},
    });
    expect(again.code).toBe(201);
    await gone(old);
    expect(await isGone(owner)).toBe(false);
  });

  test('an owner that this server does not serve counts as present', async () => {
    const pod = { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'a' };
    const foreign = await create('flunders', [pod]);
    const unknown = await create('flunders', [{ ...absent, kind: 'Other' }]);
    const both = await create('flunders', [absent, pod]);
    await until(
      async () => (await library.get(both)).metadata.ownerReferences.length === 1,
      'the reference to go',
    );
    await settled();
    for (const path of [foreign, unknown, both]) expectFor(path, await isGone(path)).toBe(false);
  });

  test('a dependent with finalizers waits for them', async () => {
    const dependent = await create('flunders', [absent], ['a/b']);
    await until(
      async () => (await library.get(dependent)).metadata.deletionTimestamp !== undefined,
      'the deletion to begin',
    );
    await settled();
    expect((await library.get(dependent)).metadata.finalizers).toEqual(['a/b']);
    await unfinish(dependent);
    await gone(dependent);
  });

  describe('in the foreground', () => {
    const options = { propagationPolicy: 'Foreground' };

    test('an owner waits for those that block it, and for no other', async () => {
      const owner = await create('fischers');
      const blocking = await create('flunders', [await referenceTo(owner, true)], ['a/b']);
      const other = await create('flunders', [await referenceTo(owner)], ['a/b']);
      const { code, body } = await library.ask('DELETE', owner, options);
      expect([code, body.metadata.finalizers, body.metadata.deletionTimestamp]).toEqual([
        200,
        ['foregroundDeletion'],
        expect.any(String),
      ]);
      for (const path of [blocking, other]) {
        await until(
          async () => (await library.get(path)).metadata.deletionTimestamp !== undefined,
          'its dependents to be deleted',
        );
      }
      await settled();
      expect((await library.get(owner)).metadata.finalizers).toEqual(['foregroundDeletion']);
      await unfinish(blocking);
      await gone(owner, blocking);
      expect(await isGone(other)).toBe(false);
      await unfinish(other);
    });

    test('it goes at once without dependents', async () => {
      const owner = await create('fischers');
      await library.ask('DELETE', `${owner}?propagationPolicy=Foreground`);
      await gone(owner);
    });

    test('a dependent that does not block any more lets it go', async () => {
      const owner = await create('fischers');
      const reference = await referenceTo(owner, true);
      const dependent = await create('flunders', [reference], ['a/b']);
      await library.ask('DELETE', owner, options);
      await settled();
      const ownerReferences = [{ ...reference, blockOwnerDeletion: false }];
      await library.ask('PATCH', dependent, { metadata: { ownerReferences } }, mediaTypes.merge);
      await gone(owner);
      await unfinish(dependent);
      await gone(dependent);
    });

    test('the dependents of dependents go first', async () => {
      const owner = await create('fischers');
      const dependent = await create('flunders', [await referenceTo(owner, true)]);
      const below = await create('flunders', [await referenceTo(dependent, true)], ['a/b']);
      await library.ask('DELETE', owner, options);
      await until(
        async () => (await library.get(below)).metadata.deletionTimestamp !== undefined,
        'the last one to be deleted',
      );
      expect((await library.get(dependent)).metadata.finalizers).toEqual(['foregroundDeletion']);
      await unfinish(below);
      await gone(owner, dependent, below);
    });

    test('two that own each other go', async () => {
      const one = await create('fischers');
      const two = await create('flunders', [await referenceTo(one, true)]);
      const ownerReferences = [await referenceTo(two, true)];
      await library.ask('PATCH', one, { metadata: { ownerReferences } }, mediaTypes.merge);
      await library.ask('DELETE', one, options);
      await gone(one, two);
    });

    test('another policy replaces it', async () => {
      const owner = await create('fischers');
      const dependent = await create('flunders', [await referenceTo(owner, true)], ['a/b']);
      await library.ask('DELETE', owner, options);
      await settled();
      expect((await library.ask('DELETE', owner)).body.metadata.finalizers).toEqual([
        'foregroundDeletion',
      ]);
      const { code } = await library.ask('DELETE', owner, { propagationPolicy: 'Background' });
      expect([code, await isGone(owner)]).toEqual([200, true]);
      await unfinish(dependent);
      await gone(dependent);
    });
  });

  describe('of orphans', () => {
    test.each([
      ['propagationPolicy', { propagationPolicy: 'Orphan' }],
      ['orphanDependents', { orphanDependents: true }],
    ])('%s leaves the dependents without the reference', async (_, options) => {
      const [owner, second] = [await create('fischers'), await create('fischers')];
      const kept = await referenceTo(second);
      const one = await create('flunders', [await referenceTo(owner, true)]);
      const two = await create('stepwises', [kept, await referenceTo(owner)]);
      await library.ask('DELETE', owner, options);
      await gone(owner);
      await settled();
      expect((await library.get(one)).metadata.ownerReferences).toBeUndefined();
      expect((await library.get(two)).metadata.ownerReferences).toEqual([kept]);
    });

    test('one that comes while the owner goes is not lost', async () => {
      const owner = await create('fischers');
      const reference = await referenceTo(owner);
      const first = await create('flunders', [reference]);
      const { storage } = library.server.store;
      const list = storage.list.bind(storage);
      let late: string | undefined;
      storage.list = async (range, options) => {
        const page = await list(range, options);
        if (range.start === 'objects/flunders/' && late === undefined) {
          late = '';
          late = await create('flunders', [reference]);
        }
        return page;
      };
      try {
        await library.ask('DELETE', owner, { propagationPolicy: 'Orphan' });
        await gone(owner);
      } finally {
        storage.list = list;
      }
      await settled();
      for (const path of [first, late!]) {
        expectFor(path, (await library.get(path)).metadata.ownerReferences).toBeUndefined();
      }
    });

    test('both ways to say it are refused', async () => {
      const owner = await create('fischers');
      const { code, body } = await library.ask('DELETE', owner, {
        propagationPolicy: 'Orphan',
        orphanDependents: false,
      });
      expect([code, body.details.causes[0]]).toMatchObject([422, { field: 'propagationPolicy' }]);
      expect(await isGone(owner)).toBe(false);
    });
  });

  test('what was to be collected is collected at the next start', async () => {
    const [owner, waiting, orphaning] = [
      await create('fischers'),
      await create('fischers'),
      await create('fischers'),
    ];
    const dependent = await create('flunders', [await referenceTo(owner)]);
    const blocking = await create('flunders', [await referenceTo(waiting, true)], ['a/b']);
    const orphan = await create('flunders', [await referenceTo(orphaning)]);
    await library.ask('DELETE', waiting, { propagationPolicy: 'Foreground' });
    await settled();
    await library.stop();
    const storage = await library.open();
    const { entry } = await storage.get(`objects/fischers/${nameOf(orphaning)}`);
    const text = entry!.value.toString('utf8', 4);
    const marked = text.replace(
      '"metadata":{',
      '"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["orphan"],',
    );
    const value = Buffer.concat([entry!.value.subarray(0, 4), Buffer.from(marked)]);
    value.writeUInt32BE(value.length - 4, 0);
    await storage.commit(
      [],
      [{ delete: `objects/fischers/${nameOf(owner)}` }, { put: entry!.key, value }],
    );
    await storage.close();
    await library.start();
    await gone(dependent, orphaning);
    await unfinish(blocking);
    await gone(waiting, blocking);
    expect((await library.get(orphan)).metadata.ownerReferences).toBeUndefined();
  });

  if (store === 'etcd') {
    test('of two replicas either goes on when the other stops', async () => {
      const other = await library.replica();
      let isRunning = true;
      try {
        for (let round = 0; round < 2; round += 1) {
          const owner = await create('fischers');
          const dependents = await Promise.all(
            Array.from({ length: 5 }, async () => create('flunders', [await referenceTo(owner)])),
          );
          await library.ask('DELETE', owner);
          await gone(...dependents);
          if (isRunning) await other.stop();
          isRunning = false;
        }
      } finally {
        if (isRunning) await other.stop();
      }
    });
  }
});
