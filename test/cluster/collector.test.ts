import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type Aggregated, API, aggregate } from '../support/cluster/aggregated.js';
import { eventually, KubeAPIServer } from '../support/cluster/kubeapiserver.js';
import { signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { stopAll } from '../support/service.js';

jest.setTimeout(400_000);

/** Seconds for which nothing may happen. */
const calm = Number(process.env.CALM_SECONDS ?? 120);
const plain = { plain: true } as const;
const configMaps = '/api/v1/namespaces/default/configmaps';
/**
 * Who lists and watches for the collector, and who reads and deletes for it: they are not the same.
 */
const [looking, collector] = [
  'system:kube-controller-manager',
  'system:serviceaccount:kube-system:generic-garbage-collector',
];
/** What ends by itself. */
const passing = new Set(['interactions', 'mockmessages']);

let cluster: KubeAPIServer;
let admin: Tab;
beforeAll(async () => {
  cluster = await KubeAPIServer.start();
  admin = cluster.as('admin');
});
afterAll(async () => {
  await cluster?.stop();
  await stopAll();
});

/**
 * The cluster's garbage collector and controller of namespaces, as they are, over objects of ours
 * (docs/design/kubernetes.md#garbage-collector).
 */
describe.each(['embedded', 'etcd'] as const)('a real cluster’s controllers, on %s', (store) => {
  let it: Aggregated;
  let deletable: { name: string; verbs: string[] }[];
  const accounts: string[] = [];
  const owned = async (name: string, account: string, uid?: string): Promise<void> => {
    uid ??= (await admin.get(`${API}/accounts/${account}`, plain).is(200)).body.metadata.uid;
    await cluster.create(configMaps, {
      metadata: {
        name,
        ownerReferences: [
          { apiVersion: 'id.vestibule.org/v1beta1', kind: 'Account', name: account, uid },
        ],
      },
    });
  };
  beforeAll(async () => {
    it = await aggregate(cluster, { store });
    await it.available();
    for (const person of ['ada', 'grace', 'edsger']) {
      const { tab } = await signIn(it.replicas[0]!, `${person}@example.test`, {
        scope: 'openid email profile',
      });
      accounts.push((await tab.get('accounts/~').is(200)).body.metadata.name);
    }
    await admin
      .post(
        `${API}/groups`,
        { metadata: { name: 'staff' }, spec: { displayName: 'Staff', members: [] } },
        plain,
      )
      .is(201);
    deletable = (await admin.get(API, plain).is(200)).body.resources.filter(
      ({ name, verbs }: { name: string; verbs: string[] }) =>
        !name.includes('/') && verbs.includes('delete'),
    );
    await owned('of-the-first', accounts[0]!);
    await owned('of-the-second', accounts[1]!);
    await owned('of-no-one', `${accounts[2]!}x`, '00000000-0000-4000-8000-000000000000');
    cluster.startControllers();
  });
  afterAll(async () => {
    await cluster.stopControllers();
    for (const name of ['of-the-first', 'of-the-second', 'of-no-one']) {
      await admin.delete(`${configMaps}/${name}`, plain);
    }
    await it?.leave();
  });

  /** Everything of ours that does not end by itself, by kind and name. */
  async function everything(): Promise<string[]> {
    const lists = await Promise.all(
      deletable
        .filter(({ name }) => !passing.has(name))
        .map(async ({ name }) =>
          (await admin.get(`${API}/${name}`, plain).is(200)).body.items.map(
            ({ metadata }: any) => `${name}/${metadata.name} ${metadata.uid}`,
          ),
        ),
    );
    return lists.flat().sort();
  }
  const there = async (name: string): Promise<number> =>
    (await admin.get(`${configMaps}/${name}`, plain)).code;
  const complaints = (): string[] =>
    cluster.controllersLog
      .split('\n')
      .filter((line) => /^[EWF]\d/.test(line) && /vestibule|PartialObjectMetadata/.test(line));
  const asked = (): any[] =>
    it.audited().filter(({ user }) => user.username === collector || user.username === looking);

  test(`what lives stays for ${calm} s, what an owner left behind goes`, async () => {
    const before = await everything();
    expect(new Set(before.map((one) => one.split('/')[0]))).toEqual(
      new Set([
        'accounts',
        'clients',
        'grants',
        'groups',
        'sessions',
        ...before.map((one) => one.split('/')[0]!),
      ]),
    );
    await eventually(
      () => there('of-no-one'),
      (code) => code === 404,
    );
    await new Promise((resolve) => {
      setTimeout(resolve, calm * 1_000);
    });
    expect(await everything()).toEqual(expect.arrayContaining(before));
    expect([await there('of-the-first'), await there('of-the-second')]).toEqual([200, 200]);
    expect(complaints()).toEqual([]);
    expect(asked().filter(({ verb }) => verb === 'delete')).toEqual([]);
    expect(
      asked()
        .filter(
          ({ responseStatus, objectRef }) =>
            responseStatus.code >= 400 && objectRef?.name !== `${accounts[2]}x`,
        )
        .map(
          ({ verb, requestURI, responseStatus }) => `${verb} ${requestURI} ${responseStatus.code}`,
        ),
    ).toEqual([]);
  });

  test('a namespace can be deleted while it is there', async () => {
    await cluster.create('/api/v1/namespaces', { metadata: { name: `passing-${store}` } });
    await cluster.create(`/api/v1/namespaces/passing-${store}/configmaps`, {
      metadata: { name: 'one' },
    });
    await admin.delete(`/api/v1/namespaces/passing-${store}`, plain).is(200);
    await eventually(
      () => admin.get(`/api/v1/namespaces/passing-${store}`, plain),
      ({ code }) => code === 404,
    );
  });

  test('while it is down nothing counts as gone', async () => {
    const path = `/api/v1/namespaces/waiting-${store}`;
    await cluster.create('/api/v1/namespaces', { metadata: { name: `waiting-${store}` } });
    expect(await it.replicas[0]!.stop()).toBe(0);
    const looked = deletable
      .filter(({ verbs }) => verbs.includes('list') && verbs.includes('watch'))
      .map(({ name }) => name)
      .sort();
    const watched = asked()
      .filter(
        ({ user, verb, responseStatus }) =>
          user.username === looking && verb === 'watch' && responseStatus.code === 200,
      )
      .map(({ objectRef }) => objectRef.resource); // a watch is logged when it ends
    expect([...new Set(watched)].sort()).toEqual(looked);
    await it.available(false);
    await admin.delete(path, plain).is(200);
    await eventually(
      () => admin.get(path, plain).is(200),
      ({ body }) =>
        body.status.conditions?.some(
          ({ type, status }: any) =>
            type === 'NamespaceDeletionDiscoveryFailure' && status === 'True',
        ),
    );
    expect([await there('of-the-first'), await there('of-the-second')]).toEqual([200, 200]);
    await it.replicas[0]!.again();
    await it.available();
    await eventually(
      () => admin.get(path, plain),
      ({ code }) => code === 404,
      240_000,
    );
    expect([await there('of-the-first'), await there('of-the-second')]).toEqual([200, 200]);
  });

  test('a deleted account has all that it owned deleted, in the cluster, too', async () => {
    const [before, said] = [await everything(), complaints().length];
    const [gone] = accounts as [string];
    expect(before.filter((one) => one.includes(`/${gone}-`)).length).toBeGreaterThan(1);
    await admin.delete(`${API}/accounts/${gone}`, plain).is(200);
    const left = await eventually(
      everything,
      (seen) => !seen.some((one) => one.includes(`/${gone}`)),
    );
    expect(left).toEqual(expect.arrayContaining(before.filter((one) => !one.includes(`/${gone}`))));
    await eventually(
      () => there('of-the-first'),
      (code) => code === 404,
    );
    expect(await there('of-the-second')).toBe(200);
    expect(complaints().slice(said)).toEqual([]);
  });

  test('the default policy lets the collector read metadata only', async () => {
    const metadata = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
    const paths = [`accounts/${accounts[1]}`, 'accounts/nobody', `sessions/${accounts[1]}-nothing`];
    const codes = (accept: string): Promise<number[]> =>
      Promise.all(
        paths.map(
          async (path) =>
            (
              await admin.get(`${API}/${path}`, {
                plain: true,
                headers: { accept, 'impersonate-user': collector },
              })
            ).code,
        ),
      );
    expect(await codes(metadata)).toEqual([200, 404, 404]);
    expect((await codes('application/json'))[0]).toBeGreaterThan(402);
    const { cedar } = (await admin.get(`${API}/policies/p-1`, plain).is(200)).body.spec;
    const enact = (text: string): PromiseLike<unknown> =>
      admin.post(`${API}/policies`, { spec: { cedar: text } }, plain).is(201);
    await enact(
      cedar
        .replaceAll('generic-garbage-collector', 'somebody-else')
        .replaceAll('kube-controller-manager', 'somebody-else'),
    );
    expect(await codes(metadata)).toEqual([403, 403, 403]);
    await enact(cedar);
    expect(await codes(metadata)).toEqual([200, 404, 404]);
  });
});
