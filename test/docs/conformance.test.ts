import { get } from 'node:https';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, expect, test } from '@jest/globals';
import { expectFor } from '../support/expect-for.js';
import { until } from '../support/patience.js';
import { authorizationPath } from '../support/people/signin.js';
import { createClient, startTest, stopAll, temporary } from '../support/service.js';
import { read, root } from './pages.js';

afterAll(stopAll);

interface Plan {
  readonly title: string;
  readonly plan: string;
  readonly variant: Readonly<Record<string, string>>;
}

const tools = join(root, 'hack/tools/conformance');
const { plans } = (await import(join(tools, 'plans.mjs'))) as { plans: Record<string, Plan> };
const { reasons } = (await import(join(tools, 'reasons.mjs'))) as {
  reasons: Record<string, string>;
};

const { staticServer, staticVariant } = (await import(join(tools, 'metadata.mjs'))) as {
  staticServer(document: unknown): Record<string, string>;
  staticVariant(variant: object): object;
};
const { clientsFor, startService } = (await import(join(tools, 'service.mjs'))) as {
  startService(options: object): Promise<{ issuer: string; stop(): Promise<void> }>;
  clientsFor(
    suite: object,
    alias: string,
    alg: string,
  ): {
    manifests: object[];
    configs: { fapi2: Record<string, { jwks: { keys: { alg: string }[] } }> };
  };
};

const page = read('docs/reference/conformance.md');
const sections = page.split(/^## /m).slice(1);
const rows = [...page.matchAll(/^\| ([\w-]+) \| ([A-Z]+) \| (.*?) ?\|$/gm)].map(
  ([, module, result, reason]) => ({ module: module!, result: result!, reason: reason! }),
);

test('the page of the last run has a section for each plan', () => {
  const named = sections
    .filter((section) => !section.startsWith('Not supported'))
    .map((section) => ({
      title: section.split('\n')[0],
      plan: /^`([a-z0-9-]+)`/m.exec(section)?.[1],
    }));
  expect(named).toEqual(Object.values(plans).map(({ title, plan }) => ({ title, plan })));
});

test('what is not supported is not in discovery, and refused as the page says', async () => {
  const section = sections.find((section) => section.startsWith('Not supported'))!;
  const service = await startTest();
  await createClient(service, 'app', { type: 'Public', tokenEndpointAuthMethod: 'none' });
  const discovery = (await service.tab().navigate('/.well-known/openid-configuration')).body;
  expect(discovery).toMatchObject({
    response_types_supported: ['code'],
    claims_parameter_supported: false,
  });
  for (const absent of ['registration_endpoint', 'backchannel_authentication_endpoint']) {
    expectFor(absent, discovery[absent]).toEqual(undefined);
  }
  for (const absent of ['address', 'phone']) {
    expect(discovery.scopes_supported).not.toContain(absent);
  }
  const errorOf = async (more: Record<string, string>): Promise<string> => {
    const path = authorizationPath('app', 'openid', 'v'.repeat(43), more);
    const { headers } = await service.tab().navigate(path).is(303);
    const { search, hash } = new URL(headers.location!);
    return new URLSearchParams(search || hash.slice(1)).get('error')!;
  };
  const errors = [
    await errorOf({ response_type: 'token' }),
    await errorOf({ request: 'x' }),
    await errorOf({ request_uri: 'https://app.example.test/request' }),
  ];
  expect(errors.filter((error) => !section.includes(`\`${error}\``))).toEqual([]);
  const described = staticServer(discovery);
  expect(described).toMatchObject({ issuer: service.baseURL, jwks_uri: discovery.jwks_uri });
  expect(staticVariant(plans['basic']!.variant)).toMatchObject({ server_metadata: 'static' });
});

const at = { base: 'https://suite.test', backchannel: 'https://suite.test' };

test('the first Client of FAPI signs as it is asked to', () => {
  const algs = ['ES256', 'PS256'].map((alg) => {
    const { client, client2 } = clientsFor(at, 'a', alg).configs.fapi2;
    return [client, client2].map((one) => one!.jwks.keys[0]!.alg);
  });
  expect(algs).toEqual([
    ['ES256', 'PS256'],
    ['PS256', 'ES256'],
  ]);
  expect(() => clientsFor(at, 'a', 'none')).toThrow('--fapi-alg must be one of');
});

test('no module of the last run failed, and each that did not pass has its reason', () => {
  expect(rows.length).toBeGreaterThan(100);
  expect(
    rows.filter(({ result }) => !['PASSED', 'REVIEW', 'WARNING', 'SKIPPED'].includes(result)),
  ).toEqual([]);
  const unexplained = rows.filter(({ module, result, reason }) =>
    result === 'PASSED' ? reason !== '' : reason !== reasons[module],
  );
  expect(unexplained).toEqual([]);
});

test('every reason is one of a module that does not pass', () => {
  const known = new Set(
    rows.filter(({ result }) => result !== 'PASSED').map(({ module }) => module),
  );
  expect(Object.keys(reasons).filter((module) => !known.has(module))).toEqual([]);
});

test('two replicas on etcd answer in turn, and their keys change while they run', async () => {
  const [port, securePort] = [24_000 + (process.pid % 500), 26_000 + (process.pid % 500)];
  const service = await startService({
    folder: temporary(),
    port,
    securePort,
    manifests: clientsFor(at, 'a', 'ES256').manifests,
    trusted: '',
    replicas: 2,
    rotateMs: 2_000,
  });
  const kids = (): Promise<string[]> =>
    new Promise((resolve, reject) => {
      const options = { rejectUnauthorized: false, agent: false as const };
      get(`${service.issuer}/oauth2/jwks`, options, async (response) => {
        const { keys } = (await json(response)) as { keys: { kid: string }[] };
        resolve(keys.map(({ kid }) => kid));
      }).on('error', reject);
    });
  try {
    const [first] = await kids();
    for (const _ of ['one replica', 'the other']) {
      await until(async () => (await kids())[0] !== first);
    }
    expect(await kids()).toContain(first);
  } finally {
    await service.stop();
  }
});
