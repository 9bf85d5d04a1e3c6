import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { expectFor } from '../support/expect-for.js';
import {
  chart,
  everythingRendered,
  examples,
  forget,
  helms,
  only,
  pages,
  podOf,
  type Rendered,
  scenarios,
  valuesFile,
  valuesIn,
  valuesOf,
} from './helm.js';
import { refused } from './refused.js';

/** Each Helm is a process of its own, on a machine that may be busy. */
jest.setTimeout(180_000);
afterAll(forget);

const [helm] = helms;

/** Every object and list within a value, with its path. */
function* within(value: unknown, path = ''): Generator<readonly [string, unknown]> {
  yield [path, value];
  if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) yield* within(inner, `${path}.${name}`);
  }
}

test('the newest Helm is there, and the one before it unless time is short', () => {
  const [first, second, ...others] = helms.map(({ name }) => name);
  expect([first, second ?? 'Helm v3.', others]).toEqual([
    expect.stringMatching(/^Helm v4\./),
    expect.stringMatching(/^Helm v3\./),
    [],
  ]);
});

describe.each(scenarios)('%s', (scenario) => {
  test.each(helms.map((helm) => [helm.name, helm] as const))(
    '%s finds nothing to complain of',
    async (_, one) => {
      const { code, out, error } = await one.run([
        'lint',
        '--strict',
        chart,
        ...valuesOf(scenario),
      ]);
      expect([code, `${out}${error}`]).toEqual([0, expect.stringContaining('0 chart(s) failed')]);
      expect(out).not.toMatch(/\[(WARNING|ERROR)\]/);
    },
  );

  test('is rendered by all to the same objects, which are those we know', async () => {
    const [first, ...others] = await Promise.all(
      helms.map((helm) => helm.render(valuesOf(scenario))),
    );
    for (const other of others) expect(other).toEqual(first);
    const file = join(import.meta.dirname, `golden/${scenario}.yaml`);
    const text = first!
      .map(
        (one) => `---\n${stringify(one, { version: '1.1', lineWidth: 0, sortMapEntries: true })}`,
      )
      .join('');
    if (process.env.GOLDEN === 'write') writeFileSync(file, text);
    expect(existsSync(file) ? readFileSync(file, 'utf8') : `there is no ${file}`).toBe(text);
  });

  test('says nothing twice and nothing empty, and names what it is', async () => {
    const objects = await helm!.render(valuesOf(scenario));
    const own = objects.filter(({ metadata }) => !/own|written/.test(metadata.name));
    for (const [path, value] of within(own)) {
      expect([path, value]).not.toEqual([path, null]);
      if (!Array.isArray(value)) continue;
      const names = value.filter((one) => typeof one?.name === 'string').map((one) => one.name);
      expectFor(path, new Set(names).size).toEqual(names.length);
    }
    expect(new Set(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).size).toBe(
      objects.length,
    );
    for (const { kind, metadata } of own) {
      expectFor(kind, metadata.labels).toEqual(
        expect.objectContaining({
          'helm.sh/chart': 'vestibule-0.1.0',
          'app.kubernetes.io/instance': 'vestibule',
          'app.kubernetes.io/managed-by': 'Helm',
        }),
      );
    }
    expect(JSON.stringify(objects)).not.toContain('insecureSkipTLSVerify');
  });

  test('its pods pass Pod Security "restricted"', async () => {
    const objects = await helm!.render(valuesOf(scenario));
    const pods = [podOf(objects), only(objects, 'Pod')];
    for (const { spec } of pods) {
      expect(spec.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 65532,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect([spec.hostNetwork, spec.hostPID, spec.hostIPC, spec.enableServiceLinks]).toEqual([
        undefined,
        undefined,
        undefined,
        false,
      ]);
      const [own] = spec.containers;
      expect(own.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        runAsNonRoot: true,
        capabilities: { drop: ['ALL'] },
      });
      expect([own.resources.limits.memory === undefined, own.resources.limits.cpu]).toEqual([
        false,
        undefined,
      ]);
      for (const volume of spec.volumes ?? []) {
        expect(
          Object.keys(volume).filter(
            (key) => !['name', 'secret', 'configMap', 'persistentVolumeClaim'].includes(key),
          ),
        ).toEqual([]);
      }
    }
    const aggregated = objects.some(({ kind }) => kind === 'APIService');
    expect(pods.map(({ spec }) => spec.automountServiceAccountToken)).toEqual([aggregated, false]);
  });

  test('Services find the pods and not the test, and lead to ports that are there', async () => {
    const objects = await helm!.render(valuesOf(scenario));
    const {
      metadata: { labels },
      spec,
    } = podOf(objects);
    const has = (held: Record<string, string>, wanted: Record<string, string>): boolean =>
      Object.entries(wanted).every(([name, value]) => held[name] === value);
    const workload = objects.find(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind))!;
    for (const selector of [
      workload.spec.selector.matchLabels,
      ...objects.filter(({ kind }) => kind === 'Service').map((object) => object.spec.selector),
    ]) {
      expect(Object.keys(selector).sort()).toEqual([
        'app.kubernetes.io/instance',
        'app.kubernetes.io/name',
      ]);
      expect([has(labels, selector), has(only(objects, 'Pod').metadata.labels!, selector)]).toEqual(
        [true, false],
      );
    }
    const ports = spec.containers[0].ports.map(({ name }: { name: string }) => name);
    for (const {
      spec: { ports: led },
    } of objects.filter(({ kind }) => kind === 'Service')) {
      for (const { targetPort } of led) expect(ports).toContain(targetPort);
    }
    // with subPath a mount would never hear of a Secret that changes
    expect(
      spec.containers[0].volumeMounts.filter(
        ({ subPath }: { subPath?: string }) => subPath !== undefined,
      ),
    ).toEqual([]);
    const mounted = spec.containers[0].volumeMounts.map(({ name }: { name: string }) => name);
    const held = [
      ...(spec.volumes ?? []),
      ...(workload.spec.volumeClaimTemplates ?? []).map(({ metadata }: Rendered) => metadata),
    ].map(({ name }: { name: string }) => name);
    expect([...mounted].sort()).toEqual([...held].sort());
  });
});

test('every example, and all that pages show, is rendered by all to the same objects', async () => {
  for (const page of pages) expectFor(page, valuesIn(page).length >= 2).toEqual(true);
  const [first, ...others] = helms.map((helm) => everythingRendered(helm));
  let count = 0;
  for await (const [of, objects] of first!) {
    count += 1;
    expectFor(
      of,
      objects.some(({ kind }) => kind === 'Service'),
    ).toEqual(true);
    for (const other of others) expect((await other.next()).value).toEqual([of, objects]);
  }
  expect(count).toBe(scenarios.length + examples.length + pages.flatMap(valuesIn).length);
});

test.each(examples)('the page of example %s says by which command it is installed', (name) => {
  expect(readFileSync(join(chart, '../examples', name, 'README.md'), 'utf8')).toContain(
    `--values deploy/examples/${name}/values.yaml`,
  );
});

test('a value that is null, as umbrella charts give it, is none, or is refused by name', async () => {
  const defaults = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'));
  const odd: string[] = [];
  for (const [path, value] of within(defaults)) {
    const names = path.slice(1).split('.');
    if (path === '' || typeof value !== 'object' || names.length > 2) continue;
    const values = names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), null);
    const args = ['template', 'some', chart, '--kube-version', '1.33', ...valuesOf('everything')];
    const { code, error } = await helm!.run([...args, '-f', valuesFile(values)]);
    if (code !== 0 && !error.includes(names[0]!)) odd.push(`${path}: ${error}`);
    if (/nil pointer|wrong type|error calling/.test(error)) odd.push(`${path}: ${error}`);
  }
  expect(odd).toEqual([]);
});

test.each(refused)('%s is refused', async (_, values, sentence) => {
  for (const helm of helms) {
    const { code, error } = await helm.template(['--values', valuesFile(values)]);
    expectFor(helm.name, [code === 0, error]).toEqual([
      false,
      expect.stringContaining(`\n${sentence}\n`),
    ]);
    expectFor(helm.name, error).toEqual(
      expect.not.stringMatching(/nil pointer|wrong type|can't evaluate/),
    );
  }
});

test('an umbrella chart with globals of its own turns it on and off', async () => {
  for (const helm of helms) {
    const values = (enabled: boolean): string[] => [
      '--values',
      valuesFile({ global: { imageRegistry: 'example.org' }, vestibule: { ...base, enabled } }),
    ];
    const umbrella = await helm.umbrella();
    const kindsOf = async (enabled: boolean): Promise<string[]> =>
      (await helm.render(values(enabled), umbrella)).map(({ kind }) => kind);
    expectFor(helm.name, [await kindsOf(false), await kindsOf(true)]).toEqual([
      [],
      expect.arrayContaining(['Service', 'StatefulSet']),
    ]);
  }
});

test('what is missing is said all at once', async () => {
  const { code, error } = await helm!.template([]);
  expect(code).not.toBe(0);
  for (const name of ['baseURL', 'image.repository', 'store.type', 'mail.smtp.existingSecret']) {
    expect(error).toContain(`\n${name} is empty: `);
  }
});

const base = {
  baseURL: 'http://localhost:8080',
  image: { repository: 'vestibule' },
  store: { type: 'embedded' },
  mail: { mock: true },
};
const rendered = (values: object): Promise<Rendered[]> =>
  helm!.render(['--values', valuesFile({ ...base, ...values })]);
const optionsOf = (objects: Rendered[]): unknown =>
  podOf(objects).spec.containers[0].env?.find(
    ({ name }: { name: string }) => name === 'NODE_OPTIONS',
  )?.value;

const youngGeneration = '--max-semi-space-size=16';

test.each([
  ['512Mi', '', `${youngGeneration} --max-old-space-size=230`],
  ['1.5Gi', '', `${youngGeneration} --max-old-space-size=691`],
  ['1G', '', `${youngGeneration} --max-old-space-size=429`],
  [536870912, '', `${youngGeneration} --max-old-space-size=230`],
  [null, '', youngGeneration],
  [
    '512Mi',
    '--max-semi-space-size=32',
    `${youngGeneration} --max-old-space-size=230 --max-semi-space-size=32`,
  ],
  [null, '--trace-warnings', `${youngGeneration} --trace-warnings`],
])('with %p of memory and nodeOptions %p Node has %s', async (memory, nodeOptions, options) => {
  expect(optionsOf(await rendered({ resources: { limits: { memory } }, nodeOptions }))).toBe(
    options,
  );
});

test('the image has the young generation of the chart', () => {
  const dockerfile = readFileSync(join(import.meta.dirname, '../../deploy/Dockerfile'), 'utf8');
  expect(dockerfile).toContain(`\nENV NODE_OPTIONS=${youngGeneration}\n`);
});

test.each([
  ['http://collector.monitoring:4318', 4318],
  ['https://collector.example.org/otlp', 443],
  ['http://collector', 80],
  ['https://[fd00::1]:14318/', 14318],
  ['http://[fd00::1]', 80],
])('traces go to %s through port %d and nowhere else', async (endpoint, port) => {
  const to = [{ ipBlock: { cidr: '192.0.2.7/32' } }];
  const objects = await rendered({
    tracing: { endpoint },
    networkPolicy: {
      enabled: true,
      from: { gateway: [{ podSelector: {} }] },
      to: { collector: to },
    },
  });
  expect(only(objects, 'NetworkPolicy').spec.egress.slice(1)).toEqual([
    { to, ports: [{ port, protocol: 'TCP' }] },
  ]);
  expect(podOf(objects).spec.containers[0].env.slice(3)).toEqual([
    { name: 'OTEL_EXPORTER_OTLP_ENDPOINT', value: endpoint },
    { name: 'OTEL_SERVICE_NAME', value: 'vestibule' },
    { name: 'OTEL_TRACES_SAMPLER_ARG', value: '1' },
  ]);
});

test('without a collector nothing is said of traces', async () => {
  const objects = await rendered({
    tracing: { sampling: 0.5, serviceName: 'sign-in' },
    networkPolicy: {
      enabled: true,
      from: { gateway: [{ podSelector: {} }] },
      to: { collector: [{ podSelector: {} }] },
    },
  });
  expect([
    podOf(objects).spec.containers[0].env.length,
    only(objects, 'NetworkPolicy').spec.egress.length,
  ]).toEqual([3, 1]);
});

test('settings become flags with any value', async () => {
  const { args } = podOf(
    await rendered({
      config: {
        operators: ['a@example.org', 'b@example.org'],
        maxRequestsInflight: 3_000_000,
        limitFactor: 0.5,
        auditLogPath: '',
        logLevel: 'warn',
      },
      extraArgs: ['--etcd-compaction-interval=$(HOME)'],
    }),
  ).spec.containers[0];
  expect(args).toEqual([
    'serve',
    '--base-url=http://localhost:8080',
    '--port=8080',
    '--data-dir=/var/lib/vestibule/data',
    '--mock-mail=true',
    '--bind-address=0.0.0.0',
    '--limit-factor=0.5',
    '--log-level=warn',
    '--max-requests-inflight=3000000',
    '--operators=a@example.org,b@example.org',
    '--shutdown-delay-duration=5s',
    '--etcd-compaction-interval=$$(HOME)',
  ]);
});

test('other manifests roll the pods, other Secrets do not', async () => {
  const sum = async (values: object): Promise<string> =>
    podOf(await rendered(values)).metadata.annotations?.['checksum/config'];
  const [none, one, other, again] = await Promise.all([
    sum({}),
    sum({ manifests: { 'a.yaml': 'kind: Group' } }),
    sum({ manifests: { 'a.yaml': 'kind: Client' } }),
    sum({ manifests: { 'a.yaml': 'kind: Group' }, keys: { existingSecret: 'keys' } }),
  ]);
  expect([none, one === again, one === other, /^[0-9a-f]{64}$/.test(one)]).toEqual([
    undefined,
    true,
    false,
    true,
  ]);
});

test('what an upgrade cannot change does not change with the version of the chart', async () => {
  const { spec } = only(await rendered({}), 'StatefulSet');
  expect(JSON.stringify([spec.selector, spec.volumeClaimTemplates, spec.serviceName])).not.toMatch(
    /helm\.sh|version"/,
  );
});

test('alerts and dashboard are those of deploy/observability, about this release', async () => {
  const objects = await helm!.render(valuesOf('everything'));
  const given: { name: string; rules: { alert: string }[] }[] = parse(
    readFileSync(join(chart, '../observability/alerts.yaml'), 'utf8'),
  ).groups;
  const named = (groups: typeof given): unknown =>
    groups.map(({ name, rules }) => [name, rules.map(({ alert }) => alert)]);
  const { groups } = only(objects, 'PrometheusRule').spec;
  expect(named(groups)).toEqual(named(given));
  expect(
    named(
      only(
        await rendered({ metrics: { enabled: true, prometheusRule: { enabled: true } } }),
        'PrometheusRule',
      ).spec.groups,
    ),
  ).toEqual(named(given.filter(({ name }) => name !== 'vestibule-aggregation')));
  for (const { expr, annotations } of groups.flatMap(({ rules }: any) => rules)) {
    expect(expr).toMatch(
      /job="(front-door|identity-etcd)"|^max\(aggregator_unavailable_apiservice\{/,
    );
    expect(expr).not.toMatch(/job="vestibule/);
    expect(
      existsSync(
        join(chart, '../..', annotations.runbook_url.replace('https://example.org/vestibule/', '')),
      ),
    ).toBe(true);
  }
  const board = JSON.parse(
    only(objects, 'ConfigMap', 'front-door-dashboard').data!['front-door.json']!,
  );
  const panels = readFileSync(join(chart, '../observability/dashboard.json'), 'utf8');
  const renamed = JSON.parse(
    panels
      .replaceAll('job=\\"vestibule\\"', 'job=\\"front-door\\"')
      .replaceAll('job=\\"vestibule-etcd\\"', 'job=\\"identity-etcd\\"'),
  );
  expect(board).toEqual(renamed);
  expect(only(objects, 'ServiceMonitor').spec.endpoints[0].relabelings).toEqual([
    { action: 'replace', targetLabel: 'job', replacement: 'front-door' },
    { action: 'labeldrop', regex: 'pod' },
  ]);
});

test('what is packed up is all that is rendered, and not the scenarios', async () => {
  for (const helm of helms) {
    const file = await helm.pack();
    expectFor(helm.name, file).toEqual(expect.stringMatching(/\/vestibule-0\.1\.0\.tgz$/));
    expect(await helm.render(valuesOf('everything'), file)).toEqual(
      await helm.render(valuesOf('everything')),
    );
    expectFor(helm.name, (await helm.run(['show', 'all', file])).out).toEqual(
      expect.stringContaining('# Vestibule on Kubernetes'),
    );
    expect(gunzipSync(readFileSync(file)).includes('vestibule/ci/')).toBe(false);
  }
});

test('notes say how to reach it, who its first operator is, and what is not safe yet', async () => {
  const notesFor = async (values: string[]): Promise<string> => {
    const notes = await helm!.notes(values);
    expect(notes).not.toMatch(/<no value>|<nil>|%!|\n\n\n/);
    return notes;
  };
  const trial = await notesFor(valuesOf('embedded'));
  for (const part of [
    'kubectl port-forward --namespace identity service/vestibule 8080:80',
    'sign in at http://localhost:8080/account with an address of config.operators',
    'UNSAFE: mail is kept',
    'snapshots of the volume, which holds the keys too',
    'networkPolicy.enabled closes them',
  ]) {
    expect(trial).toContain(part);
  }
  const all = await notesFor(valuesOf('everything'));
  for (const part of [
    'helm test vestibule --namespace identity',
    'system:masters',
    'the Secret vestibule-keys apart from them',
    '3.5.33 or 3.6.14',
  ]) {
    expect(all).toContain(part);
  }
  for (const part of ['port-forward', 'UNSAFE', 'closes them']) expect(all).not.toContain(part);
  expect(await notesFor(valuesOf('etcd'))).toContain('give your address in config.operators');
});
