import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { wrongParameters } from '../../../provider/http/wrong-parameters.js';
import { redeem, signIn } from '../../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';

afterAll(stopAll);

const right = {
  client_id: 'app',
  response_type: 'code',
  scope: 'openid',
  redirect_uri: 'https://app.example.test/callback',
  code_challenge: 'x'.repeat(43),
  code_challenge_method: 'S256',
};
const wrong: [Record<string, string>, string][] = [
  [{ client_id: 'absent' }, 'absent'],
  [{ redirect_uri: 'https://app.example.test/Callback' }, 'https://app.example.test/Callback'],
];

test.each([
  ['loopback', [], true],
  ['public', ['--base-url', 'https://id.example.test', '--allow-mock-mail'], false],
] as [string, string[], boolean][])(
  'what came that was wrong is named in the log: %s',
  async (_, flags, onPage) => {
    const service = await startTest({ flags });
    await createClient(service, 'app');
    for (const [parameters, shown] of wrong) {
      const before = service.logs.length;
      const text = (
        await service
          .tab()
          .navigate(`/oauth2/auth?${new URLSearchParams({ ...right, ...parameters })}`)
      ).bytes.toString();
      const named = Object.keys(parameters)[0]!;
      const line = service.logs
        .slice(before)
        .map((log) => JSON.parse(log))
        .find(({ message }) => message === 'a request of a Client was refused');
      expect(line).toMatchObject({ level: 'warn', parameters: { [named]: shown } });
      expect([
        text.includes('<title>Error: '),
        text.includes(`${named}: <code>${shown}</code>`),
        text.includes(shown),
      ]).toEqual([true, onPage, onPage]);
    }
  },
);

describe.each([
  ['loopback', [], true],
  ['public', ['--base-url', 'https://id.example.test', '--allow-mock-mail'], false],
] as [string, string[], boolean][])(
  'requests of programs, while the base URL is %s',
  (_, flags, isShown) => {
    let service: TestService;
    beforeAll(async () => {
      service = await startTest({ flags });
      await createClient(service, 'app', {
        grantTypes: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
      });
    });
    const logged = (from: number) =>
      service.logs
        .slice(from)
        .map((log) => JSON.parse(log))
        .filter(({ message }) => message === 'a request of a Client was refused');
    const send = async (path: string, fields: Record<string, string>) => {
      const before = service.logs.length;
      const answer = await service.tab().send('POST', path, {
        plain: true,
        body: new URLSearchParams(fields).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
      return { answer, lines: logged(before) };
    };

    test.each([
      [
        '/oauth2/par',
        { ...right, client_id: 'absent' },
        401,
        'invalid_client',
        { client_id: 'absent' },
      ],
      [
        '/oauth2/par',
        { ...right, scope: 'email' },
        400,
        'invalid_scope',
        { client_id: 'app', scope: 'email' },
      ],
      [
        '/oauth2/device/auth',
        { client_id: 'absent', scope: 'openid' },
        401,
        'invalid_client',
        { client_id: 'absent' },
      ],
      [
        '/oauth2/device/auth',
        { client_id: 'app', scope: 'email' },
        400,
        'invalid_scope',
        { client_id: 'app', scope: 'email' },
      ],
      [
        '/oauth2/par',
        { ...right, redirect_uri: 'https://elsewhere.example.test/' },
        400,
        'invalid_request',
        { client_id: 'app', redirect_uri: 'https://elsewhere.example.test/' },
      ],
      [
        '/oauth2/token',
        { grant_type: 'authorization_code', client_id: 'absent', code: 'x' },
        401,
        'invalid_client',
        { client_id: 'absent' },
      ],
      [
        '/oauth2/introspect',
        { client_id: 'absent', token: 'x' },
        401,
        'invalid_client',
        { client_id: 'absent' },
      ],
      [
        '/oauth2/revoke',
        { client_id: 'absent', token: 'x' },
        401,
        'invalid_client',
        { client_id: 'absent' },
      ],
    ] as [string, Record<string, string>, number, string, Record<string, string>][])(
      '%s %j',
      async (path, fields, code, error, parameters) => {
        const { answer, lines } = await send(path, fields);
        expect([answer.code, answer.body.error, answer.body.parameters]).toEqual([
          code,
          error,
          isShown ? parameters : undefined,
        ]);
        expect(lines).toEqual([expect.objectContaining({ error, parameters })]);
      },
    );

    test.each([
      ['that does not exist', 'emial'],
      ['that the Client does not list', 'groups'],
      ['of the command', 'api'],
    ])('a scope %s is ignored, and named in the log', async (_, scope) => {
      const before = service.logs.length;
      const asked = `openid ${scope} email`;
      const { callback, verifier } = await signIn(service, 'ada@example.test', { scope: asked });
      const { body } = await redeem(service, { callback, verifier, client: 'app' });
      expect(body.scope).toBe('openid email');
      await send('/oauth2/device/auth', { client_id: 'app', scope: asked });
      await send('/oauth2/par', { ...right, scope: asked });
      const entries = service.logs
        .slice(before)
        .map((log) => JSON.parse(log))
        .filter(({ message }) => message.startsWith('scopes of a request were ignored'));
      const entry = ['info', { client_id: 'app', scope }];
      expect(entries.map(({ level, parameters }) => [level, parameters])).toEqual([
        entry,
        entry,
        entry,
      ]);
    });

    test('a client_id that comes by HTTP Basic is named, and never the secret beside it', async () => {
      const before = service.logs.length;
      const by = (pair: string) =>
        service.tab().send('POST', '/oauth2/token', {
          plain: true,
          body: 'grant_type=authorization_code&code=x',
          headers: {
            'content-type': 'application/x-www-form-urlencoded',
            authorization: `Basic ${Buffer.from(pair).toString('base64')}`,
          },
        });
      const { body } = await by('no%20body:hush-hush').is(401);
      expect(body.parameters).toEqual(isShown ? { client_id: 'no body' } : undefined);
      await by('100%:hush-hush').is(400);
      const [named, bare] = logged(before);
      expect(named).toMatchObject({
        error: 'invalid_client',
        parameters: { client_id: 'no body' },
      });
      expect(bare).toMatchObject({ error: 'invalid_request', endpoint: 'token' });
      expect(bare).not.toHaveProperty('parameters');
      expect(service.logs.slice(before).join('')).not.toContain('hush');
    });

    test('a code that comes with another redirect_uri than it was made for names that one', async () => {
      const { callback, verifier } = await signIn(service, 'ada@example.test');
      const { answer, lines } = await send('/oauth2/token', {
        grant_type: 'authorization_code',
        client_id: 'app',
        code: callback.searchParams.get('code')!,
        code_verifier: verifier,
        redirect_uri: 'https://elsewhere.example.test/',
      });
      expect([answer.code, answer.body.error]).toEqual([400, 'invalid_grant']);
      expect(lines).toEqual([
        expect.objectContaining({
          parameters: { client_id: 'app', redirect_uri: 'https://elsewhere.example.test/' },
        }),
      ]);
    });

    test.each([
      [{ client_id: 'absent' }],
      [{ client_id: 'app', post_logout_redirect_uri: 'https://elsewhere.example.test/' }],
    ] as [Record<string, string>][])(
      'what a sign-out cannot be believed for is named in the log alone: %j',
      async (parameters) => {
        const before = service.logs.length;
        const text = (
          await service
            .tab()
            .navigate(`/oauth2/logout?${new URLSearchParams(parameters)}`)
            .is(200)
        ).bytes.toString();
        expect(logged(before)).toEqual([
          expect.objectContaining({
            error: 'invalid_request',
            reason: expect.any(String),
            parameters,
          }),
        ]);
        for (const value of Object.values(parameters)) expect(text).not.toContain(value);
      },
    );

    test('a client_id with control characters is named in the log, escaped and cut', async () => {
      const attempt = async (client_id: string) => {
        const before = service.logs.length;
        await service
          .tab()
          .navigate(`/oauth2/auth?${new URLSearchParams({ ...right, client_id })}`)
          .is(400);
        return logged(before).map(({ parameters }) => parameters.client_id);
      };
      expect(await attempt('a\u0000b\u202ec\nd')).toEqual(['a\\u{0}b\\u{202e}c\\u{a}d']);
      expect(await attempt('an app '.repeat(43))).toEqual([
        `${'an app '.repeat(43).slice(0, 200)}…`,
      ]);
      expect(await attempt('k'.repeat(300))).toEqual(['(hidden)…']);
      expect(
        (await send('/oauth2/par', { ...right, client_id: 'an app '.repeat(43) })).lines,
      ).toHaveLength(1);
    });
  },
);

test.each(['ada@example.test', 'eyJhbGciOiJub25lIn0.e30.', 'a'.repeat(43)])(
  'what may be an address, a token or a secret is in no log: %s',
  async (client_id) => {
    const service = await startTest();
    await service.tab().navigate(`/oauth2/auth?${new URLSearchParams({ ...right, client_id })}`);
    const line = service.logs
      .map((log) => JSON.parse(log))
      .find(({ message }) => message === 'a request of a Client was refused');
    expect(line.parameters).toEqual({ client_id: '(hidden)' });
  },
);

test('a scope that a Client may not have is named with the Client', () => {
  expect(
    wrongParameters(
      { error: 'invalid_scope' },
      { client_id: 'app', scope: 'openid all\n', state: 'x' },
    ),
  ).toEqual({ client_id: 'app', scope: 'openid all\\u{a}' });
  expect(
    wrongParameters({ error: 'invalid_client' }, { client_id: `${'\u2028'.repeat(300)}` }),
  ).toEqual({
    client_id: `${'\\u{2028}'.repeat(200)}…`,
  });
  expect(wrongParameters({ error: 'invalid_request' }, { client_id: 'app' })).toBeUndefined();
});
