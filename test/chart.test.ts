import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { readConfig } from '../cmd/vestibule/options/config.js';
import { settings } from '../cmd/vestibule/options/flags.js';
// @ts-expect-error the generators have no types
import { valuesOf } from '../hack/generate/chart.mjs';
import { limitSettings } from '../kinds/limits/limit-settings.js';
import { release } from '../observability/build-info.js';
import { expectFor } from './support/expect-for.js';

/** What holds of the chart without Helm; hack/test-cluster holds the rest. */
const chart = join(import.meta.dirname, '../deploy/chart');
const read = (file: string): string => readFileSync(join(chart, file), 'utf8');
const examples = readdirSync(join(chart, '../examples'))
  .filter((name) => /^\d-/.test(name))
  .map((name) => `../examples/${name}`);
const schema = JSON.parse(read('values.schema.json'));
const validate = new Ajv({
  strict: true,
  strictTypes: false,
  allowUnionTypes: true,
  allErrors: true,
}).compile(schema);
const templates = readdirSync(join(chart, 'templates'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(yaml|tpl|txt)$/.test(name))
  .map((name) => [name, read(`templates/${name}`)] as const);
const flags = new Set(settings.filter(({ limit }) => limit === undefined).map(({ flag }) => flag));

/** Every schema within one, with its path. */
function* within(value: any, path = '#'): Generator<readonly [string, any]> {
  if (typeof value !== 'object' || value === null) return;
  yield [path, value];
  for (const [name, inner] of Object.entries(value)) {
    if (!['default', 'enum'].includes(name)) yield* within(inner, `${path}/${name}`);
  }
}

test('every template first refuses sections that are null', () => {
  const first = '{{- include "vestibule.sections" . -}}\n';
  for (const [name, text] of templates) {
    if (!name.endsWith('.tpl')) expectFor(name, text.startsWith(first)).toEqual(true);
  }
  const [, named] = /splitList " " "(image [^"]+)"/.exec(read('templates/_names.tpl'))!;
  const values: any[] = valuesOf(read('values.yaml'), parse);
  const sections = values.filter(({ isTree }) => isTree).map(({ path }) => path.join('.'));
  expect(named!.split(' ')).toEqual(sections);
});

test('the schema accepts the defaults and every scenario', () => {
  expect([validate(parse(read('values.yaml'))), validate.errors]).toEqual([true, null]);
  const scenarios = readdirSync(join(chart, 'ci'));
  expect(scenarios.length).toBeGreaterThanOrEqual(8);
  for (const file of scenarios) {
    expectFor(file, [validate(parse(read(`ci/${file}`))), validate.errors]).toEqual([true, null]);
  }
  for (const file of examples) {
    expectFor(file, [validate(parse(read(`${file}/values.yaml`))), validate.errors]).toEqual([
      true,
      null,
    ]);
  }
  expect(examples.length).toBe(8);
  const parts = [...within(schema)];
  expect(
    parts
      .filter(([, { $ref }]) => typeof $ref === 'string' && !$ref.startsWith('#/definitions/'))
      .map(([path]) => path),
  ).toEqual([]);
  expect(
    parts
      .filter(
        ([, part]) =>
          part.properties &&
          part.type === 'object' &&
          part.additionalProperties !== false &&
          part.required === undefined,
      )
      .map(([path]) => path),
  ).toEqual([]);
});

test.each([
  [{ baseUrl: 'https://id.example.org' }, 'baseUrl'],
  [{ store: { kind: 'etcd' } }, 'kind'],
  [{ config: { trustedProxy: [] } }, 'trustedProxy'],
  [{ config: { dataDir: '/data' } }, 'dataDir'],
])('the schema refuses %j, which nothing reads', (values, name) => {
  expect(validate(values)).toBe(false);
  expect(validate.errors).toEqual([
    expect.objectContaining({
      keyword: 'additionalProperties',
      params: { additionalProperty: name },
    }),
  ]);
});

test.each([
  { replicas: -1 },
  { store: { type: 'lmdb' } },
  { service: { port: 70_000 } },
  { image: { digest: 'sha256:12' } },
  { store: { etcd: { servers: ['etcd'] } } },
  { config: { shutdownDelayDuration: 'soon' } },
  { config: { operators: 'ada@example.org' } },
  { resources: { limits: { memory: 'much' } } },
  { manifests: { 'policy.cedar': '' } },
  { aggregation: { caBundle: 'LS0t' } },
  { aggregation: { insecureSkipTLSVerify: false } },
  { extraArgs: ['serve'] },
  { podDisruptionBudget: { maxUnavailable: 0 } },
  { tracing: { sampling: 1.5 } },
  { probes: { readiness: { periodSeconds: 0 } } },
  { probes: { liveness: { httpGet: { path: '/' } } } },
  { probes: { port: 'metrics' } },
  { tracing: { headers: { authorization: 'Bearer x' } } },
])('the schema refuses %j', (values) => expect(validate(values)).toBe(false));

const optionsOfNode: ReadonlySet<string> = new Set(['max-semi-space-size', 'max-old-space-size']);

test('every setting can be given, and only once', () => {
  const names = new Set(Object.keys(schema.properties.config.properties));
  const camel = (flag: string): string =>
    flag.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const pod = templates.find(([name]) => name === '_pod.tpl')![1];
  const hatches = /"vestibule\.refusals\.hatches"[\s\S]*?range list ((?:"[a-z-]+" ?)+)\}\}/
    .exec(templates.find(([name]) => name === '_refusals.tpl')![1])![1]!
    .trim()
    .split(' ')
    .map((one) => one.replaceAll('"', ''));
  for (const flag of flags) {
    expectFor(flag, [names.has(camel(flag)), hatches.includes(flag)]).toEqual([
      !hatches.includes(flag),
      !names.has(camel(flag)),
    ]);
    if (hatches.includes(flag) && flag !== 'smtp-url' && !flag.startsWith('etcd-')) {
      expectFor(flag, pod.includes(`"--${flag}=`) || pod.includes(`"${flag}"`)).toEqual(true);
    }
  }
  expect(Object.keys(schema.properties.config.properties.limits.properties).sort()).toEqual(
    Object.keys(limitSettings).sort(),
  );
  expect(hatches.filter((flag) => !flags.has(flag))).toEqual([]);
  expect(
    [...pod.matchAll(/"--([a-z-]+)=/g)]
      .map(([, flag]) => flag!)
      .filter((flag) => !flags.has(flag) && flag !== 'etcd-' && !optionsOfNode.has(flag)),
  ).toEqual([]);
});

test('templates read only values that there are, and ask no cluster', () => {
  const below = (part: any, name: string): any => {
    if (part?.properties) return part.properties[name];
    return part === undefined ? undefined : {};
  };
  const known = (path: string): boolean => path.split('.').reduce<any>(below, schema) !== undefined;
  const wrong = templates.flatMap(([name, text]) =>
    [...text.matchAll(/(?:\.Values|\$v)((?:\.[A-Za-z]+)+)/g)]
      .filter(([, path]) => !known(path!.slice(1)))
      .map(([, path]) => `${name}: ${path}`),
  );
  expect(wrong).toEqual([]);
  for (const [name, text] of templates) {
    expectFor(
      name,
      text.match(
        /(?<!-)\b(lookup|genCA|genSelfSignedCert|genSignedCert|genPrivateKey|rand[A-Z]\w*|uuidv4|now|\.Capabilities|insecureSkipTLSVerify)\b/,
      ),
    ).toEqual(null);
  }
});

test('the chart says the release it runs, and is shown by our own sign', () => {
  const { appVersion, version, icon, apiVersion, kubeVersion } = parse(read('Chart.yaml'));
  expect({ appVersion, apiVersion, kubeVersion }).toEqual({
    appVersion: release,
    apiVersion: 'v2',
    kubeVersion: '>=1.30.0-0',
  });
  expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(
    Buffer.from(icon.replace('data:image/svg+xml;base64,', ''), 'base64').equals(
      readFileSync(join(chart, '../../ui/icon.svg')),
    ),
  ).toBe(true);
  expect(read('CHANGELOG.md')).toMatch(/^## \[Unreleased\]/m);
});

test.each([
  'deploy/chart/README.md',
  'docs/how-to/kubernetes.md',
  'docs/how-to/cluster.md',
  ...examples.map((example) => `deploy/chart/${example}/README.md`),
])('what %s shows and leads to is there', (page) => {
  const root = join(chart, '../..');
  const text = readFileSync(join(root, page), 'utf8');
  const lost = [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)]
    .map(([, to]) => to!)
    .filter((to) => !existsSync(join(root, dirname(page), to)));
  expect(lost).toEqual([]);
  for (const [, values] of text.matchAll(/^```yaml\n(baseURL:[\s\S]*?)^```$/gm)) {
    expect([validate(parse(values!)), validate.errors]).toEqual([true, null]);
  }
  const known = (path: string): boolean =>
    path.split('.').reduce<any>((part, name) => part?.properties?.[name], schema) !== undefined;
  const named = [...text.matchAll(/`([a-z][A-Za-z]*(?:\.[A-Za-z]+)+)(?:: [^`]*)?`/g)]
    .map(([, path]) => path!)
    .filter(
      (path) =>
        Object.hasOwn(schema.properties, path.split('.')[0]!) && !/\.(json|yaml)$/.test(path),
    );
  expect(named.filter((path) => !known(path))).toEqual([]);
});

test('the compose file gives settings that a start accepts', () => {
  const {
    services: {
      vestibule: {
        command: [word, ...line],
        healthcheck,
        build,
      },
    },
  } = parse(read('../examples/compose.yaml'));
  expect([word, readConfig(line, {}).baseURL]).toEqual(['serve', 'http://localhost:8080']);
  expect(existsSync(join(chart, '../examples', build.context, build.dockerfile))).toBe(true);
  expect(healthcheck.test.slice(1)).toEqual([
    '/usr/local/bin/node',
    '/app/bin/vestibule',
    'healthcheck',
    '--issuer=http://localhost:8080',
  ]);
});
