import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { freePort } from '../../../apiserver/http/free-port.js';
import { ConfigError, readConfig } from '../../../cmd/vestibule/options/config.js';
import type { CertificatePair } from '../../../cmd/vestibule/serve/tls/self-signed-certificate.js';
import {
  authority,
  callerOf,
  certificate,
  master,
  proxyOf,
} from '../../support/cluster/frontproxy.js';
import { clientAuth } from '../../support/cluster/issue-certificate.js';
import { KubeAPI } from '../../support/cluster/kubeapi.js';
import { until } from '../../support/patience.js';
import { startTest, stopAll, type TestService, temporary } from '../../support/service.js';
import { stores } from '../../support/stores.js';

const apis: KubeAPI[] = [];
afterEach(async () => {
  await stopAll();
  for (const one of apis.splice(0)) await one.stop();
});
afterAll(stopAll);

const plain = { plain: true } as const;
const open = async (): Promise<KubeAPI> => {
  const api = await new KubeAPI().listen();
  apis.push(api);
  return api;
};

/** What kube-apiserver writes there; `more` replaces keys. */
const said = (by: CertificatePair, more: Record<string, string> = {}): Record<string, string> => ({
  'client-ca-file': authority('clients').cert,
  'requestheader-client-ca-file': by.cert,
  'requestheader-allowed-names': '["front-proxy-client"]',
  'requestheader-username-headers': '["X-Remote-User"]',
  'requestheader-group-headers': '["X-Remote-Group"]',
  'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
  'requestheader-uid-headers': '["X-Remote-Uid"]',
  ...more,
});

interface Looked {
  readonly service: TestService;
  code(pair: CertificatePair, headers?: Record<string, string | string[]>): Promise<number>;
  becomes(
    pair: CertificatePair,
    code: number,
    headers?: Record<string, string | string[]>,
  ): Promise<void>;
}

async function start(api: KubeAPI, store: 'embedded' | 'etcd' = 'embedded'): Promise<Looked> {
  const directory = temporary();
  const service = await startTest({
    store,
    directory,
    environment: api.environment,
    serviceAccount: api.folder,
    flags: ['--secure-port', '0', '--authentication-skip-lookup=false', '--limit-factor', '1000'],
  });
  const ca = readFileSync(join(directory, 'tls.crt'), 'utf8');
  const code: Looked['code'] = async (pair, headers = master) =>
    (await callerOf(service, ca, pair, headers).get('clients', plain)).code;
  return {
    service,
    code,
    becomes: async (pair, wanted, headers) => {
      await until(async () => (await code(pair, headers)) === wanted);
    },
  };
}

test.each(stores)(
  'front proxies are those that the cluster names, followed as they change, on %s',
  async (store) => {
    const api = await open();
    const [first, second] = [authority('front-proxy'), authority('front-proxy-2')];
    const [proxy, other] = [
      proxyOf(first),
      certificate('aggregator', second, { usages: [clientAuth] }),
    ];
    api.say(said(first));
    const { service, code, becomes } = await start(api, store);
    expect([
      await code(proxy),
      await code(proxyOf(second)),
      await code(proxyOf(authority('clients'))),
    ]).toEqual([200, 401, 401]);
    await until(() => api.watching === 1);
    expect(api.asked).toEqual(['list 200', 'watch 101 200']);
    api.say(
      said(second, {
        'requestheader-client-ca-file': first.cert + second.cert,
        'requestheader-allowed-names': '["front-proxy-client","aggregator"]',
      }),
    );
    await becomes(other, 200);
    expect(await code(proxy)).toBe(200);
    api.say(said(second, { 'requestheader-allowed-names': '[]' }));
    await becomes(proxy, 401);
    expect(await code(other)).toBe(200);
    api.say(
      said(second, {
        'requestheader-allowed-names': '[]',
        'requestheader-username-headers': '["X-Who"]',
      }),
    );
    await becomes(other, 200, { 'x-who': 'root', 'x-remote-group': 'system:masters' });
    expect(await code(other)).toBe(401);
    expect(api.asked).toHaveLength(2);
    expect(service.logs.join('')).not.toContain('first');
    await service.stop();
    await until(() => api.watching === 0);
  },
);

test('a watch that ends is resumed where it was; one from too long ago starts again', async () => {
  const api = await open();
  const signers = Array.from({ length: 6 }, (_, i) => authority(`front-proxy-${i}`));
  const turn = async (i: number, between: () => void): Promise<void> => {
    const before = api.asked.length;
    between();
    api.say(said(signers[i]!));
    await becomes(proxyOf(signers[i]!), 200);
    await until(() => api.watching === 1 && api.asked.length > before);
  };
  api.say(said(signers[0]!));
  const { becomes, service, code } = await start(api);
  await until(() => api.watching === 1);
  await turn(1, () => api.end('cleanly'));
  expect(api.asked.at(-1)).toMatch(/^watch 10[12] 200$/);
  api.mark();
  await turn(2, () => api.end('cut'));
  expect(api.asked.filter((one) => one.startsWith('list'))).toHaveLength(1);
  await turn(3, () => api.end('too old'));
  expect(api.asked.filter((one) => one.startsWith('list'))).toHaveLength(2);
  await api.hang();
  await until(() =>
    service.logs.some((line) => line.includes('retrying, the former trust stays in use')),
  );
  expect(await code(proxyOf(signers[3]!))).toBe(200);
  api.forget();
  api.say(said(signers[4]!));
  await api.listen();
  await becomes(proxyOf(signers[4]!), 200);
  await until(() => api.watching === 1);
  expect(api.asked.filter((one) => one.startsWith('list'))).toHaveLength(3);
  expect(service.logs.some((line) => line.includes('works again'))).toBe(true);
  expect(await code(proxyOf(signers[3]!))).toBe(401);
});

test('the token is read as it is renewed, and a refusal is said once, with what helps', async () => {
  const api = await open();
  const signers = [authority('a'), authority('b')];
  api.say(said(signers[0]!));
  const { service, becomes } = await start(api);
  await until(() => api.watching === 1);
  api.token = 'second-token';
  api.end('cleanly');
  await until(() => api.asked.filter((one) => one.endsWith('401')).length >= 2);
  api.failing = 403;
  api.write('token', 'second-token');
  await until(() => api.asked.at(-1)!.endsWith('403'));
  api.failing = undefined;
  api.say(said(signers[1]!));
  await becomes(proxyOf(signers[1]!), 200);
  expect(
    service.logs
      .filter((line) => line.includes('could not read the ConfigMap'))
      .map((line) => JSON.parse(line).reason),
  ).toEqual(['the API server responded with 401: no: 401']);
  expect(service.logs.join('')).not.toContain('second-token');
});

test('what it says wrongly, or no longer, leaves the former', async () => {
  const api = await open();
  const [signer, next] = [authority('front-proxy'), authority('next')];
  api.say(said(signer));
  const { service, code, becomes } = await start(api);
  await until(() => api.watching === 1);
  for (const [key, wrong, why] of [
    ['requestheader-client-ca-file', 'no certificate', 'it contains no PEM certificate'],
    ['requestheader-client-ca-file', '', 'requestheader-client-ca-file is missing'],
    [
      'requestheader-client-ca-file',
      proxyOf(next).cert,
      'none of the certificates is a CA certificate',
    ],
    [
      'requestheader-allowed-names',
      'x',
      'requestheader-allowed-names is not a list of strings in JSON',
    ],
    ['requestheader-group-headers', '[1]', 'requestheader-group-headers is not a list'],
    [
      'requestheader-username-headers',
      '["Cookie"]',
      'Cookie would replace cookie, which has another meaning',
    ],
    ['requestheader-extra-headers-prefix', '["X"]', 'X would replace x-forwarded-…'],
  ] as const) {
    const before = service.logs.length;
    api.say(said(next, { [key]: wrong }));
    await until(() =>
      service.logs
        .slice(before)
        .some((line) => line.includes('the former trust stays in use') && line.includes(why)),
    );
    expect([await code(proxyOf(signer)), await code(proxyOf(next))]).toEqual([200, 401]);
  }
  api.say(undefined);
  await until(() =>
    service.logs.some((line) => line.includes('was deleted; the former trust stays in use')),
  );
  expect(await code(proxyOf(signer))).toBe(200);
  api.say(said(next));
  await becomes(proxyOf(next), 200);
  expect(await code(proxyOf(signer))).toBe(401);
});

test('a cluster that cannot be asked yet keeps no one else from being served', async () => {
  const api = await open();
  api.failing = 403;
  const signer = authority('front-proxy');
  const { service, code, becomes } = await start(api);
  expect(await code(proxyOf(signer))).toBe(401);
  await service.tab().get('policies').is(200);
  expect(
    service.logs
      .filter((line) => line.includes('could not read the ConfigMap'))
      .map((line) => JSON.parse(line).reason),
  ).toEqual([
    expect.stringMatching(
      /403: .*RoleBinding in kube-system to Role extension-apiserver-authentication-reader$/,
    ),
  ]);
  api.failing = undefined;
  api.say(said(signer));
  await becomes(proxyOf(signer), 200);
});

test('while the cluster has not been heard of, the service is alive and not ready', async () => {
  const api = await open();
  await api.hang();
  const port = await freePort('127.0.0.1');
  let isStarted = false;
  const starting = startTest({
    environment: api.environment,
    serviceAccount: api.folder,
    flags: ['--port', String(port), '--secure-port', '0', '--authentication-skip-lookup=false'],
  }).then(() => {
    isStarted = true;
  });
  const codeOf = (path: string): Promise<number | undefined> =>
    fetch(`http://127.0.0.1:${port}${path}`).then(
      ({ status }) => status,
      () => undefined,
    );
  await until(async () => (await codeOf('/livez')) === 200);
  const codes = [await codeOf('/readyz/startup'), await codeOf('/readyz'), await codeOf('/api')];
  expect([isStarted, codes]).toEqual([false, [500, 500, 503]]);
  await api.listen();
  await starting;
  expect([await codeOf('/readyz'), await codeOf('/readyz/startup')]).toEqual([200, 200]);
});

test('settings that cannot be followed stop the start, each with its sentence', async () => {
  const problems = (flags: string[], environment = {}): readonly string[] => {
    try {
      readConfig(['--mock-mail', '--data-dir', 'x', ...flags], environment);
      return [];
    } catch (error) {
      return (error as ConfigError).problems;
    }
  };
  const [secure, file, lookup] = [
    ['--secure-port', '0'],
    ['--requestheader-client-ca-file', 'ca'],
    '--authentication-skip-lookup=false',
  ];
  expect(problems([...secure, ...file])).toEqual([]);
  expect(problems(file)).toEqual([
    '--requestheader-client-ca-file is set without --secure-port: front proxies authenticate with a TLS client certificate',
  ]);
  expect(
    problems([
      ...secure,
      '--requestheader-allowed-names',
      'a',
      '--requestheader-uid-headers',
      'x-remote-uid',
    ]),
  ).toEqual([
    '--requestheader-allowed-names is set without --requestheader-client-ca-file: no front proxy would be trusted',
    '--requestheader-uid-headers is set without --requestheader-client-ca-file: no front proxy would be trusted',
  ]);
  expect(problems([...secure, ...file, '--requestheader-username-headers', 'x user'])).toEqual([
    '--requestheader-username-headers: "x user" is not a valid header name',
  ]);
  expect(problems([...secure, ...file, '--requestheader-username-headers', ''])).toEqual([
    '--requestheader-username-headers: at least one username header is required',
  ]);
  for (const one of [
    'Authorization',
    'cookie',
    'Sec-Fetch-Site',
    'content-type',
    'X-Forwarded-For',
    'Impersonate-User',
  ]) {
    expect(problems([...secure, ...file, '--requestheader-group-headers', one])).toEqual([
      expect.stringMatching(`^--requestheader-group-headers: ${one} would replace `),
    ]);
  }
  expect(problems([...secure, ...file, '--requestheader-extra-headers-prefix', 'x-'])).toEqual([
    expect.stringMatching('^--requestheader-extra-headers-prefix: x- would replace x-forwarded-'),
  ]);
  const pod = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  expect(readConfig(['--mock-mail', '--data-dir', 'x', ...secure, lookup], pod).frontProxy).toEqual(
    { from: 'cluster', server: 'https://[fd00::1]:443' },
  );
  expect(
    readConfig(['--mock-mail', '--data-dir', 'x', ...secure], {
      ...pod,
      VESTIBULE_AUTHENTICATION_SKIP_LOOKUP: 'false',
    }).frontProxy,
  ).toEqual({ from: 'cluster', server: 'https://[fd00::1]:443' });
  expect(problems([...secure, lookup])).toEqual([
    expect.stringMatching(
      /^--authentication-skip-lookup=false: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set/,
    ),
  ]);
  expect(problems([...secure, lookup, ...file], pod)).toEqual([
    expect.stringMatching(
      /^--requestheader-client-ca-file and --authentication-skip-lookup=false are both set/,
    ),
  ]);
  expect(problems([lookup], pod)).toEqual([
    expect.stringMatching(/^--authentication-skip-lookup=false is set without --secure-port/),
  ]);
  expect(problems([...secure, '--authentication-skip-lookup=no'], pod)).toEqual([
    '--authentication-skip-lookup must be true or false',
  ]);

  const refused = (options: object, ...flags: string[]): Promise<string> =>
    startTest({ ...options, flags: [...secure, ...flags] }).then(
      () => 'it starts',
      (error) => (error instanceof ConfigError ? error.message : `not as a setting: ${error}`),
    );
  const folder = temporary();
  mkdirSync(folder, { recursive: true });
  const ca = join(folder, 'ca.crt');
  expect(await refused({ environment: pod, serviceAccount: folder }, lookup)).toBe(
    ['token', 'ca.crt']
      .map(
        (one) =>
          `--authentication-skip-lookup=false: ${join(folder, one)} does not exist; the pod needs its service account (automountServiceAccountToken: true)`,
      )
      .join('\n'),
  );
  expect(await refused({}, '--requestheader-client-ca-file', ca)).toBe(
    `--requestheader-client-ca-file: ${ca} cannot be read (ENOENT)`,
  );
  for (const [text, why] of [
    ['nothing', 'it contains no PEM certificate'],
    [
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
      'certificate 1 of 1 cannot be read',
    ],
    [proxyOf(authority('x')).cert, 'none of the certificates is a CA certificate'],
  ] as const) {
    writeFileSync(ca, text);
    expect(await refused({}, '--requestheader-client-ca-file', ca)).toBe(
      `--requestheader-client-ca-file: ${ca} cannot be used: ${why}`,
    );
  }
  rmSync(ca);
});
