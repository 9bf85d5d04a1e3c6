import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ConfigError, readConfig } from '../../../cmd/vestibule/options/config.js';
import { Keys, type KeysFile, newKeys } from '../../../security/keyring.js';
import { openEmbedded } from '../../../storage/embedded/embedded.js';
import { prefixRange, type Storage, UnavailableError } from '../../../storage/storage.js';
import { clock } from '../../support/clock.js';
import { expectFor } from '../../support/expect-for.js';
import { Stream } from '../../support/network/stream.js';
import { authorizationPath, begin, mailTo, redeem, signIn } from '../../support/people/signin.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../../support/service.js';

afterAll(async () => {
  clock.release();
  await stopAll();
});

describe('headers, logs and dumps', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTest({ flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app');
  });

  test('every answer carries its headers', async () => {
    const { tab, I } = await begin(service);
    for (const path of [
      I,
      '/api',
      '/api/v1beta1',
      '/api/openapi/v3',
      '/api/nowhere',
      'accounts',
      '/livez',
      '/version',
    ]) {
      const { headers } = await tab.get(path, { headers: { 'audit-id': 'audit-1' } });
      expectFor(path, [
        headers['x-content-type-options'],
        headers['audit-id'],
        headers['referrer-policy'],
        headers['cross-origin-resource-policy'],
        headers['content-security-policy'],
      ]).toEqual([
        'nosniff',
        'audit-1',
        'same-origin',
        'same-origin',
        "default-src 'none'; frame-ancestors 'none'",
      ]);
      expect(headers['cache-control']).toMatch(
        ['/api', '/api/v1beta1', '/api/openapi/v3', '/version'].includes(path)
          ? /^public/
          : /^no-store$/,
      );
      expect(headers['x-powered-by']).toBeUndefined();
    }
    expect(
      (await tab.get('accounts', { headers: { 'audit-id': 'bad id\t' } })).headers['audit-id'],
    ).toMatch(/^[0-9a-f-]{36}$/);
    for (const path of [`/interaction/${I.split('/').at(-1)}`, '/mailbox']) {
      const { headers } = await tab.navigate(path).is(200);
      expect(headers['content-security-policy']).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      );
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
      });
      expect(headers['permissions-policy']).toContain('publickey-credentials-get=(self)');
    }
    const { headers } = await tab.navigate('/oauth2/auth?client_id=absent');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['cache-control']).toMatch(/no-(store|cache)/);
  });

  test('refusals carry them too, for every request and every caller', async () => {
    const { tab, I } = await begin(service);
    const api = {
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    };
    const refused = await Promise.all([
      tab.post(`${I}/login`, '{', {}),
      tab.post(`${I}/login`, '{}', { headers: { 'content-type': 'text/plain' } }),
      tab.post(`${I}/login`, {}),
      tab.get('accounts/~'),
      tab.get('clients'),
      tab.get('clients/%'),
      tab.get('/nowhere'),
      tab.send('PATCH', '/api'),
      tab.get(I, { headers: { accept: 'image/png' } }),
      tab.post(`${I}/emailchallenge`, 'x'.repeat(70_000)),
      tab.post(`${I}/emailchallenge`, {}, { headers: { 'sec-fetch-site': 'cross-site' } }),
      tab.post(`${I}/consent`, { spec: { scopes: [] } }),
      tab.send('PUT', '/oauth2/token', { plain: true }),
    ]);
    expect(refused.map(({ code }) => code)).toEqual([
      400, 415, 422, 401, 401, 400, 404, 405, 406, 413, 403, 409, 405,
    ]);
    for (const [at, { headers, body }] of refused.entries()) {
      expect(headers).toMatchObject({
        ...api,
        'audit-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
      expect([
        body.kind,
        Object.keys(headers).filter(
          (name) =>
            name === 'set-cookie' || name === 'x-powered-by' || name.startsWith('access-control-'),
        ),
      ]).toEqual([
        'Status', // Pages may call the token endpoint, which is the last.
        at === refused.length - 1
          ? ['access-control-allow-origin', 'access-control-expose-headers']
          : [],
      ]);
    }
    for (const path of [
      '/oauth2/auth?client_id=absent',
      '/oauth2/device',
      '/oauth2/logout',
      '/oauth2/auth/nothing',
      '/nowhere',
      '/oauth2/token',
    ]) {
      const { headers } = await tab.navigate(path);
      expectFor(path, [
        headers['x-content-type-options'],
        headers['referrer-policy'],
        headers['content-security-policy']?.includes("frame-ancestors 'none'"),
        headers['content-type'],
        /no-store/.test(String(headers['cache-control'])),
      ]).toEqual(['nosniff', 'same-origin', true, 'text/html; charset=utf-8', true]);
      expect(headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  test('a person who goes where nothing is sees a page, a program a Status', async () => {
    for (const path of [
      '/nowhere',
      '/accounts',
      '/policies',
      '/interaction/x',
      '/assets/none.js',
    ]) {
      const { bytes, headers } = await service.tab().navigate(path).is(404);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(bytes.toString()).toContain('There is no such page');
      await service.tab().get(path).fails(404, 'NotFound');
    }
  });

  test('on https there is HSTS, and cookies are prefixed and Secure', async () => {
    const secure = await startTest({
      flags: [
        '--base-url',
        'https://id.example.test',
        '--allow-mock-mail',
        '--limit-factor',
        '1000',
      ],
    });
    await createClient(secure, 'app');
    const { tab, I, name } = await begin(secure);
    expect((await tab.get(I).is(200)).headers['strict-transport-security']).toMatch(
      /^max-age=(\d{8,})$/,
    );
    for (const path of [
      I,
      '/api',
      '/mailbox',
      '/policy',
      '/nowhere',
      '/.well-known/openid-configuration',
      '/oauth2/auth?client_id=absent',
    ]) {
      expectFor(path, (await tab.navigate(path)).headers['strict-transport-security']).toEqual(
        'max-age=63072000',
      );
    }
    const names = tab.cookies.map((cookie) => cookie.name);
    expect(names).toEqual(
      expect.arrayContaining([
        '__Secure-vestibule-interaction',
        '__Secure-vestibule-interaction.sig',
        '__Secure-vestibule-resume',
        '__Host-vestibule-browser',
      ]),
    );
    const plain = secure.tab();
    plain.cookies = tab.cookies.map((cookie) => ({
      ...cookie,
      name: cookie.name.replace('__Secure-', ''),
      path: '/',
    }));
    await plain.get(`interactions/${name}`).fails(404, 'NotFound');
    for (const line of tab.cookies) {
      expect(line.name.startsWith('__Secure-') || line.name.startsWith('__Host-')).toBe(true);
    }
  });

  test('the attributes of every cookie', async () => {
    const { tab, I } = await begin(service);
    const first = await service
      .tab()
      .navigate(
        `/oauth2/auth?client_id=app&response_type=code&scope=openid&redirect_uri=https://app.example.test/callback&code_challenge=${'x'.repeat(43)}&code_challenge_method=S256`,
      );
    const lines = first.headers['set-cookie']!;
    for (const line of lines) expect(line).toMatch(/; httponly/i);
    for (const line of lines) {
      expect(line).toMatch(/; samesite=lax/i);
      expect(line).not.toMatch(/; domain=/i);
    }
    expect(
      lines.some(
        (line) =>
          /^vestibule-interaction=/.test(line) &&
          /; path=\/api\/v1beta1\/interactions\/[a-z2-7]{32}/i.test(line),
      ),
    ).toBe(true);
    expect(lines.some((line) => /^vestibule-interaction\.sig=/.test(line))).toBe(true);
    expect(tab.cookies.find(({ name }) => name === 'vestibule-interaction')!.path).toBe(I);
  });

  test('a line break in path, agent or name makes one JSON line', async () => {
    const { tab, I } = await begin(service);
    await tab.get('/api/v1beta1/clients?x=%0a%0d{"level":"fake"}', {
      headers: { 'user-agent': 'x\tfake' },
    });
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'logs@example.test' } }).is(200);
    const mail = await mailTo(service, 'logs@example.test');
    await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code: mail.code } }).is(200);
    const done = await signIn(service, 'logs2@example.test');
    const { body } = await redeem(service, done);
    for (const line of service.logs) expect(() => JSON.parse(line)).not.toThrow();
    const text = service.logs.join('');
    for (const secret of [
      mail.code,
      mail.token,
      body.access_token,
      body.id_token,
      done.verifier,
      done.callback.searchParams.get('code')!,
      'logs@example.test',
      ...done.tab.cookies.map(({ value }) => value),
    ]) {
      expect(text).not.toContain(secret);
    }
    expect(service.logs.filter((line) => JSON.parse(line).level === 'error')).toEqual([]);
  });

  test('a dump of the store holds no secret in plain but in MockMessages', async () => {
    const { tab, I } = await begin(service);
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'dump@example.test' } }).is(200);
    const mail = await mailTo(service, 'dump@example.test');
    const done = await signIn(service, 'dump2@example.test', {
      scope: 'openid email offline_access',
      parameters: { prompt: 'consent' },
    });
    const { body } = await redeem(service, done);
    expect(body.refresh_token).toBeTruthy();
    const { entries } = await service.storage.list(prefixRange('objects/'));
    const more = [
      ...entries,
      ...(await service.storage.list({ start: '!', end: 'objects/' })).entries,
      ...(await service.storage.list({ start: 'objects0', end: '~' })).entries,
    ].filter(({ key }) => !key.startsWith('objects/mockmessages/'));
    const dump = more.map(({ key, value }) => `${key} ${value.toString('latin1')}`).join('\n');
    for (const secret of [
      mail.code,
      mail.token,
      body.access_token,
      body.refresh_token,
      ...done.tab.cookies.filter(({ name }) => !name.endsWith('.sig')).map(({ value }) => value),
    ]) {
      expect(dump).not.toContain(secret);
    }
  });

  test('a logo that is script or data is 422', async () => {
    const operator = await startTest({
      flags: ['--operators', 'op@example.test', '--limit-factor', '100'],
    });
    await createClient(operator, 'app');
    const { tab } = await signIn(operator, 'op@example.test');
    for (const logoURI of [
      'javascript:alert(1)',
      'data:image/png;base64,AA',
      'ftp://x.test/',
      'http://x.test/a.png',
    ]) {
      await tab.patch('clients/app', { spec: { logoURI } }).fails(422, 'Invalid', 'spec.logoURI');
    }
  });

  test('registration is 404; /metrics is not served here; unknown versions lead nowhere', async () => {
    for (const path of ['/oauth2/register', '/oauth2/reg', '/metrics', '/configz', '/debug']) {
      expect((await service.tab().get(path)).code).toBe(404);
    }
  });
});

describe('the store fails and keys turn', () => {
  test('the store is down: a Status without host names, unready, and back again', async () => {
    const real = await openEmbedded({ directory: join(temporary(), 'store') });
    let down = false;
    const fragile = new Proxy(real, {
      get:
        (target, name: keyof Storage) =>
        (...args: unknown[]) => {
          if (down && name !== 'watch' && name !== 'close') {
            throw new UnavailableError('connect ECONNREFUSED 10.1.2.3:2379');
          }
          return (target[name] as any)(...args);
        },
    });
    const service = await startTest({ storage: wrap(fragile), flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app');
    const { tab, I } = await begin(service);
    down = true;
    const { message, headers } = await tab.get(I).fails(503, 'ServiceUnavailable');
    expect(message).not.toContain('10.1.2.3');
    expect(headers['retry-after']).toBe('1');
    expect((await tab.get('/readyz')).code).toBe(500);
    expect((await tab.get('/readyz')).bytes.toString()).toContain('[-]storage failed');
    expect((await tab.get('/readyz?exclude=storage&exclude=policy').is(200)).bytes.toString()).toBe(
      'ok',
    );
    expect((await tab.get('/readyz/storage').is(500)).bytes.toString()).toBe(
      '[-]storage failed: reason withheld\nreadyz check failed\n',
    );
    for (const path of ['/livez', '/healthz', '/readyz/ping', '/livez/ping']) {
      expect((await tab.get(path).is(200)).bytes.toString()).toBe('ok');
    }
    for (const path of ['/livez/storage', '/readyz/nothing']) await tab.get(path).is(404);
    const watch = await new Stream(service.tab(), 'mockmessages?watch=true').until(
      ({ ended }) => ended,
    );
    expect([
      watch.code,
      watch.clean,
      watch.events.map(({ type, object }) => [type, object.kind, object.code]),
    ]).toEqual([200, true, [['ERROR', 'Status', 503]]]);
    await tab
      .post(`${I}/emailchallenge`, { spec: { email: 'a@example.test' } })
      .fails(503, 'ServiceUnavailable');
    expect((await tab.navigate('/oauth2/auth?client_id=app')).bytes.toString()).not.toContain(
      '10.1.2.3',
    );
    down = false;
    await tab.get(I).is(200);
    const {
      bytes,
      headers: { 'content-type': type, 'cache-control': caching },
    } = await tab.get('/readyz?verbose').is(200);
    expect([bytes.toString(), type, caching]).toEqual([
      '[+]ping ok\n[+]storage ok\n[+]policy ok\n[+]startup ok\n[+]shutdown ok\nreadyz check passed\n',
      'text/plain; charset=utf-8',
      'no-store',
    ]);
    expect((await tab.get('/readyz?verbose&exclude=storage').is(200)).bytes.toString()).toContain(
      '[+]storage excluded: ok\n',
    );
    expect((await tab.get('/readyz').is(200)).bytes.toString()).toBe('ok');
  });

  /** Errors of an async method come as rejections. */
  const wrap = (storage: Storage): Storage =>
    new Proxy(storage, {
      get: (target, name: keyof Storage) =>
        name === 'watch'
          ? (...args: unknown[]) => (target[name] as any)(...args)
          : async (...args: unknown[]) => (target[name] as any)(...args),
    });

  test('old cookies are good while their key is kept', async () => {
    const file = newKeys();
    const fresh = newKeys();
    const both: KeysFile = { ...file, cookies: [...fresh.cookies, ...file.cookies] };
    const directory = temporary();
    const first = await startTest({
      keys: new Keys(file),
      directory,
      flags: ['--limit-factor', '100', '--base-url', 'http://localhost:7000'],
    });
    await createClient(first, 'app');
    const { tab } = await signIn(first, 'keys@example.test');
    const { I, tab: waiting } = await begin(first);
    await first.stop();
    const second = await startTest({
      keys: new Keys(both),
      directory,
      flags: ['--base-url', 'http://localhost:7000'],
    });
    const moved = second.tab();
    moved.cookies = [
      ...tab.cookies.filter(({ name }) => name !== 'vestibule-browser'),
      ...waiting.cookies.filter(({ name, path }) => path === I || name === 'vestibule-browser'),
    ];
    await moved.get('accounts/~').is(200);
    await moved.get(I).is(200);
    await second.stop();
    const third = await startTest({
      keys: new Keys({ ...file, cookies: fresh.cookies }),
      directory,
      flags: ['--base-url', 'http://localhost:7000'],
    });
    const late = third.tab();
    late.cookies = moved.cookies;
    await late.get('accounts/~').fails(401, 'Unauthorized');
    await late.get(I).fails(404, 'NotFound');
  });
});

describe('a backup that is restored', () => {
  test('revives no session, no code, no link, no code or token of a Client', async () => {
    const [directory, keys] = [temporary(), new Keys(newKeys())];
    const flags = ['--limit-factor', '100', '--base-url', 'http://localhost:7002'];
    const before = await startTest({ keys, directory, flags });
    await createClient(before, 'app');
    const done = await signIn(before, 'restored@example.test', {
      scope: 'openid email offline_access',
      parameters: { prompt: 'consent' },
    });
    const { body: tokens } = await redeem(before, done);
    const verifier = 'v'.repeat(43);
    const callback = new URL(
      (await done.tab.navigate(authorizationPath('app', 'openid email', verifier)).is(303)).headers
        .location!,
    );
    expect(callback.searchParams.get('code')).toBeTruthy();
    const open = await begin(before);
    await before.tab().delete('mockmessages').is(200);
    await open.tab
      .post(`${open.I}/emailchallenge`, { spec: { email: 'restored@example.test' } })
      .is(200);
    const mail = await mailTo(before, 'restored@example.test');
    await before.storage.commit([], [{ put: 'meta/epoch', value: Buffer.from('1') }]);
    await before.stop();
    const after = await startTest({ keys, directory, flags });
    const [person, waiting] = [after.tab(), after.tab()];
    [person.cookies, waiting.cookies] = [done.tab.cookies, open.tab.cookies];
    await person.get('accounts/~').fails(401, 'Unauthorized');
    await waiting.get(open.I).fails(404, 'NotFound');
    for (const spec of [
      { method: 'EmailCode', code: mail.code },
      { method: 'EmailLink', token: mail.token },
    ]) {
      await waiting.post(`${open.I}/login`, { spec }).fails(404, 'NotFound');
    }
    await waiting
      .post(`${open.I}/emailchallenge`, { spec: { email: 'restored@example.test' } })
      .fails(404, 'NotFound');
    await waiting.delete(open.I).fails(404, 'NotFound');
    expect((await redeem(after, { callback, verifier, client: 'app' })).body.error).toBe(
      'invalid_grant',
    );
    const refresh = new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
      client_id: 'app',
    }).toString();
    expect(
      (
        await after.tab().send('POST', '/oauth2/token', {
          plain: true,
          body: refresh,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        })
      ).body.error,
    ).toBe('invalid_grant');
    expect(
      (
        await after.tab().get('/oauth2/userinfo', {
          plain: true,
          headers: { authorization: `Bearer ${tokens.access_token}` },
        })
      ).code,
    ).toBe(401);
    await after.tab().delete('mockmessages').is(200);
    await signIn(after, 'restored@example.test');
  });
});

describe('the start', () => {
  const problems = (
    flags: string[],
    environment: Record<string, string> = {},
  ): readonly string[] => {
    try {
      readConfig(flags, environment);
      return [];
    } catch (error) {
      return (error as ConfigError).problems;
    }
  };

  test.each([
    [['--data-dir', 'x'], /--smtp-url is missing/],
    [['--mock-mail'], /--data-dir is missing/],
    [
      ['--data-dir', 'x', '--mock-mail', '--base-url', 'https://id.example.test'],
      /--mock-mail is refused/,
    ],
    [
      ['--etcd-servers', 'http://127.0.0.1:2379', '--mock-mail', '--keys-file', 'k'],
      /--mock-mail is refused/,
    ],
    [
      ['--etcd-servers', 'http://127.0.0.1:2379', '--mock-mail', '--allow-mock-mail'],
      /--keys-file is missing/,
    ],
    [
      [
        '--etcd-servers',
        'http://etcd.example.test:2379',
        '--mock-mail',
        '--allow-mock-mail',
        '--keys-file',
        'k',
      ],
      /must be https/,
    ],
    [
      ['--data-dir', 'x', '--mock-mail', '--base-url', 'http://id.example.test'],
      /--base-url must be https/,
    ],
    [
      ['--data-dir', 'x', '--mock-mail', '--base-url', 'https://id.example.test/path'],
      /--base-url must be scheme, host and perhaps a port/,
    ],
    [['--data-dir', 'x', '--mock-mail', '--bogus', 'y'], /bogus/],
    [['--data-dir', 'x', '--mock-mail', '--port', 'many'], /--port must be a number/],
    [['--data-dir', 'x', '--mock-mail', '--smtp-url', 'smtp://x'], /--smtp-url are both set/],
    [['--data-dir', 'x', '--mock-mail', '--bind-address', '0.0.0.0'], /--base-url is missing/],
    [['--data-dir', 'x', '--mock-mail', '--etcd-servers', 'https://x.test'], /set only one store/],
    [['--data-dir', 'x', '--mock-mail', '--trusted-proxies', 'junk'], /--trusted-proxies: junk/],
    [['--data-dir', 'x', '--mock-mail', '--port', '99999'], /--port must be/],
    [['--data-dir', 'x', '--mock-mail', '--log-level', 'loud'], /--log-level must be/],
    [['--data-dir', 'x', '--mock-mail', '--operators', 'junk'], /--operators: junk/],
    [
      ['--data-dir', 'x', '--mock-mail', '--manifests', '/nowhere'],
      /--manifests: there is no folder/,
    ],
  ] as [string[], RegExp][])('%p is refused in one line', (flags, line) => {
    expect(problems(flags).some((problem) => line.test(problem))).toBe(true);
  });

  test('loopback is loopback, however an address of it is written', () => {
    for (const address of ['127.0.0.1', '::1', 'localhost']) {
      expect(
        problems(['--data-dir', 'x', '--mock-mail', '--bind-address', address, '--port', '8080']),
      ).toEqual([]);
    }
    expect(problems(['--data-dir', 'x', '--mock-mail', '--base-url', 'http://[::1]:8080'])).toEqual(
      [],
    );
    expect(
      problems([
        '--etcd-servers',
        'http://',
        '--mock-mail',
        '--allow-mock-mail',
        '--keys-file',
        'k',
      ])[0],
    ).toContain('must be a scheme, a host and a port');
    for (const address of ['http://etcd.example.test:2379', 'http://10.0.0.1:2379']) {
      expect(
        problems([
          '--etcd-servers',
          address,
          '--mock-mail',
          '--allow-mock-mail',
          '--keys-file',
          'k',
        ])[0],
      ).toContain('must be https, or http on loopback');
    }
  });

  test('the environment has known names, both forms of a secret, and Kubernetes’ own', () => {
    const flags = ['--data-dir', 'x', '--mock-mail'];
    expect(problems(flags, { VESTIBULE_BOGUS: '1' })).toEqual(['VESTIBULE_BOGUS is not a setting']);
    expect(problems(flags, { VESTIBULE_PORTS: '1' })).toEqual([
      'VESTIBULE_PORTS is not a setting; did you mean VESTIBULE_PORT?',
    ]);
    expect(problems(flags, { VESTIBULE_CONTEXT: 'a', VESTIBULE_CONTEXTS: 'b' })).toEqual([]);
    expect(problems(flags, { VESTIBULE_SERVICE_HOST: '10.0.0.1' })).toEqual([]);
    expect(problems(flags, { VESTIBULE_PORT: 'tcp://10.0.0.1:80' })[0]).toContain(
      'enableServiceLinks: false',
    );
    expect(
      problems(['--data-dir', 'x', '--email-from', 'a@example.test'], {
        VESTIBULE_SMTP_URL: 'smtp://x',
        VESTIBULE_SMTP_URL_FILE: '/x',
      })[0],
    ).toContain('both set');
    expect(
      problems(['--data-dir', 'x', '--email-from', 'a@example.test'], {
        VESTIBULE_SMTP_URL_FILE: '/nowhere',
      })[0],
    ).toContain('there is no file /nowhere');
    expect(
      readConfig(['--data-dir', 'x'], { VESTIBULE_MOCK_MAIL: 'true', VESTIBULE_LOG_LEVEL: 'warn' }),
    ).toMatchObject({ mockMail: true, logLevel: 'warn' });
  });

  test('the command stops with exit 2 for settings and 1 for bad files', () => {
    const run = (...args: string[]) =>
      spawnSync(process.execPath, ['bin/vestibule', ...args], {
        cwd: join(import.meta.dirname, '../../..'),
        encoding: 'utf8',
        env: { PATH: process.env.PATH! },
        timeout: 20_000,
      });
    const folder = temporary();
    const bad = run(
      'serve',
      '--data-dir',
      join(folder, 'd'),
      '--base-url',
      'http://id.example.test',
    );
    expect([bad.status, bad.stderr.trim().split('\n').length]).toEqual([2, 2]);
    mkdirSync(join(folder, 'm'));
    writeFileSync(
      join(folder, 'm', 'x.yaml'),
      'apiVersion: id.vestibule.org/v1beta1\nkind: Client\nmetadata: {name: x}\nspec: {displayName: ""}\n',
    );
    const manifest = run(
      'serve',
      '--data-dir',
      join(folder, 'd'),
      '--mock-mail',
      '--port',
      '0',
      '--manifests',
      join(folder, 'm'),
    );
    expect([manifest.status, manifest.stdout]).toEqual([1, '']);
    expect(manifest.stderr).toMatch(/vestibule: --manifests: .*x\.yaml: .*spec\.displayName/);
    writeFileSync(join(folder, 'keys.json'), '{}', { mode: 0o600 });
    const keys = run(
      'serve',
      '--data-dir',
      join(folder, 'd'),
      '--mock-mail',
      '--port',
      '0',
      '--keys-file',
      join(folder, 'keys.json'),
    );
    expect([keys.status, keys.stderr.includes('is not a keys file')]).toEqual([1, true]);
    expect(run('nonsense').status).toBe(2);
  });

  test.each([
    [
      'mock mail with etcd',
      ['--etcd-servers', 'http://127.0.0.1:2379', '--mock-mail', '--keys-file', 'k'],
      /--mock-mail/,
    ],
    [
      'mock mail at a public address',
      ['--data-dir', 'x', '--mock-mail', '--base-url', 'https://id.example.test'],
      /--mock-mail/,
    ],
    [
      'no keys',
      ['--etcd-servers', 'http://127.0.0.1:2379', '--mock-mail', '--allow-mock-mail'],
      /--keys-file/,
    ],
    [
      'keys that are not there',
      [
        '--etcd-servers',
        'http://127.0.0.1:2379',
        '--mock-mail',
        '--allow-mock-mail',
        '--keys-file',
        '/nowhere/keys',
      ],
      /nowhere/,
    ],
    [
      'a certificate that cannot be read',
      [
        '--data-dir',
        'x',
        '--mock-mail',
        '--port',
        '0',
        '--secure-port',
        '0',
        '--tls-cert-file',
        '/nowhere/tls.crt',
        '--tls-private-key-file',
        '/nowhere/tls.key',
      ],
      /nowhere/,
    ],
  ] as [string, string[], RegExp][])('%s stops it with one line', (_, flags, says) => {
    const folder = temporary();
    const run = spawnSync(
      process.execPath,
      [
        join(import.meta.dirname, '../../../bin/vestibule'),
        'serve',
        '--log-level',
        'warn',
        ...flags,
      ],
      { cwd: folder, encoding: 'utf8', env: { PATH: process.env.PATH! }, timeout: 20_000 },
    );
    const lines = run.stderr
      .split('\n')
      .filter((one) => one !== '' && !one.startsWith('oidc-provider WARNING'));
    expect([lines.length, run.stdout, run.status === 1 || run.status === 2]).toEqual([1, '', true]);
    expect(lines[0]).toMatch(/^vestibule: /);
    expect(lines[0]).toMatch(says);
  });

  test('with real mail the mock mailbox does not exist, in no document', async () => {
    const service = await startTest({ mail: 'smtp://127.0.0.1:1' });
    const tab = service.tab();
    await tab.get('mockmessages').fails(404, 'NotFound');
    for (const path of [
      '/api/v1beta1',
      '/apis/id.vestibule.org/v1beta1',
      '/api/openapi/v3',
      '/openapi/v2',
      '/openapi/v3',
      '/openapi/v3/apis/id.vestibule.org/v1beta1',
    ]) {
      expect((await tab.get(path).is(200)).bytes.toString().toLowerCase()).not.toContain(
        'mockmessage',
      );
    }
    expect((await tab.navigate('/mailbox')).code).toBe(404);
  });
});

describe('sessions in time', () => {
  test('the idle and the absolute end hold, and use never moves the absolute one', async () => {
    const service = await startTest({ flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app', { firstParty: true });
    const { tab } = await signIn(service, 'time@example.test');
    const before = tab.cookie('vestibule-session');
    clock.own();
    const day = 86_400_000;
    clock.advance(14 * day - 60_000);
    await tab.get('accounts/~').is(200);
    clock.advance(120_000);
    await tab.get('accounts/~').fails(401, 'Unauthorized');
    const { tab: second } = await signIn(service, 'time@example.test');
    for (let used = 0; used < 7; used += 1) {
      clock.advance(12 * day);
      await begin(service, { tab: second }).catch(() => {});
      await second.get('accounts/~').is(200);
    }
    clock.advance(7 * day);
    await second.get('accounts/~').fails(401, 'Unauthorized');
    expect(second.cookie('vestibule-session')).not.toBe(before);
    clock.release();
  });
});
