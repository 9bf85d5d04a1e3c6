import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import {
  type KubeConfig,
  type KubernetesObject,
  KubernetesObjectApi,
  PatchStrategy,
} from '@kubernetes/client-node';
import { kinds } from '../../kinds/index.js';
import { Group } from '../../kinds/people/group/group.js';
import type { Transaction } from '../../registry/kind.js';
import { group, kubeConfig, servingFiles, version, Watched } from '../support/cluster/informer.js';
import { expectFor } from '../support/expect-for.js';
import { Wire } from '../support/network/wire.js';
import { settles } from '../support/patience.js';
import { tokenOf } from '../support/people/device.js';
import { signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../support/service.js';
import { stores } from '../support/stores.js';

jest.setTimeout(120_000);

/** An object as the store has it, on the wire. */
type Sample = KubernetesObject & { spec?: { displayName: string; members?: string[] } };
const apiVersion = `${group}/${version}`;
const secure = ({ secureURL }: TestService): number => Number(new URL(secureURL!).port);

describe.each(stores)('@kubernetes/client-node, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let wire: Wire;
  let config: KubeConfig;
  let watched: Watched;
  beforeAll(async () => {
    const directory = temporary();
    const { cert, flags: serving } = servingFiles(directory);
    service = await startTest({
      store,
      directory,
      flags: [
        '--operators',
        'op@example.test',
        '--limit-factor',
        '10000',
        '--secure-port',
        '0',
        ...serving,
      ],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
    wire = await Wire.to(secure(service));
    config = kubeConfig(`https://localhost:${wire.port}`, cert, await tokenOf(service, operator));
  });
  afterEach(async () => {
    await watched?.stop();
    wire.mend(secure(service));
  });
  afterAll(async () => {
    wire?.close();
    await stopAll();
  });

  const create = async (name: string, labels: object = {}): Promise<any> =>
    (
      await operator
        .post('groups', { metadata: { name, labels }, spec: { displayName: name } })
        .is(201)
    ).body;
  const patch = (name: string, body: object): Promise<unknown> =>
    operator.patch(`groups/${name}`, body).is(200);
  const fresh = async (query = ''): Promise<any[]> =>
    (await operator.get(`groups${query}`).is(200)).body.items;
  /** Resolves once it holds exactly what a list shows. */
  const complete = (query = ''): Promise<unknown> =>
    settles(
      async () => JSON.stringify([watched.cache.map(bare), (await fresh(query)).map(bare)]),
      (text) => {
        const [held, listed] = JSON.parse(text);
        return JSON.stringify(held) === JSON.stringify(listed);
      },
    );
  const bare = ({ metadata, ...rest }: any): unknown => [
    metadata.name,
    metadata.uid,
    metadata.resourceVersion,
    metadata.labels,
    rest.spec,
    rest.kind,
    rest.apiVersion,
  ];
  /** Objects made, changed and, each third, taken away, thirty in a commit. */
  const stir = async (prefix: string, count: number): Promise<void> => {
    for (let from = 0; from < count; from += 30) {
      const some = Array.from({ length: Math.min(30, count - from) }, (_, i) => from + i);
      const each = (
        work: (tx: Transaction, name: string, i: number) => Promise<unknown>,
      ): Promise<void> =>
        service.store.change(service.store.systemCall(), async (tx) => {
          for (const i of some) await work(tx, `${prefix}${i}`, i);
        });
      await each((tx, name) =>
        tx.create(Group, {
          metadata: { name },
          spec: { displayName: name, members: [] },
          status: {},
        }),
      );
      await each((tx, name) =>
        tx.update(Group, name, ({ spec }) => {
          spec.displayName = 'changed';
        }),
      );
      await each(async (tx, name, i) => i % 3 === 0 && tx.delete(Group, name));
    }
  };

  test('an informer’s callbacks and cache follow what is added, changed and deleted', async () => {
    await create('before');
    watched = await new Watched(config, 'groups').start();
    expect(watched.of('before')).toEqual(['add']);
    await create('one');
    await patch('one', { spec: { displayName: 'changed' } });
    await patch('one', { metadata: { labels: { a: 'b' } } });
    await operator.delete('groups/before').is(200);
    await complete();
    expect([watched.of('one'), watched.of('before')]).toEqual([
      ['add', 'update', 'update'],
      ['add', 'delete'],
    ]);
    expect(watched.cache).toEqual(await fresh());
    expect([watched.lists, watched.errors, watched.faults]).toEqual([1, [], []]);
  });

  test('one with a selector gets events when an object begins or ceases to match it', async () => {
    await create('in', { team: 'red' });
    await create('out', { team: 'blue' });
    watched = await new Watched(config, 'groups', 'team=red').start();
    await patch('out', { metadata: { labels: { team: 'red' } } });
    await patch('in', { metadata: { labels: { team: null } } });
    await patch('in', { spec: { displayName: 'unseen' } });
    await create('last', { team: 'red' });
    await complete('?labelSelector=team%3Dred');
    expect(watched.calls.map(({ what, name }) => `${what} ${name}`)).toEqual([
      'add in',
      'add out',
      'delete in',
      'add last',
    ]);
  });

  test('one whose connection is cut goes on where it was, without listing again', async () => {
    watched = await new Watched(config, 'groups').start();
    for (const round of [0, 1]) {
      await create(`seen${round}`);
      await settles(
        async () => watched.of(`seen${round}`),
        (calls) => calls.length === 1,
      );
      wire.cut();
      await stir(`cut${round}-`, round === 0 ? 5 : 450);
      wire.mend();
      await complete();
    }
    expect([watched.lists, watched.errors.length > 0, watched.faults]).toEqual([1, true, []]);
    expect([watched.of('cut1-1'), watched.of('cut1-3')]).toEqual([
      ['add', 'update'],
      ['add', 'update', 'delete'],
    ]);
  });

  test('one whose watch the service ends goes on at another replica, without an error', async () => {
    const replica = await service.replica();
    wire.mend(secure(replica));
    watched = await new Watched(config, 'groups').start();
    await create('with-the-first');
    await settles(
      async () => watched.of('with-the-first'),
      (calls) => calls.length === 1,
    );
    wire.mend(secure(service));
    const stopped = replica.stop();
    await stir('stopped', 20);
    await stopped;
    await stir('later', 5);
    await complete();
    expect([watched.lists, watched.errors, watched.faults]).toEqual([1, [], []]);
    expect(watched.connects).toBeGreaterThan(1);
  });

  test('one that was away past a compaction gets 410 and lists again', async () => {
    await create('goes');
    watched = await new Watched(config, 'groups').start();
    wire.cut();
    await operator.delete('groups/goes').is(200);
    await stir('compacted', 20);
    await service.storage.compact(
      Number((await operator.get('groups?limit=1').is(200)).body.metadata.resourceVersion),
    );
    wire.mend(secure(await service.replica()));
    await complete();
    expect([watched.lists, watched.of('goes'), watched.faults]).toEqual([2, ['add', 'delete'], []]);
    await create('after-that');
    await complete();
    expect(watched.lists).toBe(2);
  });

  describe('KubernetesObjectApi', () => {
    const api = (): KubernetesObjectApi => KubernetesObjectApi.makeApiClient(config);
    const sample = (name: string): Sample & { metadata: { name: string } } => ({
      apiVersion,
      kind: 'Group',
      metadata: { name, labels: { whole: 'yes' } },
      spec: { displayName: 'Sample', members: ['ada@example.test'] },
    });

    test('creates, reads, lists, patches by merge patch, replaces and deletes', async () => {
      const made = await api().create(sample('whole'));
      expect(made).toMatchObject({
        apiVersion,
        kind: 'Group',
        metadata: { name: 'whole', generation: 1 },
        spec: { members: ['ada@example.test'] },
      });
      expect((await api().read(sample('whole'))).metadata).toEqual(made.metadata);
      expect(
        (
          await api().list(
            apiVersion,
            'Group',
            undefined,
            undefined,
            undefined,
            undefined,
            undefined,
            'whole=yes',
          )
        ).items.map(({ metadata }) => metadata!.name),
      ).toEqual(['whole']);
      const patched = await api().patch(
        {
          apiVersion,
          kind: 'Group',
          metadata: { name: 'whole' },
          spec: { displayName: 'Patched' },
        } as Sample,
        undefined,
        undefined,
        undefined,
        undefined,
        PatchStrategy.MergePatch,
      );
      expect(patched).toMatchObject({
        metadata: { generation: 2 },
        spec: { displayName: 'Patched', members: ['ada@example.test'] },
      });
      const replaced = await api().replace({
        ...patched,
        spec: { displayName: 'Replaced' },
      } as Sample);
      expect(replaced).toMatchObject({
        metadata: { generation: 3, labels: { whole: 'yes' } },
        spec: { displayName: 'Replaced', members: [] },
      });
      expect(await api().delete(sample('whole'))).toMatchObject({
        kind: 'Status',
        status: 'Success',
        details: { name: 'whole', uid: made.metadata!.uid },
      });
      await expect(api().read(sample('whole'))).rejects.toMatchObject({
        code: 404,
        body: expect.stringContaining('groups.id.vestibule.org \\"whole\\" not found'),
      });
    });

    test('is refused: a patch of a type of its own, a stale version, a name in use', async () => {
      const made = await api().create(sample('refused'));
      await expect(api().create(sample('refused'))).rejects.toMatchObject({
        code: 409,
        body: expect.stringContaining('"reason":"AlreadyExists"'),
      });
      await expect(api().patch(sample('refused'))).rejects.toMatchObject({
        code: 415,
        body: expect.stringContaining('application/merge-patch+json'),
      });
      await patch('refused', { spec: { displayName: 'moved on' } });
      await expect(api().replace(made)).rejects.toMatchObject({
        code: 409,
        body: expect.stringContaining('"reason":"Conflict"'),
      });
      await expect(api().create(sample('dry'), undefined, 'All')).resolves.toMatchObject({
        metadata: { name: 'dry' },
      });
      await operator.get('groups/dry').fails(404, 'NotFound');
    });

    test('reaches every object, whose names stand in lower case as it writes them', async () => {
      for (const { resource, kind, verbs } of kinds) {
        if (!verbs.includes('list')) continue;
        for (const {
          metadata: { name },
        } of (await operator.get(resource).is(200)).body.items) {
          expect(name).toBe(name.toLowerCase());
          if (verbs.includes('get') && kind !== 'Interaction') {
            expectFor(
              kind,
              (await api().read({ apiVersion, kind, metadata: { name } })).metadata!.name,
            ).toEqual(name);
          }
          break;
        }
      }
    });
  });
});
