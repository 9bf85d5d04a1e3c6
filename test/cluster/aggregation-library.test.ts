import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { subjectAccessReviews } from '../../apiserver/library/index.js';
import { Fishery, fischer, fischers } from '../library/fishery.js';
import { authority, certificate } from '../support/cluster/frontproxy.js';
import { serverAuth } from '../support/cluster/issue-certificate.js';
import { eventually, KubeAPIServer } from '../support/cluster/kubeapiserver.js';
import { stopAll } from '../support/service.js';

jest.setTimeout(300_000);

const plain = { plain: true } as const;
const fishery = new Fishery('embedded');
let cluster: KubeAPIServer;
beforeAll(async () => {
  cluster = await KubeAPIServer.start();
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

/** Makes the account of the server, which may ask for reviews, and a role for clerks. */
async function declareRoles(): Promise<void> {
  await cluster.create('/api/v1/namespaces', { metadata: { name: namespace } });
  await cluster.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, {
    metadata: { name: account },
  });
  const server = { kind: 'ServiceAccount', name: account, namespace };
  await bind('fischer-auth', 'system:auth-delegator', server);
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
  const clerks = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'clerks' };
  await bind('fishers', 'fishers', clerks);
}

/** Declares the API behind a Service that leads to this machine; resolves when it is available. */
async function declareAPI(port: number, ca: string): Promise<void> {
  await cluster.create(`/api/v1/namespaces/${namespace}/services`, {
    metadata: { name: 'fischer' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
  const services = '/apis/apiregistration.k8s.io/v1/apiservices';
  const name = 'v1alpha1.wardle.example.com';
  await cluster.create(services, {
    metadata: { name },
    spec: {
      group: 'wardle.example.com',
      version: 'v1alpha1',
      groupPriorityMinimum: 1000,
      versionPriority: 15,
      service: { name: 'fischer', namespace, port },
      caBundle: Buffer.from(ca).toString('base64'),
    },
  });
  await eventually(
    async () => (await cluster.as('admin').get(`${services}/${name}`, plain).is(200)).body,
    ({ status }) =>
      status?.conditions?.some((one: any) => one.type === 'Available' && one.status === 'True'),
  );
}

test('roles of a real cluster decide about a server of the library behind it', async () => {
  await declareRoles();
  const folder = await cluster.mount(namespace, account);
  const signer = authority('fischer-serving');
  const { url } = await fishery.start({
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
  await declareAPI(Number(new URL(url).port), signer.cert);
  const [clerk, ada] = [cluster.as('clerk'), cluster.as('ada')];
  await clerk.post(fischers, fischer('f1'), plain).is(201);
  expect((await clerk.get(fischers, plain).is(200)).body.items).toHaveLength(1);
  await clerk.delete(`${fischers}/f1`, plain).fails(403, 'Forbidden');
  await ada.get(fischers, plain).fails(403, 'Forbidden');
  await ada.get(`${fischers}/f1`, plain).fails(403, 'Forbidden');
  expect(await cluster.kubectl('clerk').says('get', 'fischers')).toMatch(/^f1 +north/m);
  await cluster.as('admin').delete(`${fischers}/f1`, plain).is(200);
});
