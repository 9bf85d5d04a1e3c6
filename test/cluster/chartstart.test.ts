import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, jest, test } from '@jest/globals';
import { parse } from 'yaml';
import { program, vestibule } from '../support/command.js';
import { expectFor } from '../support/expect-for.js';
import { signIn } from '../support/people/signin.js';
import { exchange, Tab } from '../support/people/tab.js';
import { chart, forget, helms, only, podOf, type Rendered, valuesFile, valuesIn } from './helm.js';
import type { LocalPod } from './pod.js';
import { Surroundings } from './surroundings.js';

jest.setTimeout(180_000);

const [helm] = helms;
const here = new Surroundings();
afterAll(async () => {
  await here.end();
  forget();
});

const rendered = (scenario: string, values: object = {}): Promise<Rendered[]> =>
  helm!.render([
    '--values',
    join(chart, `ci/${scenario}-values.yaml`),
    '--values',
    valuesFile(values),
  ]);

/**
 * Starts what is rendered, asks what its probes and its test ask, and stops it as a cluster does.
 */
async function lives(objects: readonly Rendered[]): Promise<LocalPod> {
  const pod = here.start(objects);
  const [baseURL, url] = await pod.ready;
  const [container] = podOf(objects).spec.containers;
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
    expectFor(probe, (await exchange(url!, 'GET', container[probe].httpGet.path, {})).code).toEqual(
      200,
    );
  }
  const args = only(objects, 'Pod').spec.containers[0].args.map((arg: string) =>
    arg.replace(/^--url=.*/, `--url=${url}`),
  );
  expect(await vestibule(args, {})).toEqual({ code: 0, out: `${baseURL} is ready\n`, error: '' });
  expect(await pod.stop()).toBe(0);
  return pod;
}

test('what is rendered for an embedded store starts, is well and ends', async () => {
  const pod = await lives(await rendered('embedded'));
  expect(await pod.ready).toEqual(['http://localhost:8080', expect.any(String)]);
});

test('what is rendered for a front proxy believes its certificates', async () => {
  const pod = await lives(await rendered('frontproxy'));
  expect(await pod.ready).toEqual([
    'https://id.example.org',
    expect.any(String),
    expect.stringMatching(/^https:/),
  ]);
});

test('the first operator is the one that the values name, until a Group does', async () => {
  const page = 'docs/how-to/kubernetes.md';
  const [trial, , { manifests }] = valuesIn(page);
  manifests['my-app.yaml'].spec.redirectURIs = ['https://app.example.test/callback'];
  const pod = here.start(await helm!.render(['--values', valuesFile({ ...trial, manifests })]));
  const [baseURL, url] = await pod.ready;
  const service = { tab: () => new Tab(url!, baseURL!) };
  const signedIn = async (address: string): Promise<Tab> =>
    (await signIn(service, address, { client: 'my-app' })).tab;
  const [you, colleague] = [
    await signedIn('you@example.org'),
    await signedIn('colleague@example.org'),
  ];
  const text = /^ {4}apiVersion: .*\n {4}kind: Group\n(?: {4}.*\n)+/m
    .exec(readFileSync(join(chart, '../..', page), 'utf8'))![0]
    .replaceAll(/^ {4}/gm, '');
  await colleague.post('groups', parse(text)).is(403);
  await you.post('groups', parse(text)).is(201);
  await colleague.patch('groups/operators', { spec: { displayName: 'Those who run it' } }).is(200);
  expect(await pod.stop()).toBe(0);
});

test('what the how-to runs in the container saves the store while it is served', async () => {
  const pod = here.start(await rendered('embedded'));
  await pod.ready;
  const commands = [
    ...readFileSync(join(chart, '../../docs/how-to/kubernetes.md'), 'utf8').matchAll(
      /kubectl exec .* vestibule-0 -- \/usr\/local\/bin\/node (.*)$/gm,
    ),
  ].map(([, line]) => pod.here(line!.replace('/app/bin/vestibule', program)).replace(/ > .*/, ''));
  const [saved, read, removed, ...others] = commands.map((line) =>
    execFileSync('bash', ['--norc', '-ec', `"$NODE" ${line}`], {
      env: { PATH: process.env.PATH, NODE: process.execPath },
    }),
  );
  expect([saved!.toString(), read!.length > 1_000, removed!.length, others]).toEqual([
    expect.stringContaining('saved'),
    true,
    0,
    [],
  ]);
  expect(await pod.stop()).toBe(0);
});

test('what is rendered for etcd starts, is well and ends', async () => {
  const pod = await lives(
    await rendered('etcd', { store: { etcd: { servers: [await here.etcd()] } } }),
  );
  expect(await pod.ready).toEqual(['https://id.example.org', expect.any(String)]);
});

test('the chart rendered with every value starts', async () => {
  const { endpoint, sent } = await here.collector();
  const pod = await lives(
    await rendered('everything', {
      store: { etcd: { servers: [await here.etcd({ users: true })], caKey: 'ca.crt' } },
      aggregation: { enabled: false },
      tracing: { endpoint: `${endpoint}/otlp`, sampling: 1 },
    }),
  );
  expect(await pod.ready).toEqual([
    'https://id.example.org',
    expect.any(String),
    expect.stringMatching(/^https:/),
  ]);
  expect(
    new Set(sent.map(({ path, authorization, service }) => `${path} ${authorization} ${service}`)),
  ).toEqual(new Set(['/otlp/v1/traces Bearer two sign-in']));
});

test('what is rendered for a collector sends it every trace', async () => {
  const { endpoint, sent } = await here.collector();
  await lives(
    await rendered('embedded', { tracing: { endpoint, headers: { existingSecret: 'collector' } } }),
  );
  expect(sent.flatMap(({ spans }) => spans)).toEqual(expect.arrayContaining(['health']));
  expect(
    new Set(sent.map(({ path, authorization, service }) => `${path} ${authorization} ${service}`)),
  ).toEqual(new Set(['/v1/traces Bearer one vestibule']));
  const before = sent.length;
  await lives(await rendered('embedded', { tracing: { endpoint, sampling: 0 } }));
  expect(sent.length).toBe(before);
});
