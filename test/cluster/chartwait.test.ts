import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { eventually, KubeAPIServer } from '../support/cluster/kubeapiserver.js';
import { chart, forget, type Helm, helms, valuesFile, valuesOf } from './helm.js';
import { Kubelet } from './kubelet.js';
import { Objects } from './objects.js';
import { Surroundings } from './surroundings.js';

jest.setTimeout(600_000);

const here = new Surroundings();
let cluster: KubeAPIServer;
let objects: Objects;
let kubelet: Kubelet;
beforeAll(async () => {
  cluster = await KubeAPIServer.start();
  objects = await Objects.at(cluster);
  cluster.startControllers(
    [
      'deployment-controller',
      'replicaset-controller',
      'statefulset-controller',
      'serviceaccount-controller',
      'garbage-collector-controller',
    ].join(),
  );
  kubelet = new Kubelet(cluster, here);
});
afterAll(async () => {
  await kubelet?.stop();
  await cluster?.stop();
  await here.end();
  forget();
});

/** The Secrets that a release finds, as a namespace of the cluster has them. */
async function createSecrets(namespace: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await objects.create(
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name },
        data: Object.fromEntries(
          Object.entries(here.held[name]!).map(([key, value]) => [
            key,
            Buffer.from(value).toString('base64'),
          ]),
        ),
      },
      namespace,
    );
  }
}

const workload = (kind: 'Deployment' | 'StatefulSet', namespace: string): Promise<any> =>
  objects.get({ apiVersion: 'apps/v1', kind, metadata: { name: 'vestibule', namespace } });

describe.each(helms.map((helm, i) => [helm.name, helm, i] as const))('%s', (_, helm, number) => {
  const at = (namespace: string) => {
    const own: Helm = helm.at(cluster.config('admin'));
    return async (word: string, ...more: readonly string[]): Promise<string> => {
      const { code, out, error } = await own.run([
        word,
        'vestibule',
        ...more,
        '--namespace',
        namespace,
      ]);
      if (code !== 0) throw new Error(`${helm.name} ${word}: ${error}`);
      return out;
    };
  };

  test('install --wait returns when the service is ready', async () => {
    const namespace = `wait-${number}-embedded`;
    const run = at(namespace);
    const values = valuesOf('embedded');
    await run('install', chart, '--create-namespace', '--wait', '--timeout', '5m', ...values);
    expect((await workload('StatefulSet', namespace)).status).toMatchObject({ readyReplicas: 1 });
    expect(await run('test')).toMatch(/Phase: +Succeeded/);
    const changed = ['--set', 'config.limitFactor=2'];
    await run('upgrade', chart, '--wait', '--timeout', '5m', ...values, ...changed);
    const { spec, status } = await workload('StatefulSet', namespace);
    expect(spec.template.spec.containers[0].args).toContain('--limit-factor=2');
    expect(status).toMatchObject({ readyReplicas: 1, updatedReplicas: 1 });
    await run('uninstall', '--wait');
    await eventually(
      () => cluster.as('admin').get(`/api/v1/namespaces/${namespace}/pods`, { plain: true }),
      ({ body }) => body.items.length === 0,
    );
  });

  test('upgrade --wait of two replicas on etcd keeps both ready at any time', async () => {
    const namespace = `wait-${number}-etcd`;
    const run = at(namespace);
    await objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    await createSecrets(namespace, ['vestibule-etcd', 'vestibule-keys', 'vestibule-mail']);
    const values = [
      ...valuesOf('etcd'),
      '--values',
      valuesFile({ store: { etcd: { servers: [await here.etcd()] } } }),
    ];
    await run('install', chart, '--wait', '--timeout', '5m', ...values);
    expect(await run('test')).toMatch(/Phase: +Succeeded/);
    kubelet.leastReady = Infinity;
    const changed = ['--set', 'config.limitFactor=2'];
    await run('upgrade', chart, '--wait', '--timeout', '5m', ...values, ...changed);
    expect(kubelet.leastReady).toBe(2);
    // Helm 3 is done while the last of the former pods is still ending.
    await eventually(
      () => workload('Deployment', namespace),
      ({ status }) =>
        [status.replicas, status.readyReplicas, status.updatedReplicas].every((one) => one === 2),
    );
    await run('uninstall', '--wait');
  });

  test('install --wait fails where a Secret is missing; an upgrade mends it', async () => {
    const namespace = `wait-${number}-late`;
    const run = at(namespace);
    await objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    await createSecrets(namespace, ['vestibule-etcd', 'vestibule-mail']);
    const values = [
      ...valuesOf('etcd'),
      '--values',
      valuesFile({ store: { etcd: { servers: [await here.etcd()] } } }),
    ];
    await expect(run('install', chart, '--wait', '--timeout', '10s', ...values)).rejects.toThrow(
      /deadline|not ready|timed out/,
    );
    await createSecrets(namespace, ['vestibule-keys']);
    await run('upgrade', chart, '--wait', '--timeout', '5m', ...values);
    expect(await run('test')).toMatch(/Phase: +Succeeded/);
    await run('uninstall', '--wait');
  });
});
