import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { parse } from 'yaml';
// @ts-expect-error the commands have no types
import { writeChart } from '../../hack/artefacts/chart.mjs';
import { release } from '../../observability/build-info.js';
import { API } from '../support/cluster/aggregated.js';
import { master } from '../support/cluster/frontproxy.js';
import { eventually, KubeAPIServer } from '../support/cluster/kubeapiserver.js';
import { program } from '../support/command.js';
import { expectFor } from '../support/expect-for.js';
import { exchange } from '../support/people/tab.js';
import {
  chart,
  everythingRendered,
  examples,
  forget,
  type Helm,
  helms,
  only,
  podOf,
  type Rendered,
  valuesFile,
  valuesOf,
} from './helm.js';
import { Objects, type Put } from './objects.js';
import { Surroundings } from './surroundings.js';

jest.setTimeout(600_000);

const [helm] = helms;
const root = join(import.meta.dirname, '../..');
const here = new Surroundings();
const everything: (readonly [of: string, objects: readonly Rendered[]])[] = [];
/**
 * Kinds of other projects, and the files that define them, where hack/test-cluster could fetch
 * those.
 */
const [others, definitions] = [
  new Set(['BackendTLSPolicy', 'Certificate', 'HTTPRoute', 'PrometheusRule', 'ServiceMonitor']),
  (process.env.CRDS ?? '').split('\n').filter(Boolean),
];
let cluster: KubeAPIServer;
let objects: Objects;

const core = (kind: string, name: string, labels = {}): Put => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, labels },
});
const secured = {
  'pod-security.kubernetes.io/enforce': 'restricted',
  'pod-security.kubernetes.io/warn': 'restricted',
};

beforeAll(async () => {
  cluster = await KubeAPIServer.start();
  objects = await Objects.at(cluster);
  for (const namespace of ['identity', 'pods']) {
    await objects.create(core('Namespace', namespace, secured));
    await objects.create(core('ServiceAccount', 'default'), namespace); // a controller makes it otherwise
  }
  await objects.create({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'business-critical' },
    value: 1_000,
  });
  await objects.create({
    apiVersion: 'node.k8s.io/v1',
    kind: 'RuntimeClass',
    metadata: { name: 'gvisor' },
    handler: 'runsc',
  });
  for (const file of definitions) {
    const definition = parse(readFileSync(file, 'utf8'));
    await objects.create(definition);
    const {
      group,
      names: { kind, plural },
      versions,
    } = definition.spec;
    const { name } = versions.find(({ storage }: { storage: boolean }) => storage);
    await eventually(
      () =>
        exchange(
          cluster.url,
          'GET',
          `/apis/${group}/${name}/${plural}`,
          { authorization: `Bearer ${cluster.token('admin')}` },
          undefined,
          { ca: cluster.ca },
        ),
      ({ code }) => code === 200,
    );
    await eventually(
      () => objects.discover().then(() => objects.serves({ apiVersion: `${group}/${name}`, kind })),
      (is) => is,
    );
  }
  for await (const one of everythingRendered(helm!)) everything.push(one);
});
afterAll(async () => {
  await cluster?.stop();
  await here.end();
  forget();
});

/** A workload's pod as a controller makes it. */
function podFrom({
  metadata: { name },
  spec: {
    template: { metadata, spec },
    volumeClaimTemplates = [],
  },
}: Rendered): Put {
  const claimed = volumeClaimTemplates.map(({ metadata: { name: volume } }: Rendered) => ({
    name: volume,
    persistentVolumeClaim: { claimName: `${volume}-${name}-0` },
  }));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, name: `${name}-0` },
    spec: { ...spec, volumes: [...(spec.volumes ?? []), ...claimed] },
  };
}

test('everything that is rendered is taken, read strictly and without a warning', async () => {
  const seen = new Set<string>();
  for (const [of, rendered] of everything) {
    for (const one of rendered) {
      if (definitions.length === 0 && others.has(one.kind)) continue;
      expectFor(
        [of, objects.nameOf(one, 'identity')],
        await objects.tries(one, 'identity'),
      ).toEqual('taken');
      seen.add(one.kind);
    }
  }
  expect([...others].filter((kind) => seen.has(kind))).toEqual(
    definitions.length === 0 ? [] : [...others],
  );
  expect([...seen]).toEqual(
    expect.arrayContaining([
      'APIService',
      'ClusterRole',
      'Deployment',
      'HorizontalPodAutoscaler',
      'Ingress',
      'NetworkPolicy',
      'Pod',
      'PodDisruptionBudget',
      'RoleBinding',
      'StatefulSet',
    ]),
  );
});

test('every pod is admitted where Pod Security is "restricted"', async () => {
  for (const [of, rendered] of everything) {
    const workload = rendered.find(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind))!;
    const tested = only(rendered, 'Pod');
    await objects.create(
      core('ServiceAccount', workload.spec.template.spec.serviceAccountName),
      'pods',
    );
    for (const pod of [
      podFrom(workload),
      { ...tested, metadata: { name: tested.metadata.name } },
    ]) {
      expectFor([of, pod.metadata.name], await objects.tries(pod, 'pods')).toEqual('taken');
    }
  }
});

test('what is misspelt, wrong or unsafe would not have been', async () => {
  const rendered = everything.find(([of]) => of === 'etcd')![1];
  const deployment = only(rendered, 'Deployment');
  const { spec } = deployment;
  expect(await objects.tries({ ...deployment, spec: { ...spec, minReadySecond: 5 } })).toContain(
    'unknown field "spec.minReadySecond"',
  );
  expect(
    await objects.tries({
      ...deployment,
      spec: { ...spec, strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
    }),
  ).toMatch(/^422 .*spec\.strategy\.rollingUpdate/);
  const monitor = only(everything.find(([of]) => of === 'everything')![1], 'ServiceMonitor');
  if (definitions.length > 0) {
    expect(await objects.tries({ ...monitor, spec: { ...monitor.spec, endpoint: [] } })).toContain(
      'unknown field "spec.endpoint"',
    );
  }
  const [container] = spec.template.spec.containers;
  const unsafe = {
    ...deployment,
    spec: {
      ...spec,
      template: {
        ...spec.template,
        spec: { ...spec.template.spec, containers: [{ ...container, securityContext: {} }] },
      },
    },
  };
  await objects.create(core('ServiceAccount', spec.template.spec.serviceAccountName), 'pods');
  expect(await objects.tries(unsafe)).toMatch(/^201 299 .*would violate PodSecurity/);
  expect(await objects.tries(podFrom(unsafe), 'pods')).toMatch(
    /^403 .*violates PodSecurity "restricted:latest"/,
  );
});

/** What a release is installed with, what it is upgraded to, and where. */
const peers = [{ podSelector: {} }];
const lives = [
  [
    'on the embedded store',
    'embedded',
    {
      config: { operators: ['you@example.org'], limitFactor: 2 },
      manifests: { 'staff.yaml': { kind: 'Group' } },
      service: { type: 'NodePort', externalTrafficPolicy: 'Local' },
      resources: { limits: { memory: '1Gi' } },
      tracing: { endpoint: 'http://collector:4318' },
      serviceAccount: { create: false },
    },
  ],
  [
    'on etcd',
    'etcd',
    {
      config: { trustedProxies: ['10.0.0.0/8'] },
      ingress: { enabled: true },
      autoscaling: { enabled: true },
      metrics: { enabled: true, dashboard: { enabled: true } },
      tls: { enabled: true, existingSecret: 'tls' },
      networkPolicy: {
        enabled: true,
        from: { gateway: peers, monitoring: peers },
        to: { etcd: peers, smtp: peers },
      },
      extraObjects: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'own' } }],
    },
  ],
  [
    'behind this API server, while nothing answers there',
    'aggregated-secret',
    { replicas: 3, aggregation: { clusterRoles: false }, podLabels: { team: 'identity' } },
  ],
] as const;

describe.each(helms.map((helm, i) => [helm.name, helm, i] as const))('%s', (_, one, number) => {
  test.each(lives)(
    'installs it %s, upgrades it to other values, goes back and uninstalls',
    async (where, scenario, changes) => {
      const namespace = `life-${number}-${scenario}`;
      const [first, second] = [
        valuesOf(scenario),
        [...valuesOf(scenario), '--values', valuesFile(changes)],
      ];
      const release = new Release(one, namespace);
      const before = await objects.all();
      const added = async (): Promise<string[]> =>
        (await objects.all()).filter((name) => !before.includes(name));
      const stands = async (values: readonly string[]): Promise<void> => {
        const rendered = (await one.render([...values, '--namespace', namespace])).filter(
          ({ metadata }) => metadata.annotations?.['helm.sh/hook'] === undefined,
        );
        expect(
          (await added()).filter(
            (name) => !name.startsWith(`Secret ${namespace}/sh.helm.release.v1.vestibule.`),
          ),
        ).toEqual(
          [
            `Namespace /${namespace}`,
            ...rendered.map((object) => objects.nameOf(object, namespace)),
          ].sort(),
        );
        const workload = rendered.find(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind))!;
        const {
          spec: {
            replicas,
            template: { metadata, spec },
          },
        } = await objects.get(workload);
        const wanted = podOf(rendered); // where it does not say how many there are, as with an autoscaler, the API server takes it that there is one
        expect([
          replicas,
          metadata,
          spec.containers[0].args,
          spec.containers[0].env,
          spec.serviceAccountName,
        ]).toEqual([
          workload.spec.replicas ?? 1,
          expect.objectContaining(wanted.metadata),
          wanted.spec.containers[0].args,
          wanted.spec.containers[0].env,
          wanted.spec.serviceAccountName,
        ]);
      };
      await release.does('install', chart, '--create-namespace', ...first);
      expect(await release.history()).toEqual(['1 deployed']);
      await stands(first);
      await release.does('upgrade', chart, ...second);
      expect(await release.history()).toEqual(['1 superseded', '2 deployed']);
      await stands(second);
      await release.does('rollback', '1');
      expect(await release.history()).toEqual(['1 superseded', '2 superseded', '3 deployed']);
      await stands(first);
      await release.does('uninstall');
      expect(await release.run('history')).toMatchObject({
        code: 1,
        error: expect.stringContaining('release: not found'),
      });
      expect(await added()).toEqual([`Namespace /${namespace}`]);
    },
  );
});

test('a larger volume is refused; after the two steps of the how-to it is accepted', async () => {
  const namespace = 'larger';
  const release = new Release(helm!, namespace);
  const larger = [chart, ...valuesOf('embedded'), '--set', 'store.embedded.size=9Gi'];
  const size = async (): Promise<string> =>
    (
      await objects.get({
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: { name: 'vestibule', namespace },
      })
    ).spec.volumeClaimTemplates[0].spec.resources.requests.storage;
  await release.does('install', chart, '--create-namespace', ...valuesOf('embedded'));
  expect(await release.run('upgrade', ...larger)).toMatchObject({
    code: 1,
    error: expect.stringContaining('updates to statefulset spec'),
  });
  expect([await release.history(), await size()]).toEqual([['1 deployed', '2 failed'], '5Gi']);
  cluster.startControllers();
  try {
    await cluster
      .kubectl('admin')
      .says('delete', 'statefulset', 'vestibule', '--cascade=orphan', '--namespace', namespace);
  } finally {
    await cluster.stopControllers();
  }
  await release.does('upgrade', ...larger);
  expect([await release.history(), await size()]).toEqual([
    ['1 superseded', '2 failed', '3 deployed'],
    '9Gi',
  ]);
  await release.does('uninstall');
});

/**
 * The commands that a part of a page shows, of those that need no kubelets, and the values that it
 * shows before them.
 */
function shownIn(
  page: string,
  ...headings: readonly string[]
): { commands: string[]; values: string } {
  const text = readFileSync(join(root, page), 'utf8')
    .split(/^(?=## )/m)
    .filter(
      (part) =>
        headings.length === 0 || headings.some((heading) => part.startsWith(`## ${heading}\n`)),
    )
    .join('');
  return {
    commands: [
      ...text.matchAll(
        /^ {4}((?:vestibule keys new|kubectl create|helm (?:install|upgrade|uninstall)) .*)$/gm,
      ),
    ].map(([, line]) => line!),
    values: /^```yaml\n(baseURL:[\s\S]*?)^```$/m.exec(text)?.[1] ?? '',
  };
}

const pagesOf: (readonly [page: string, headings: readonly string[]])[] = [
  ...examples.map((name) => [`deploy/examples/${name}/README.md`, []] as const),
  ['docs/how-to/kubernetes.md', ['A trial', 'Uninstalling']],
  ['docs/how-to/kubernetes.md', ['In earnest', 'Changing it', 'Uninstalling']],
];

test.each(
  pagesOf.map(([page, headings]) => [[page, ...headings].join(', '), page, headings] as const),
)('the commands of %s do what they say, as they are written', async (_, page, headings) => {
  const { commands, values } = shownIn(page, ...headings);
  const namespace = `page-${pagesOf.findIndex(([one, some]) => one === page && some === headings)}`;
  const place = mkdtempSync(join(tmpdir(), 'vestibule-page-'));
  try {
    const { files } = here.certificates;
    for (const [name, to] of Object.entries({
      deploy: join(root, 'deploy'),
      helm: helm!.path,
      kubectl: join(process.env.KUBERNETES_BIN!, 'kubectl'),
      vestibule: program,
      'ca.crt': files.ca,
      'tls.crt': files.cert,
      'tls.key': files.key,
    })) {
      symlinkSync(to, join(place, name));
    }
    const installs = commands.find((line) => line.startsWith('helm install'))!;
    const given = /--values deploy\S+/.exec(installs)?.[0].split(' ')[1];
    writeFileSync(join(place, 'values.yaml'), values);
    mkdirSync(join(place, 'chart'));
    writeChart(join(place, 'chart', `vestibule-${release}.tgz`), 0);
    const kinds = (
      await helm!.render(['--values', given ? join(root, given) : join(place, 'values.yaml')])
    ).map(({ kind }) => kind);
    const isKnown = definitions.length > 0 || !kinds.some((kind) => others.has(kind));
    const before = await objects.all();
    for (const line of commands.filter((command) => isKnown || !command.startsWith('helm'))) {
      const there = line
        .replace('--namespace vestibule', `--namespace ${namespace}`)
        .replace('create namespace vestibule', `create namespace ${namespace}`);
      const { status, stderr } = spawnSync('bash', ['--norc', '-c', there], {
        cwd: place,
        encoding: 'utf8',
        env: {
          PATH: `${place}:${process.env.PATH}`,
          HOME: place,
          KUBECONFIG: cluster.config('admin'),
        },
      });
      expectFor(line, [status, status === 0 ? '' : stderr]).toEqual([0, '']);
    }
    if (commands.some((line) => line.startsWith('helm uninstall'))) {
      expect(
        (await objects.all()).filter(
          (one) => !before.includes(one) && !/^(Namespace |Secret \S+\/vestibule-)/.test(one),
        ),
      ).toEqual([]);
    } else {
      await new Release(helm!, namespace).run('uninstall');
    }
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});

test('what is rendered for aggregation starts in a pod of this cluster', async () => {
  const namespace = 'started';
  const { pem } = here.certificates;
  const values = [
    ...valuesOf('aggregated-secret'),
    '--values',
    valuesFile({
      store: { etcd: { servers: [await here.etcd()] } },
      aggregation: { caBundle: pem.ca.toString() },
    }),
  ];
  const release = new Release(helm!, namespace);
  await release.does('install', chart, '--create-namespace', ...values);
  const rendered = await helm!.render([...values, '--namespace', namespace]);
  const pod = here.start(rendered, {
    port: cluster.port,
    account: await cluster.mount(namespace, podOf(rendered).spec.serviceAccountName),
  });
  const [, url, secureURL] = await pod.ready;
  expect((await exchange(url!, 'GET', '/readyz', {})).code).toBe(200);
  const asked = async (proof: object): Promise<number> =>
    (
      await exchange(secureURL!, 'GET', `${API}/groups`, master, undefined, {
        ca: pem.ca,
        ...proof,
      })
    ).code;
  expect([await asked(cluster.front.proxy), await asked({})]).toEqual([200, 401]);
  expect(pod.complaints).toContain('trusted front proxies changed');
  expect(await pod.stop()).toBe(0);
  await release.does('uninstall');
});

/** A release called vestibule in a namespace of this cluster. */
class Release {
  readonly #helm: Helm;
  readonly #namespace: string;

  constructor(one: Helm, namespace: string) {
    this.#helm = one.at(cluster.config('admin'));
    this.#namespace = namespace;
  }

  run(word: string, ...more: readonly string[]): ReturnType<Helm['run']> {
    return this.#helm.run([word, 'vestibule', ...more, '--namespace', this.#namespace]);
  }

  async does(word: string, ...more: readonly string[]): Promise<void> {
    const { code, error } = await this.run(word, ...more);
    if (code !== 0) throw new Error(`${this.#helm.name} ${word}: ${error}`);
  }

  /** Its revisions and how each stands. */
  async history(): Promise<string[]> {
    const { out } = await this.run('history', '--output', 'json');
    return JSON.parse(out).map(
      ({ revision, status }: { revision: number; status: string }) => `${revision} ${status}`,
    );
  }
}
