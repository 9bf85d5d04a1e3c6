import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Served } from '../../faults/served.js';
import { type EtcdServer, freePorts, startEtcd } from '../../storage/etcd-server.js';
import { Balancer } from '../network/balancer.js';
import { temporary } from '../service.js';
import { authority, certificate } from './frontproxy.js';
import { serverAuth } from './issue-certificate.js';
import { eventually, KubeAPIServer } from './kubeapiserver.js';

/** The group's path in the cluster, which is ours too. */
export const API = '/apis/id.vestibule.org/v1beta1';
const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
/** The versions that the chart declares, with their priorities. */
const versions = { v1beta1: 20, v1alpha1: 15 };
const declared = Object.keys(versions).map((one) => `${apiServices}/${one}.id.vestibule.org`);
const [namespace, account, host] = ['vestibule', 'vestibule', 'vestibule.vestibule.svc'];
const roles = '/apis/rbac.authorization.k8s.io/v1';

/**
 * The service as replicas of the real command behind a real kube-apiserver, each in what looks like
 * a pod to it.
 */
export interface Aggregated {
  readonly cluster: KubeAPIServer;
  readonly replicas: readonly Served[];
  /** The secure port of each. */
  readonly ports: readonly number[];
  readonly balancer: Balancer;
  /** Whom the service's own certificate is signed by, PEM. */
  readonly ca: string;
  /** Resolves once the cluster says that the API is there, or, with `false`, that it is not. */
  available(is?: boolean): Promise<void>;
  /** Every audit event of the service so far. */
  audited(): any[];
  /** Ends it; the cluster goes on. */
  leave(): Promise<void>;
}

interface Options {
  readonly store?: 'embedded' | 'etcd';
  readonly count?: number;
  readonly flags?: readonly string[];
}

/** Declares the API to the cluster, as the chart does, and starts what serves it. */
export async function aggregate(
  cluster: KubeAPIServer,
  { store = 'embedded', count = 1, flags = [] }: Options = {},
): Promise<Aggregated> {
  const directory = temporary();
  await declareRoles(cluster);
  const signer = authority('vestibule-serving');
  const ports = await freePorts(count);
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text, { mode: 0o600 });
    return join(directory, name);
  };
  const pair = certificate('vestibule', signer, {
    usages: [serverAuth],
    names: ['vestibule', 'vestibule.vestibule', host, 'localhost'],
  });
  const audit = (i: number): string => join(directory, `audit-${i}.log`);
  const common = [
    '--tls-cert-file',
    file('given.crt', pair.cert),
    '--tls-private-key-file',
    file('given.key', pair.key),
    '--authentication-skip-lookup=false',
    '--operators',
    'op@example.test',
    ...flags,
  ];
  const own = (i: number): string[] => [
    '--secure-port',
    String(ports[i]),
    '--audit-log-path',
    audit(i),
    '--log-level',
    'info',
    ...common,
  ];
  const environment = {
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: String(cluster.port),
    SERVICE_ACCOUNT: await cluster.mount(namespace, account),
    NODE_OPTIONS: `--import ${pathToFileURL(join(import.meta.dirname, '../mount.mjs')).href}`,
  };
  const etcd: EtcdServer | undefined = store === 'etcd' ? await startEtcd() : undefined; // not the cluster's: each compacts its own
  let [replicas, balancer]: [readonly Served[], Balancer | undefined] = [[], undefined];
  const end = async (): Promise<void> => {
    balancer?.close();
    for (const replica of replicas) await replica.end();
    await etcd?.stop();
  };
  try {
    replicas = etcd
      ? await Served.replicas(count, directory, etcd.endpoint, '', own, () => environment)
      : [await Served.start(directory, environment, { flags: own(0) })];
    balancer = await Balancer.before(...replicas.map(({ url }, i) => ({ url, port: ports[i]! })));
    await declareAPI(cluster, balancer.port, signer.cert);
  } catch (error) {
    await end();
    throw error;
  }
  return {
    cluster,
    replicas,
    ports,
    balancer,
    ca: signer.cert,
    available: async (is = true) => {
      for (const path of declared) {
        const condition = async (): Promise<any> =>
          (
            await cluster.as('admin').get(path, { plain: true }).is(200)
          ).body.status?.conditions?.find(({ type }: { type: string }) => type === 'Available');
        await eventually(condition, (seen) => seen?.status === (is ? 'True' : 'False'));
      }
    },
    audited: () =>
      ports.flatMap((_, i) =>
        readFileSync(audit(i), 'utf8')
          .trimEnd()
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line)),
      ),
    async leave() {
      await end();
      await withdraw(cluster);
    },
  };
}

/** Namespace, service account, what it may read, and the two roles of the chart; once a cluster. */
async function declareRoles(cluster: KubeAPIServer): Promise<void> {
  if (
    (await cluster.as('admin').get(`/api/v1/namespaces/${namespace}`, { plain: true })).code === 200
  ) {
    return;
  }
  const rules = (resources: string[], verbs: string[]): object[] => [
    { apiGroups: ['id.vestibule.org'], resources, verbs },
  ];
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };
  await cluster.create('/api/v1/namespaces', { metadata: { name: namespace } });
  await cluster.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, {
    metadata: { name: account },
  });
  await cluster.create(`${roles}/namespaces/kube-system/rolebindings`, {
    ...rbac,
    kind: 'RoleBinding',
    metadata: { name: 'vestibule-authentication-reader' },
    roleRef: {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'Role',
      name: 'extension-apiserver-authentication-reader',
    },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
  });
  await cluster.create(`${roles}/clusterroles`, {
    ...rbac,
    kind: 'ClusterRole',
    metadata: {
      name: 'vestibule-viewer',
      labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' },
    },
    rules: rules(['policies', 'clients', 'claimsproviders'], ['get', 'list', 'watch']),
  });
  await cluster.create(`${roles}/clusterroles`, {
    ...rbac,
    kind: 'ClusterRole',
    metadata: { name: 'vestibule-operator' },
    rules: rules(
      ['*'],
      ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
    ),
  });
  await cluster.create(`${roles}/clusterrolebindings`, {
    ...rbac,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'clerks' },
    roleRef: {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'ClusterRole',
      name: 'vestibule-operator',
    },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'clerks' }],
  });
}

/** A Service that leads to this machine, and the API behind it. */
async function declareAPI(cluster: KubeAPIServer, port: number, ca: string): Promise<void> {
  await cluster.create(`/api/v1/namespaces/${namespace}/services`, {
    metadata: { name: 'vestibule' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
  for (const [version, versionPriority] of Object.entries(versions)) {
    await cluster.create(apiServices, {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `${version}.id.vestibule.org` },
      spec: {
        group: 'id.vestibule.org',
        version,
        groupPriorityMinimum: 1000,
        versionPriority,
        service: { name: 'vestibule', namespace, port },
        caBundle: Buffer.from(ca).toString('base64'),
      },
    });
  }
}

async function withdraw(cluster: KubeAPIServer): Promise<void> {
  const admin = cluster.as('admin');
  for (const path of [...declared, `/api/v1/namespaces/${namespace}/services/vestibule`]) {
    await admin.delete(path, { plain: true }).is(200);
  }
  for (const version of Object.keys(versions)) {
    await eventually(
      () => admin.get(`/apis/id.vestibule.org/${version}`, { plain: true }),
      ({ code }) => code === 404,
    );
  }
}
