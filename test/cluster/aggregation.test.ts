import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { parse } from 'yaml';
import { kinds } from '../../kinds/index.js';
import { type Aggregated, API, aggregate } from '../support/cluster/aggregated.js';
import { eventually, KubeAPIServer } from '../support/cluster/kubeapiserver.js';
import type { Kubectl } from '../support/cluster/kubectl.js';
import { signIn } from '../support/people/signin.js';
import { stopAll } from '../support/service.js';

jest.setTimeout(300_000);

const plain = { plain: true } as const;
let cluster: KubeAPIServer;
beforeAll(async () => {
  cluster = await KubeAPIServer.start();
});
afterAll(async () => {
  await cluster?.stop();
  await stopAll();
});

const group = (name: string, displayName = name): object => ({
  apiVersion: 'id.vestibule.org/v1beta1',
  kind: 'Group',
  metadata: { name },
  spec: { displayName, members: [] },
});

/** The real API server, the real kubectl of its release. */
describe.each(['embedded', 'etcd'] as const)('behind a real kube-apiserver, on %s', (store) => {
  let it: Aggregated;
  let admin: Kubectl;
  beforeAll(async () => {
    it = await aggregate(cluster, { store });
    await it.available();
    admin = cluster.kubectl('admin');
  });
  afterAll(async () => {
    await it?.leave();
  });

  /**
   * What the alert of an unavailable APIService looks at, where a cluster's own metrics have it.
   */
  const unavailable = async (): Promise<number | undefined> => {
    const { expr } = parse(
      readFileSync(join(import.meta.dirname, '../../deploy/observability/alerts.yaml'), 'utf8'),
    )
      .groups.flatMap(({ rules }: any) => rules)
      .find(({ alert }: any) => alert === 'VestibuleAPIServiceUnavailable');
    const [, metric, names] = /(\w+)\{name=~"([^"]+)"\}/.exec(expr)!;
    const sample = new RegExp(`^${metric}\\{name="${names}"\\} (\\d+)$`, 'gm');
    const text = (await cluster.as('admin').get('/metrics', plain).is(200)).bytes.toString();
    const values = [...text.matchAll(sample)].map(([, value]) => Number(value));
    return values.length === 0 ? undefined : Math.max(...values);
  };

  test('it is in the cluster’s discovery, and in both of its OpenAPI documents', async () => {
    const tab = cluster.as('admin');
    const offered = kinds
      .filter(({ resource }) => resource !== 'mockmessages')
      .map(({ resource }) => resource)
      .sort();
    for (const accept of [
      'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
      'application/json',
    ]) {
      const ask = async (): Promise<any> => {
        const { body } = await tab.get('/apis', { plain: true, headers: { accept } }).is(200);
        return (body.items ?? body.groups).find(
          (item: any) => (item.metadata?.name ?? item.name) === 'id.vestibule.org',
        )?.versions[0];
      };
      const version = await eventually(
        ask,
        (seen) => seen?.version === 'v1beta1' && seen.freshness !== 'Stale',
      ); // what the cluster heard before it was there is stale for a while
      if (accept !== 'application/json') {
        expect([version.freshness, version.resources.map(({ resource }: any) => resource)]).toEqual(
          ['Current', expect.arrayContaining(offered)],
        );
      }
    }
    expect(
      (await admin.says('api-resources', '--api-group=id.vestibule.org', '-o', 'name'))
        .trim()
        .split('\n')
        .sort(),
    ).toEqual(expect.arrayContaining(offered.map((one) => `${one}.id.vestibule.org`)));
    const read = async (path: string): Promise<any> =>
      JSON.parse((await tab.get(path, plain).is(200)).bytes.toString());
    const three = await eventually(
      () => read('/openapi/v3'),
      ({ paths }) => 'apis/id.vestibule.org/v1beta1' in paths,
    );
    expect(
      Object.keys(
        (await read(three.paths['apis/id.vestibule.org/v1beta1'].serverRelativeURL)).paths,
      ),
    ).toContain(`${API}/accounts`);
    const two = await eventually(
      () => read('/openapi/v2'),
      ({ paths }) => `${API}/groups` in paths,
    );
    expect(Object.keys(two.paths)).toContain('/api/v1/namespaces/{name}'); // ours takes nothing away
    for (const served of ['v1beta1', 'v1alpha1']) {
      const kindsIn = Object.values<any>(two.definitions).flatMap((definition) =>
        (definition['x-kubernetes-group-version-kind'] ?? [])
          .filter(({ group: of, version: at }: any) => of === 'id.vestibule.org' && at === served)
          .map(({ kind }: any) => kind),
      );
      expect(kindsIn.sort()).toEqual(kinds.map(({ kind }) => kind).sort());
    }
  });

  test('kubectl explains, creates, applies, patches, watches, waits and deletes', async () => {
    expect(
      await admin.says('explain', 'group.spec', '--api-version=id.vestibule.org/v1beta1'),
    ).toContain('The addresses of its members');
    expect(
      await admin.says(
        'explain',
        'groups.spec',
        '--api-version=id.vestibule.org/v1beta1',
        '--output=plaintext-openapiv2',
      ),
    ).toContain('The addresses of its members');
    expect(
      await admin.fails(
        'apply',
        '--validate=strict',
        '-f',
        admin.file('odd.json', JSON.stringify({ ...group('odd'), colour: 'red' })),
      ),
    ).toContain('unknown field "colour"');
    const watching = admin.follow(
      'get',
      'groups.id.vestibule.org',
      '-w',
      '-o',
      'jsonpath={.metadata.name}={.spec.displayName}{"\\n"}',
    );
    try {
      await admin.says(
        'apply',
        '-f',
        admin.file('staff.json', JSON.stringify(group('staff', 'Staff'))),
      );
      await watching.until((text) => text.includes('staff=Staff'));
      expect(
        await admin.says(
          'apply',
          '-f',
          admin.file('staff.json', JSON.stringify(group('staff', 'All staff'))),
        ),
      ).toBe('group.id.vestibule.org/staff configured\n');
      const waiting = admin.run([
        'wait',
        'group.id.vestibule.org/staff',
        '--for=jsonpath={.spec.displayName}=Everybody',
        '--timeout=50s',
      ]);
      expect(
        await admin.says(
          'patch',
          'group.id.vestibule.org/staff',
          '--type=merge',
          '-p',
          '{"spec":{"displayName":"Everybody"}}',
        ),
      ).toContain('patched');
      expect((await waiting).out).toContain('condition met');
      expect(
        await admin.says(
          'get',
          'group.id.vestibule.org',
          'staff',
          '-o',
          'jsonpath={.spec.displayName}',
        ),
      ).toBe('Everybody');
      expect(await admin.says('get', 'groups.id.vestibule.org')).toMatch(/^NAME\s.*AGE\n[^]*staff/);
      const gone = admin.run([
        'wait',
        'group.id.vestibule.org/staff',
        '--for=delete',
        '--timeout=50s',
      ]);
      await admin.says('delete', 'group.id.vestibule.org', 'staff');
      expect((await gone).code).toBe(0);
      await watching.until((text) => text.includes('staff=Everybody'));
    } finally {
      await watching.stop();
    }
  });

  test('a change from a page of another site passes, as at the cluster’s own API', async () => {
    const dashboard = {
      plain: true,
      headers: { origin: 'https://dashboard.example.org', 'sec-fetch-site': 'cross-site' },
    };
    const tab = cluster.as('admin');
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `of-${store}` } };
    await tab.post('/api/v1/namespaces', namespace, dashboard).is(201);
    await tab.post(`${API}/groups`, group('dashboard'), dashboard).is(201);
    await tab.delete(`${API}/groups/dashboard`, dashboard).is(200);
  });

  test('refuses by the cluster’s rules first, then by its own policy', async () => {
    const [ada, clerk] = [cluster.kubectl('ada'), cluster.kubectl('clerk')];
    expect(await ada.fails('get', 'groups.id.vestibule.org')).toContain(
      'groups.id.vestibule.org is forbidden: User "ada" cannot list resource "groups" in API group "id.vestibule.org" at the cluster scope',
    );
    expect(await clerk.fails('get', 'groups.id.vestibule.org')).toContain(
      'User "clerk" cannot list resource "groups" in API group "id.vestibule.org" at the cluster scope',
    );
    expect(await clerk.says('get', 'policies.id.vestibule.org', '-o', 'name')).toContain(
      'policy.id.vestibule.org/p-1',
    );
    const seen = it.audited();
    expect(seen.filter(({ user }) => user.username === 'ada')).toEqual([]);
    expect(
      seen
        .filter(
          ({ user, objectRef }) => user.username === 'clerk' && objectRef?.resource === 'groups',
        )
        .map(({ responseStatus, user }) => [responseStatus.code, user.groups.includes('clerks')]),
    ).toContainEqual([403, true]);
    const { body } = await cluster.as('clerk').post(`${API}/groups`, group('never'), plain).is(403);
    expect([body.kind, body.reason]).toEqual(['Status', 'Forbidden']);
    const { items } = (
      await eventually(
        () => cluster.as('admin').get(`${API}/policydecisions`, plain).is(200),
        (answer) =>
          answer.body.items.some(
            (item: any) =>
              JSON.stringify(item).includes('ClusterUser::\\"clerk\\"') ||
              JSON.stringify(item).includes('clerk'),
          ),
      )
    ).body;
    expect(items.some((item: any) => JSON.stringify(item).includes('"ada"'))).toBe(false);
  });

  test('--as is carried out by the cluster: who is impersonated is who asks', async () => {
    expect(await admin.fails('get', 'groups.id.vestibule.org', '--as', 'ada')).toContain(
      'User "ada" cannot list',
    );
    expect(
      await admin.fails('get', 'groups.id.vestibule.org', '--as', 'grace', '--as-group', 'clerks'),
    ).toContain('User "grace" cannot list');
    expect(
      await admin.says(
        'get',
        'policies.id.vestibule.org',
        '-o',
        'name',
        '--as',
        'grace',
        '--as-group',
        'clerks',
      ),
    ).toContain('p-1');
    expect(
      (
        await admin.run([
          'get',
          'groups.id.vestibule.org',
          '--as',
          'root',
          '--as-group',
          'system:masters',
        ])
      ).code,
    ).toBe(0);
    expect(it.audited().filter(({ user }) => user.username === 'grace').length).toBeGreaterThan(0);
  });

  test('a policy in force gives groups of the cluster access', async () => {
    const cedar = await admin.says(
      'get',
      'policy.id.vestibule.org',
      'p-1',
      '-o',
      'jsonpath={.spec.cedar}',
    );
    const create = (text: string): Promise<string> =>
      admin.says(
        'create',
        '-f',
        admin.file(
          'policy.json',
          JSON.stringify({
            apiVersion: 'id.vestibule.org/v1beta1',
            kind: 'Policy',
            metadata: { generateName: 'p-' },
            spec: { cedar: text },
          }),
        ),
      );
    expect(
      await create(
        `${cedar}\n@id("clerks-see-groups")\npermit (principal in ClusterGroup::"clerks", action in Action::"read", resource is Group);\n`,
      ),
    ).toContain('policy.id.vestibule.org/p-2 created');
    expect((await cluster.kubectl('clerk').run(['get', 'groups.id.vestibule.org'])).code).toBe(0);
    await create(cedar);
    await cluster.kubectl('clerk').fails('get', 'groups.id.vestibule.org');
  });

  test('people sign in beside it, and an operator of the cluster sees them', async () => {
    await signIn(it.replicas[0]!, 'person@example.test');
    expect(
      await admin.says(
        'get',
        'accounts',
        '-o',
        'jsonpath={.items[*].spec.email}{.items[*].status.email}',
      ),
    ).toContain('person@example.test');
    expect((await cluster.as('admin').get(`${API}/accounts/~`, plain)).code).toBe(401);
  });

  test('while it is down the cluster says so and serves all else; it is back by itself', async () => {
    expect(await unavailable()).toBe(0);
    expect(await it.replicas[0]!.stop()).toBe(0);
    await it.available(false);
    expect(await unavailable()).toBe(1);
    await admin.fails('get', 'groups.id.vestibule.org');
    expect(await admin.fails('get', '--raw', `${API}/groups`)).toMatch(
      /ServiceUnavailable|unable to handle the request/,
    );
    expect((await cluster.as('admin').get(`${API}/groups`, plain)).code).toBe(503);
    expect(await admin.says('get', 'namespaces', '-o', 'name')).toContain('namespace/kube-system');
    expect(
      await admin.says('get', 'roles.rbac.authorization.k8s.io', '-n', 'kube-system', '-o', 'name'),
    ).toContain('extension-apiserver-authentication-reader');
    await it.replicas[0]!.again();
    await it.available();
    expect(await unavailable()).toBe(0);
    expect(
      (
        await eventually(
          () => admin.run(['get', 'policies.id.vestibule.org', '-o', 'name']),
          ({ code }) => code === 0,
        )
      ).out,
    ).toContain('p-1');
    expect(it.replicas[0]!.complaints).not.toMatch(/"level":"(error|fatal)"/);
  });
});
