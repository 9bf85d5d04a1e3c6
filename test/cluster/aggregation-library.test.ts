import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { z } from 'zod';
import {
  type AnyKind,
  type ApiServer,
  kindsOf,
  subjectAccessReviews,
} from '../../apiserver/library/index.js';
import { Fischer, Fishery, fischer, fischers } from '../library/fishery.js';
import { verbs } from '../library/fixture.js';
import { authority, certificate } from '../support/cluster/frontproxy.js';
import { serverAuth } from '../support/cluster/issue-certificate.js';
import { eventually, KubeAPIServer } from '../support/cluster/kubeapiserver.js';
import { stopAll } from '../support/service.js';

jest.setTimeout(300_000);

const plain = { plain: true } as const;
const fishery = new Fishery('embedded');
const signer = authority('fischer-serving');
let cluster: KubeAPIServer;
/** The folder of the account of the servers. */
let folder: string;
beforeAll(async () => {
  cluster = await KubeAPIServer.start();
  await declareAccount();
  folder = await cluster.mount(namespace, account);
});
afterAll(async () => {
  await fishery.stop();
  await cluster?.stop();
  await stopAll();
});

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const [namespace, account] = ['fish', 'fischer'];

/** Binds a ClusterRole to a subject. */
const bind = (name: string, role: string, subject: object): Promise<unknown> =>
  cluster.create(`${rbac}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [subject],
  });

/** Makes the account of the servers, which may ask for reviews, and a Service that leads to this machine. */
async function declareAccount(): Promise<void> {
  await cluster.create('/api/v1/namespaces', { metadata: { name: namespace } });
  await cluster.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, {
    metadata: { name: account },
  });
  const server = { kind: 'ServiceAccount', name: account, namespace };
  await bind('fischer-auth', 'system:auth-delegator', server);
  await cluster.create(`/api/v1/namespaces/${namespace}/services`, {
    metadata: { name: 'fischer' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
}

const clerks = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'clerks' };

/** Starts a server whose requests the roles of the cluster decide. */
const start = (kinds: readonly AnyKind[]): Promise<ApiServer> =>
  fishery.start({
    kinds,
    certificate: certificate('fischer', signer, {
      usages: [serverAuth],
      names: [`fischer.${namespace}.svc`, 'localhost'],
    }),
    requestHeader: { ca: cluster.front.authority.cert, allowedNames: ['front-proxy-client'] },
    authorize: subjectAccessReviews({
      server: cluster.url,
      ca: cluster.ca,
      token: () => readFileSync(join(folder, 'token'), 'utf8'),
    }),
  });

/** Declares the API of a server; resolves when it is available. */
async function declareAPI({ url }: ApiServer, group: string, version: string): Promise<void> {
  const services = '/apis/apiregistration.k8s.io/v1/apiservices';
  const name = `${version}.${group}`;
  await cluster.create(services, {
    metadata: { name },
    spec: {
      group,
      version,
      groupPriorityMinimum: 1000,
      versionPriority: 15,
      service: { name: 'fischer', namespace, port: Number(new URL(url).port) },
      caBundle: Buffer.from(signer.cert).toString('base64'),
    },
  });
  await eventually(
    async () => (await cluster.as('admin').get(`${services}/${name}`, plain).is(200)).body,
    ({ status }) =>
      status?.conditions?.some((one: any) => one.type === 'Available' && one.status === 'True'),
  );
}

test('roles of a real cluster decide about a server of the library behind it', async () => {
  await cluster.create(`${rbac}/clusterroles`, {
    metadata: { name: 'fishers' },
    rules: [
      {
        apiGroups: ['wardle.example.com'],
        resources: ['fischers'],
        verbs: ['get', 'list', 'watch', 'create'],
      },
    ],
  });
  await bind('fishers', 'fishers', clerks);
  await declareAPI(await start([Fischer]), 'wardle.example.com', 'v1alpha1');
  const [clerk, ada] = [cluster.as('clerk'), cluster.as('ada')];
  await clerk.post(fischers, fischer('f1'), plain).is(201);
  expect((await clerk.get(fischers, plain).is(200)).body.items).toHaveLength(1);
  await clerk.delete(`${fischers}/f1`, plain).fails(403, 'Forbidden');
  await ada.get(fischers, plain).fails(403, 'Forbidden');
  await ada.get(`${fischers}/f1`, plain).fails(403, 'Forbidden');
  expect(await cluster.kubectl('clerk').says('get', 'fischers')).toMatch(/^f1 +north/m);
  await cluster.as('admin').delete(`${fischers}/f1`, plain).is(200);
});

const groups = ['north.example.com', 'south.example.com'] as const;

/** A namespaced kind of the same name in each of the groups. */
const ponds = groups.map((group) =>
  kindsOf({ group, version: 'v1', hasQualifiedKeys: group !== groups[0] })({
    kind: 'Pond',
    resource: 'ponds',
    scope: 'Namespaced',
    description: 'Where fish are.',
    verbs,
    spec: z.object({}),
    status: z.object({}),
    columns: {},
  }),
);

test('namespaces of a real cluster have objects of two groups behind it', async () => {
  const server = await start(ponds);
  for (const group of groups) await declareAPI(server, group, 'v1');
  for (const name of ['meadow', 'forest']) {
    await cluster.create('/api/v1/namespaces', { metadata: { name } });
  }
  const roles = `${rbac}/namespaces/meadow`;
  const rules = [{ apiGroups: groups, resources: ['ponds'], verbs: ['get', 'list', 'create'] }];
  await cluster.create(`${roles}/roles`, { metadata: { name: 'anglers' }, rules });
  await cluster.create(`${roles}/rolebindings`, {
    metadata: { name: 'anglers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'anglers' },
    subjects: [clerks],
  });
  const [admin, clerk] = [cluster.as('admin'), cluster.as('clerk')];
  const pathIn = (group: string, place: string) => `/apis/${group}/v1/namespaces/${place}/ponds`;
  const pond = (name: string, metadata: object = {}) => ({
    metadata: { name, ...metadata },
    spec: {},
  });
  for (const group of groups) {
    await clerk.post(pathIn(group, 'meadow'), pond('p'), plain).is(201);
    await clerk.post(pathIn(group, 'forest'), pond('p'), plain).fails(403, 'Forbidden');
    await clerk.get(`/apis/${group}/v1/ponds`, plain).fails(403, 'Forbidden');
    await admin.post(pathIn(group, 'forest'), pond('p'), plain).is(201);
    const all = (await admin.get(`/apis/${group}/v1/ponds`, plain).is(200)).body.items;
    expect(all.map((one: any) => one.metadata.namespace)).toEqual(['forest', 'meadow']);
    const kubectl = cluster.kubectl('clerk');
    expect(await kubectl.says('-n', 'meadow', 'get', `ponds.${group}`)).toMatch(/^p +/m);
    expect(await kubectl.says('-n', 'meadow', 'auth', 'can-i', 'get', `ponds.${group}`)).toBe(
      'yes\n',
    );
  }
  const [path] = groups.map((group) => pathIn(group, 'meadow')) as [string];
  const config = { metadata: { name: 'owner' } };
  const { metadata: owner } = await cluster.create('/api/v1/namespaces/meadow/configmaps', config);
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.uid };
  await admin.post(path, pond('owned', { ownerReferences: [reference] }), plain).is(201);
  cluster.startControllers();
  await admin.delete('/api/v1/namespaces/meadow/configmaps/owner', plain).is(200);
  const codeOf = async (at: string) => (await admin.get(at, plain)).code;
  await eventually(
    () => codeOf(`${path}/owned`),
    (code) => code === 404,
  );
  expect(await codeOf(`${path}/p`)).toBe(200);
  await admin.delete('/api/v1/namespaces/meadow', plain).is(200);
  await eventually(
    () => codeOf('/api/v1/namespaces/meadow'),
    (code) => code === 404,
  );
  for (const { group } of ponds) {
    const left = (await admin.get(`/apis/${group}/v1/ponds`, plain).is(200)).body.items;
    expect(left.map((one: any) => one.metadata.namespace)).toEqual(['forest']);
  }
});
