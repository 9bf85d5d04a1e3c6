import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import {
  type Config,
  type ConfigError,
  loadConfig,
} from '../../../cmd/vestibule/options/config.js';
import { settings } from '../../../cmd/vestibule/options/flags.js';
import { shownSettings } from '../../../cmd/vestibule/options/shown-settings.js';
import { createLog } from '../../../observability/log.js';
import { startTracing } from '../../../observability/otel.js';
import { openEtcd } from '../../../storage/etcd/etcd.js';
import { type EtcdServer, requireUsers, startEtcd } from '../../storage/etcd-server.js';
import { expectFor } from '../../support/expect-for.js';
import { scaled } from '../../support/patience.js';
import { signIn } from '../../support/people/signin.js';
import { createClient, startTest, stopAll } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

/** Part of every password below. */
const secret = 'hush';
/** URLs with a password, as people write them. */
const urls = [
  `https://me:${secret}@host.test:2379`,
  `http://me:${secret}@127.0.0.1:2379`,
  `https://me:${secret}/${secret}@host.test:2379`,
  `https://me:${secret}?a=${secret}#${secret}@host.test`,
  `https://me:12@${secret}@host.test`,
  `https://me:12,${secret}@host.test`,
  `http://host.test:12,${secret}@host.test`,
  `//me:${secret}@host.test`,
];

/** All that an operator sees of settings: what is wrong, or what /configz and the Replica show. */
async function shownOf(flags: readonly string[]): Promise<string> {
  try {
    const config: Config = await loadConfig(flags, {});
    return JSON.stringify([config.displayed, shownSettings(config)]);
  } catch (error) {
    return [(error as ConfigError).message, ...(error as ConfigError).problems].join('\n');
  }
}

const started = ['--data-dir', 'x', '--mock-mail'];
const texts = settings.filter(({ value }) => value === 'text' || value === 'list');

describe('a password in a URL is shown nowhere', () => {
  test.each(texts.map(({ flag }) => flag))('given as --%s', async (flag) => {
    for (const url of urls) {
      expectFor(url, await shownOf([...started, `--${flag}`, url])).toEqual(
        expect.not.stringContaining(secret),
      );
    }
  });

  test('given as a number or a switch', async () => {
    for (const { flag } of settings.filter(({ value }) => value !== 'text' && value !== 'list')) {
      expectFor(flag, await shownOf([...started, `--${flag}=${urls[0]}`])).toEqual(
        expect.not.stringContaining(secret),
      );
    }
  });
});

describe('servers of etcd', () => {
  const etcd = ['--mock-mail', '--allow-mock-mail', '--keys-file', 'k', '--etcd-servers'];
  const problem = expect.stringMatching(
    /^--etcd-servers: (a URL has a user and a password; remove them\. .*--etcd-certfile|URL \d must be a scheme, a host and a port)/,
  );

  test.each([
    ...urls,
    'https://host.test:2379/path',
    `https://host.test:2379?password=${secret}`,
    `https://host.test:2379#${secret}`,
    'https://me@host.test:2379',
    'host.test:2379',
    'unix://x',
  ])('are not %s', async (url) => {
    const error = (await loadConfig([...etcd, url], {}).catch((one) => one)) as ConfigError;
    expect(error.problems).toContainEqual(problem);
    expect(error.message).not.toContain(secret);
    const opened = await openEtcd({
      servers: url.split(','),
      prefix: '/v/',
      openTimeoutMs: 1,
    }).catch((one: Error) => one);
    expect(opened).toEqual(expect.objectContaining({ name: 'Error' }));
    expect(String(opened)).not.toContain(secret);
  });

  test.each(['https://host.test:2379', 'https://host.test:2379/', 'http://127.0.0.1:2379'])(
    'are %s',
    async (url) => {
      expect((await loadConfig([...etcd, url], {})).store).toMatchObject({ servers: [url] });
    },
  );
});

describe('etcd that', () => {
  let server: EtcdServer | undefined;
  afterEach(async () => {
    await server?.stop();
    server = undefined;
  });

  const openingOf = async (servers: string[]): Promise<Error> =>
    (await openEtcd({ servers, prefix: '/v/', openTimeoutMs: scaled(2_000) }).catch(
      (one: Error) => one,
    )) as Error;

  test('refuses this client is not taken for one that is silent', async () => {
    server = await startEtcd();
    const storage = await openEtcd({
      servers: [server.endpoint],
      prefix: '/v/',
      requestTimeoutMs: scaled(5_000),
    });
    await requireUsers(server.endpoint);
    const refused = {
      name: 'UnavailableError',
      message: expect.stringMatching(
        /^etcd refused this client \(user name is empty\): check --etcd-username/,
      ),
    };
    await expect(openingOf([server.endpoint])).resolves.toMatchObject(refused);
    await expect(storage.get('a')).rejects.toMatchObject(refused);
    await expect(storage.commit([], [{ put: 'a', value: Buffer.from('1') }])).rejects.toMatchObject(
      refused,
    );
    await storage.close();
    await expect(openingOf(['http://127.0.0.1:1'])).resolves.toMatchObject({
      name: 'UnavailableError',
      message: 'etcd did not answer',
    });
  });
});

test('headers and a password of the collector of traces are in no line of the log', async () => {
  const refusing = createServer((_, response) => response.writeHead(401).end());
  await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
  const { port } = refusing.address() as AddressInfo;
  const lines: string[] = [];
  const log = createLog('debug', { write: (line) => lines.push(String(line)) > 0 });
  try {
    for (const [endpoint, headers] of [
      [`http://me:${secret}@127.0.0.1:${port}`, `authorization=Bearer ${secret}`],
      [`http://me:${secret}@127.0.0.1:1`, `authorization=Bearer ${secret}`],
      [`http://me:${secret}@:nonsense`, `authorization=${secret}\u2028,${secret}`],
    ]) {
      process.env.OTEL_EXPORTER_OTLP_ENDPOINT = endpoint;
      process.env.OTEL_EXPORTER_OTLP_HEADERS = headers;
      const tracer = startTracing(process.env, log);
      await tracer.request(undefined, async () => {});
      await tracer.stop().catch((error: unknown) => {
        log.warn({ err: error }, 'traces could not be sent');
      });
    }
  } finally {
    delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
    delete process.env.OTEL_EXPORTER_OTLP_HEADERS;
    refusing.closeAllConnections();
    refusing.close();
  }
  expect(lines.join('')).toContain('traces could not be sent');
  expect(lines.join('')).not.toContain(secret);
});

describe.each(stores)('a URL with a password in an object, on %s', (store) => {
  const url = `https://me:${secret}@host.test/x`;
  const client = {
    displayName: 'App',
    type: 'Public',
    redirectURIs: ['https://app.example.test/callback'],
    scopes: [{ name: 'openid', required: true }],
  };
  const tables: readonly [collection: string, spec: object, fields: readonly string[]][] = [
    [
      'clients',
      client,
      [
        'redirectURIs',
        'postLogoutRedirectURIs',
        'backchannelLogoutURI',
        'initiateLoginURI',
        'homepageURI',
        'privacyPolicyURI',
        'termsOfServiceURI',
        'logoURI',
        'jwksURI',
      ],
    ],
    ['claimsproviders', { displayName: 'One', scopes: [] }, ['reviewURI']],
    [
      'audiences',
      {
        displayName: 'One',
        identifier: 'https://one.test/',
        scopes: [{ name: 'read', title: 'Read', description: 'Read.' }],
      },
      ['identifier', 'homepageURI'],
    ],
    ['appearances', {}, ['supportURI', 'privacyPolicyURI', 'termsOfServiceURI', 'logo']],
  ];

  test('is refused without its text, at every field, and is in no log and no metric', async () => {
    const service = await startTest({
      store,
      flags: ['--operators', 'op@example.test', '--limit-factor', '100', '--metrics-port', '0'],
    });
    await createClient(service, 'app');
    const { tab } = await signIn(service, 'op@example.test');
    for (const [collection, spec, fields] of tables) {
      for (const field of fields) {
        const value = field.endsWith('URIs') ? [url] : url;
        const object = { metadata: { name: 'one' }, spec: { ...spec, [field]: value } };
        const { code, body } = await (collection === 'appearances'
          ? tab.patch('appearances/default', { spec: object.spec })
          : tab.post(collection, object));
        expectFor(field, code).toEqual(422);
        expectFor(field, JSON.stringify(body)).toEqual(expect.stringContaining(`spec.${field}`));
        expectFor(field, JSON.stringify(body)).toEqual(expect.not.stringContaining(secret));
      }
    }
    for (const field of ['profileURI', 'pictureURI']) {
      expect(
        JSON.stringify((await tab.patch('accounts/~', { spec: { [field]: url } }).is(422)).body),
      ).not.toContain(secret);
    }
    const query = new URLSearchParams({ client_id: url, redirect_uri: url, scope: 'openid' });
    const shown = await tab.get(`/oauth2/auth?${query}`, { plain: true });
    expect(shown.code).toBeGreaterThanOrEqual(400);
    const metrics = await (await fetch(`${service.metricsURL}/metrics`)).text();
    expect(metrics).not.toContain(secret);
    expect(service.logs.join('')).not.toContain(secret);
  });
});
