import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Grant, grantName } from '../../../kinds/apps/grant.js';
import { clock } from '../../support/clock.js';
import { expectFor } from '../../support/expect-for.js';
import {
  type DocumentServer,
  documentOf,
  startDocumentServer,
} from '../../support/network/document-server.js';
import {
  authorizationPath,
  begin,
  mailTo,
  proceed,
  redeem,
  signIn,
} from '../../support/people/signin.js';
import type { Answer, Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

let documents: DocumentServer;
beforeAll(async () => {
  documents = await startDocumentServer();
});
afterAll(async () => {
  documents.close();
  await stopAll();
});
afterEach(() => clock.release());

const flags = ['--operators', 'op@example.test', '--limit-factor', '1000'];
const verifier = 'v'.repeat(43);
const offline = { scope: 'openid email offline_access', parameters: { prompt: 'consent' } };

/** A path that no other test uses. */
let number = 0;
const path = (): string => `/${(number += 1)}/client.json`;

const ask = (service: TestService, client: string, tab = service.tab()): PromiseLike<Answer> =>
  tab.navigate(authorizationPath(client, 'openid', verifier));

/** The response without what differs between any two requests for unknown Clients. */
const withoutNames = ({ code, bytes, headers }: Answer, client: string): unknown => [
  code,
  headers['content-type'],
  bytes.toString().replaceAll(client, 'CLIENT').replaceAll(String(headers['audit-id']), 'AUDIT'),
];

const refusals = (service: TestService): { reason: string; parameters: object }[] =>
  service.logs
    .map((line) => JSON.parse(line))
    .filter(({ message }) => message === 'the metadata document of a Client was refused');

const form = (service: TestService, endpoint: string, fields: Record<string, string>) =>
  service.tab().send('POST', `/oauth2/${endpoint}`, {
    plain: true,
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });

const refresh = (service: TestService, client: string, token: string) =>
  form(service, 'token', { grant_type: 'refresh_token', client_id: client, refresh_token: token });

/** Expects the responses to a page and to a program that an unknown Client gets. */
async function expectUnknown(service: TestService, client: string): Promise<void> {
  const absent = 'absent-client';
  const page = await ask(service, client);
  expect(page.code).toBe(400);
  expect(withoutNames(page, client)).toEqual(withoutNames(await ask(service, absent), absent));
  const token = await refresh(service, client, 'none').is(401);
  expect(withoutNames(token, client)).toEqual(
    withoutNames(await refresh(service, absent, 'none'), absent),
  );
}

/** Starts a service, and returns a function that adds rules to its first policy. */
async function startWithPolicy(options: Parameters<typeof startTest>[0]) {
  const service = await startTest({ flags, ...options });
  await createClient(service, 'app');
  const operator = (await signIn(service, 'op@example.test')).tab;
  const first = (await operator.get('policies/p-1').is(200)).body.spec.cedar as string;
  const setRules = (rules: string) =>
    operator.post('policies', { spec: { cedar: `${first}\n${rules}` } }).is(201);
  return { service, operator, setRules };
}

const permit = (condition: string): string =>
  `permit (principal, action == Action::"register", resource) when { ${condition} };`;

describe.each(stores)('a client_id that is the URL of a document, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let setRules: (rules: string) => Promise<unknown>;
  beforeAll(async () => {
    ({ service, operator, setRules } = await startWithPolicy({ store }));
  });
  const permitAll = () => setRules(permit('true'));
  const permitHost = () => setRules(permit(`resource.host == "${documents.host}"`));

  describe('before anything is fetched', () => {
    test.each([
      ['no rule permits it', ''],
      ['the rule is about another host', permit('resource.host == "apps.example.test"')],
      ['the rule names the host without the port', permit('resource.host == "localhost"')],
      [
        'another rule forbids it',
        `${permit('true')}
         @message("No.") forbid (principal, action == Action::"register", resource)
         when { resource.host like "localhost:*" };`,
      ],
    ])('policy refuses it, like any unknown client_id: %s', async (_, rules) => {
      await setRules(rules);
      const url = documents.serve(path());
      const before = documents.connections();
      await expectUnknown(service, url);
      expect(documents.connections()).toBe(before);
    });

    test('a URL that is not written as the standard says is refused', async () => {
      await permitAll();
      const { host, port } = documents;
      const name = path();
      documents.serve(name);
      const before = documents.connections();
      for (const url of [
        `http://${host}${name}`,
        `https://user@${host}${name}`,
        `https://user:secret@${host}${name}`,
        `https://@${host}${name}`,
        `https://${host}${name}#fragment`,
        `https://${host}${name}#`,
        `https://${host}/a/..${name}`,
        `https://${host}/.${name}`,
        `https://${host}/a/%2e%2e${name}`,
        `https://${host}`,
        `https://LOCALHOST:${port}${name}`,
        `HTTPS://${host}${name}`,
        `https:\\\\${host}${name}`,
        `https:/${host}${name}`,
        `https:${host}${name}`,
        ` https://${host}${name}`,
        `https://0x7f000001:${port}${name}`,
        `https://127.1:${port}${name}`,
        `https://${host}/${'a'.repeat(250)}`,
      ]) {
        expectFor(url, (await ask(service, url)).code).toEqual(400);
      }
      expect(documents.connections()).toBe(before);
    });

    test('a private address is not connected to', async () => {
      await permitAll();
      for (const url of [
        'https://10.0.0.1/client.json',
        'https://169.254.169.254/latest',
        'https://[fd00::1]/client.json',
        'https://192.168.1.1/client.json',
      ]) {
        expect((await ask(service, url)).code).toBe(400);
        expect(refusals(service).at(-1)).toEqual(
          expect.objectContaining({
            parameters: { client_id: url },
            reason: 'the egress policy does not permit the address',
          }),
        );
      }
    });
  });

  describe('a document is refused', () => {
    const json = { 'content-type': 'application/json' };
    const members: [string, object, string | RegExp][] = [
      ['of another client_id', { client_id: 'https://other.example.test/' }, /client_id does not/],
      ['without client_id', { client_id: undefined }, /^client_id/],
      ['with a secret', { client_secret: 'x' }, /^client_secret/],
      ['with the end of a secret', { client_secret_expires_at: 0 }, /^client_secret_expires_at/],
      [
        'that authenticates with a secret',
        { token_endpoint_auth_method: 'client_secret_basic' },
        /^token_endpoint_auth_method/,
      ],
      [
        'that authenticates with a key',
        { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [] } },
        /^token_endpoint_auth_method/,
      ],
      ['without redirect URIs', { redirect_uris: undefined }, /^redirect_uris/],
      ['with an empty list of them', { redirect_uris: [] }, /^redirect_uris/],
      ['with a text in place of it', { redirect_uris: 'https://app.example.test/' }, /^redirect_/],
      ...[
        'http://app.example.test/callback',
        'https://*.example.test/callback',
        'https://app.example.test/callback#x',
        'https://user@app.example.test/callback',
        'javascript:alert(1)',
        'myapp:/callback',
        '/callback',
      ].map((uri): [string, object, RegExp] => [
        `that redirects to ${uri}`,
        { redirect_uris: ['https://app.example.test/callback', uri] },
        /^spec\.redirectURIs\[1\]/,
      ]),
      [
        'with a wrong redirect after sign-out',
        { post_logout_redirect_uris: ['http://app.example.test/'] },
        /^spec\.postLogoutRedirectURIs\[0\]/,
      ],
      ['for another flow', { response_types: ['id_token'] }, /^response_types/],
      ['without codes', { grant_types: ['refresh_token'] }, /^grant_types/],
      ['with pairwise subjects', { subject_type: 'pairwise' }, /^subject_type/],
      ['with another signature', { id_token_signed_response_alg: 'none' }, /^id_token_signed_/],
      ['with a name of two lines', { client_name: 'Two\nlines' }, /^client_name/],
      ['with a name that shows nothing', { client_name: '\u3164' }, /^client_name/],
      ['with a blank name', { client_name: ' ' }, /^client_name/],
      ['with a name with a no-break space', { client_name: 'a\u00a0b' }, /^client_name/],
      ['with a name that hides a tag', { client_name: 'a\u{e0061}' }, /^client_name/],
      ['with a name that turns the text', { client_name: '\u202egnp.exe' }, /^client_name/],
      ['with a link that is none', { client_uri: 'javascript:alert(1)' }, /^client_uri/],
    ];

    test.each(members)('%s', async (_, changed, reason) => {
      await permitHost();
      const url = documents.serve(path(), changed);
      await expectUnknown(service, url);
      expect(refusals(service).at(-1)!.reason).toMatch(reason);
    });

    const valid = (url: string): string => JSON.stringify(documentOf(url));
    const responses: [string, (url: string) => Parameters<DocumentServer['handle']>[1], RegExp][] =
      [
        ['that is missing', () => (_, to) => to.writeHead(404, json).end(), /status 404/],
        [
          'behind a redirect',
          () => (_, to) =>
            to.writeHead(302, { ...json, location: documents.serve('/moved') }).end(),
          /status 302/,
        ],
        [
          'of another content type',
          (url) => (_, to) => to.writeHead(200, { 'content-type': 'text/html' }).end(valid(url)),
          /content type/,
        ],
        ['without one', (url) => (_, to) => to.writeHead(200).end(valid(url)), /content type/],
        [
          'over 64 KiB',
          (url) => (_, to) => to.writeHead(200, json).end(valid(url).padEnd((64 << 10) + 1)),
          /too long/,
        ],
        [
          'that does not end in time',
          (url) => (_, to) => to.writeHead(200, json).write(valid(url)),
          /cut off|in time/,
        ],
        [
          'that is compressed',
          (url) => (_, to) =>
            to.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(gzipSync(valid(url))),
          /content encoding/,
        ],
        [
          'that is no JSON',
          () => (_, to) => to.writeHead(200, json).end('<html>'),
          /not valid JSON/,
        ],
        ['that is a list', () => (_, to) => to.writeHead(200, json).end('[]'), /object/],
        [
          'with a member twice',
          (url) => (_, to) =>
            to.writeHead(200, json).end(valid(url).replace('{', '{"client_id":"x",')),
          /duplicate/,
        ],
      ];
    test.each(responses)('%s', async (_, handlerOf, reason) => {
      await permitHost();
      const name = path();
      const url = documents.handle(name, (request, response) =>
        handlerOf(`https://${documents.host}${name}`)(request, response),
      );
      const before = documents.requests.length;
      const page = await ask(service, url);
      expect(withoutNames(page, url)).toEqual(
        withoutNames(await ask(service, 'absent-client'), 'absent-client'),
      );
      expect(refusals(service).at(-1)!.reason).toMatch(reason);
      expect(documents.requests.slice(before)).toEqual([name]);
    });
  });

  describe('a sign-in', () => {
    beforeAll(permitHost);

    test('asks for consent by the host, gives tokens, and the person can end it', async () => {
      const url = documents.serve(path(), {
        logo_uri: `https://${documents.host}/logo.png`,
        client_uri: `https://${documents.host}/`,
        policy_uri: 'https://elsewhere.example.test/privacy',
      });
      const { tab, I } = await begin(service, { client: url });
      expect((await tab.get(I).is(200)).body.status.client).toEqual({
        name: url,
        displayName: documents.host,
        declaredName: 'Self-made',
        redirectHost: 'app.example.test',
        homepageURI: `https://${documents.host}/`,
        firstParty: false,
      });
      const begun = await signIn(service, 'ada@example.test', { client: url, ...offline });
      const { body } = await redeem(service, begun);
      expect(body).toMatchObject({ access_token: expect.any(String), token_type: 'Bearer' });
      const account = JSON.parse(
        Buffer.from(body.id_token.split('.')[1], 'base64url').toString(),
      ).sub;
      const name = grantName(account, url);
      expect(name).toMatch(new RegExp(`^${account}--[a-z2-7]{32}$`));
      const { items } = (await begun.tab.get('grants').is(200)).body;
      expect(items).toMatchObject([
        {
          metadata: { name },
          spec: { scopes: ['openid', 'email', 'offline_access'] },
          status: {
            client: { name: url, displayName: documents.host, declaredName: 'Self-made' },
          },
        },
      ]);
      expect((await begun.tab.get('sessions').is(200)).body.items[0].status.clients).toEqual([
        { name: url, displayName: documents.host },
      ]);
      const userinfo = () =>
        service.tab().get('/oauth2/userinfo', {
          plain: true,
          headers: { authorization: `Bearer ${body.access_token}` },
        });
      expect((await userinfo().is(200)).body).toMatchObject({ email: 'ada@example.test' });
      const next = (await refresh(service, url, body.refresh_token).is(200)).body;
      await begun.tab.delete(`grants/${name}`).is(200);
      expect((await refresh(service, url, next.refresh_token)).body.error).toBe('invalid_grant');
      await userinfo().is(401);
    });

    test('consent is asked each time, and prompt=none cannot be satisfied', async () => {
      const url = documents.serve(path());
      const { tab } = await signIn(service, 'bob@example.test', { client: url });
      const again = await begin(service, { tab, client: url });
      expect((await tab.get(again.I).is(200)).body.status).toMatchObject({
        phase: 'ConsentRequired',
        consent: {
          scopes: [
            { name: 'openid', granted: true },
            { name: 'email', granted: true },
          ],
        },
      });
      await tab.navigate(authorizationPath(url, 'openid', verifier, { prompt: 'none' })).is(400);
    });

    test('needs PKCE and no secret, and settings in the document are ignored', async () => {
      const url = documents.serve(path(), {
        pkce: 'Optional',
        profile: 'FAPI2',
        lifetimes: { accessToken: '24h' },
        backchannel_logout_uri: `https://${documents.host}/logout`,
        sector_identifier_uri: `https://${documents.host}/sector`,
        jwks_uri: `https://${documents.host}/keys`,
        software_statement: 'x',
      });
      const bare = authorizationPath(url, 'openid', verifier).replace(/&code_challenge[^&]*/g, '');
      await service.tab().navigate(bare).is(400);
      const begun = await signIn(service, 'cora@example.test', { client: url });
      const code = begun.callback.searchParams.get('code')!;
      const fields = {
        grant_type: 'authorization_code',
        code,
        redirect_uri: 'https://app.example.test/callback',
        client_id: url,
      };
      expect((await form(service, 'token', { ...fields, client_secret: 'x' })).body.error).toBe(
        'invalid_client',
      );
      const { body } = await form(service, 'token', {
        ...fields,
        code_verifier: begun.verifier,
      }).is(200);
      expect(body.expires_in).toBe(3600);
      expect(body).not.toHaveProperty('refresh_token');
    });

    test('may use only the redirect URIs of the document, with any port on loopback', async () => {
      const url = documents.serve(path(), { redirect_uris: ['http://127.0.0.1/cb'] });
      const to = (redirect: string) =>
        service
          .tab()
          .navigate(authorizationPath(url, 'openid', verifier, { redirect_uri: redirect }));
      await to('http://127.0.0.1:4711/cb').is(303);
      await to('http://127.0.0.1:4711/other').is(400);
      await to('https://app.example.test/callback').is(400);
    });

    test('has the scopes that the document lists and this service knows', async () => {
      const url = documents.serve(path(), { scope: 'openid profile tools:read' });
      const scopesOf = async (client: string, scope: string): Promise<string[]> => {
        const { I, tab } = await begin(service, { client, scope });
        return (await tab.get(I).is(200)).body.spec.scopes;
      };
      expect(await scopesOf(url, 'openid profile')).toEqual(['openid', 'profile']);
      expect(await scopesOf(url, 'openid email')).toEqual(['openid']);
      const all = ['openid', 'email', 'groups'];
      expect(await scopesOf(documents.serve(path()), all.join(' '))).toEqual(all);
      expect(await scopesOf(documents.serve(path()), 'openid api')).toEqual(['openid']);
    });

    test('cannot use the device flow', async () => {
      const url = documents.serve(path(), {
        grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
      });
      const { body } = await form(service, 'device/auth', { client_id: url, scope: 'openid' });
      expect(body.error).toBe('invalid_request');
    });
  });

  describe('an error before the person agreed', () => {
    beforeAll(permitHost);

    const part = (value: object): string =>
      Buffer.from(JSON.stringify(value)).toString('base64url');
    const object = `${part({ alg: 'none' })}.${part({ response_mode: 'form_post' })}.`;
    const wrong: readonly [string, Record<string, string>][] = [
      ['prompt=none', { prompt: 'none' }],
      ['prompt=none with another', { prompt: 'none login' }],
      ['no openid', { scope: 'email' }],
      ['another flow', { response_type: 'id_token' }],
      ['a flow that does not exist', { response_type: 'x' }],
      ['no challenge', { code_challenge: '', code_challenge_method: '' }],
      ['a malformed challenge', { code_challenge: 'short' }],
      ['another challenge method', { code_challenge_method: 'plain' }],
      ['a negative max_age', { max_age: '-1' }],
      ['a request object', { request: object }],
      ['a request_uri', { request_uri: 'https://app.example.test/request' }],
      ['registration', { registration: '{}' }],
      ['a resource that does not exist', { resource: 'https://api.example.test/' }],
      ['a malformed resource', { resource: 'x' }],
      ['an id_token_hint, without a page', { id_token_hint: 'x', prompt: 'none' }],
      ['a response mode that does not exist', { response_mode: 'jwt' }],
      ['prompt=none by form_post', { prompt: 'none', response_mode: 'form_post' }],
      ['an acr that does not exist, without a page', { acr_values: 'x', prompt: 'none' }],
    ];
    const redirect = 'https://evil.example.test/landing';
    /** The host that an answer sends the browser to. */
    const hostOf = ({ headers }: Answer): string =>
      new URL(headers.location ?? '/', service.baseURL).host;

    test.each(wrong)('is shown here, with the host: %s', async (_, parameters) => {
      const url = documents.serve(path(), { redirect_uris: [redirect] });
      const query = new URLSearchParams(
        authorizationPath(url, 'openid', verifier, { redirect_uri: redirect }).split('?')[1],
      );
      for (const [name, value] of Object.entries(parameters)) query.set(name, value);
      const accept = { headers: { accept: 'text/html' }, plain: true };
      const forms = { ...accept.headers, 'content-type': 'application/x-www-form-urlencoded' };
      for (const answer of [
        await service.tab().navigate(`/oauth2/auth?${query}`),
        await service.tab().get(`/oauth2/auth?${query}`, accept),
        await service
          .tab()
          .send('POST', '/oauth2/auth', { body: String(query), headers: forms, plain: true }),
      ]) {
        expect(hostOf(answer)).toBe(new URL(service.baseURL).host);
        if (answer.code === 303) continue;
        expect(answer.code).toBeGreaterThanOrEqual(400);
        const page = answer.bytes.toString();
        expect(page).not.toContain('evil.example.test');
        expect(page).toContain(`<bdi dir="ltr">${documents.host}</bdi>`);
      }
      if (!('response_mode' in parameters && !('prompt' in parameters))) {
        await service.tab().navigate(`/oauth2/auth?${query}`).is(400);
      }
    });

    test('is shown here when the person cancels, before the sign-in and at the consent', async () => {
      const url = documents.serve(path(), { redirect_uris: [redirect] });
      const options = { client: url, parameters: { redirect_uri: redirect } };
      const known = (await signIn(service, 'gus@example.test')).tab;
      for (const tab of [service.tab(), known]) {
        const { I } = await begin(service, { tab, ...options });
        const { body } = await tab.delete(I).is(200);
        const page = await tab.navigate(body.status.returnTo).is(400);
        expect(page.bytes.toString()).toContain(`<bdi dir="ltr">${documents.host}</bdi>`);
        expect(page.headers).not.toHaveProperty('location');
      }
    });

    test('is shown here when policy refuses the sign-in', async () => {
      const url = documents.serve(path(), { redirect_uris: [redirect] });
      const { tab } = await signIn(service, 'ida@example.test');
      await setRules(`${permit('true')}
        @message("No.") forbid (principal, action == Action::"signIn", resource == Client::"${url}");`);
      const where = authorizationPath(url, 'openid', verifier, { redirect_uri: redirect });
      for (const query of [where, `${where}&prompt=none`]) {
        expect(hostOf(await tab.navigate(query))).toBe(new URL(service.baseURL).host);
      }
      await permitHost();
    });
  });

  test('the host of a redirect elsewhere is shown, and nothing of one to its own', async () => {
    await permitHost();
    const shown = async (redirect: string): Promise<unknown> => {
      const url = documents.serve(path(), { redirect_uris: [redirect] });
      const { tab, I } = await begin(service, {
        client: url,
        parameters: { redirect_uri: redirect },
      });
      return (await tab.get(I).is(200)).body.status.client.redirectHost;
    };
    expect(await shown('https://app.example.test/callback')).toBe('app.example.test');
    expect(await shown('http://127.0.0.1:4711/cb')).toBe('127.0.0.1:4711');
    expect(await shown('com.example.app:/cb')).toBe('com.example.app:');
    expect(await shown(`https://${documents.host}/cb`)).toBeUndefined();
  });

  test('one that could not be used is not fetched again for a minute, by anyone', async () => {
    clock.own();
    await permitHost();
    const name = path();
    const url = documents.handle(name, (_, response) => response.writeHead(404).end());
    const fetches = () => documents.requests.filter((request) => request === name).length;
    for (let i = 0; i < 3; i += 1) await expectUnknown(service, url);
    expect(fetches()).toBe(1);
    documents.serve(name);
    clock.advance(59_000);
    expect((await ask(service, url)).code).toBe(400);
    expect(fetches()).toBe(1);
    clock.advance(2_000);
    expect((await ask(service, url)).code).toBe(303);
    expect(fetches()).toBe(2);
  });

  describe('a document that changes', () => {
    beforeAll(permitHost);

    test('is kept from five minutes to a day', async () => {
      clock.own();
      const count = async (url: string, name: string): Promise<number> => {
        await ask(service, url);
        return documents.requests.filter((request) => request === name).length;
      };
      for (const [header, seconds] of [
        ['no-store', 300],
        ['max-age=1', 300],
        ['max-age=3600', 3600],
        ['public, max-age=9999999', 86_400],
      ] as const) {
        const name = path();
        const url = documents.serve(name, {}, { 'cache-control': header });
        expect(await count(url, name)).toBe(1);
        clock.advance(seconds * 1000 - 1000);
        expectFor(header, await count(url, name)).toEqual(1);
        clock.advance(2000);
        expectFor(header, await count(url, name)).toEqual(2);
      }
    });

    test('cannot send a code elsewhere', async () => {
      const other = await service.replica();
      const name = path();
      const url = documents.serve(name);
      const begun = await begin(service, { client: url });
      const { callback, verifier: own } = await signIn(service, 'dora@example.test', {
        client: url,
      });
      documents.serve(name, { redirect_uris: ['https://evil.example.test/'] });
      await other
        .tab()
        .navigate(authorizationPath(url, 'openid', verifier))
        .is(400);
      const tab = Object.assign(other.tab(), { cookies: begun.tab.cookies });
      await tab.post(`${begun.I}/emailchallenge`, { spec: { email: 'eve@example.test' } }).is(200);
      const { code } = await mailTo(service, 'eve@example.test');
      const login = { spec: { method: 'EmailCode', code } };
      const { body } = await tab.post(`${begun.I}/login`, login).is(200);
      const back = await proceed(tab, body.status.returnTo);
      expect(`${back.origin}${back.pathname}`).toBe('https://app.example.test/callback');
      const fields = {
        grant_type: 'authorization_code',
        code: callback.searchParams.get('code')!,
        client_id: url,
        code_verifier: own,
      };
      const stolen = await form(other, 'token', {
        ...fields,
        redirect_uri: 'https://evil.example.test/',
      });
      expect(stolen.body.error).toBe('invalid_grant');
    });

    test('ends the use of the Client while it is missing; the Grant stays', async () => {
      clock.own();
      const name = path();
      const url = documents.serve(name);
      const begun = await signIn(service, 'emma@example.test', { client: url, ...offline });
      const { body } = await redeem(service, begun);
      documents.handle(name, (_, response) => response.writeHead(500).end());
      clock.advance(301_000);
      expect(await refresh(service, url, body.refresh_token).is(401)).toMatchObject({
        body: { error: 'invalid_client' },
      });
      await service
        .tab()
        .get('/oauth2/userinfo', {
          plain: true,
          headers: { authorization: `Bearer ${body.access_token}` },
        })
        .is(401);
      const account = (await begun.tab.get('accounts/~').is(200)).body.metadata.name;
      expect(await service.store.reader(Grant).get(grantName(account, url))).toBeDefined();
      documents.serve(name);
      await refresh(service, url, body.refresh_token).is(401);
      clock.advance(61_000);
      await refresh(service, url, body.refresh_token).is(200);
    });

    test('does not keep a person from signing out, which fetches nothing', async () => {
      clock.own();
      const name = path();
      const url = documents.serve(name);
      const { tab } = await signIn(service, 'fay@example.test', { client: url });
      documents.handle(name, (_, response) => response.writeHead(500).end());
      clock.advance(301_000);
      const before = documents.requests.length;
      const page = (await tab.navigate('/oauth2/logout').is(200)).bytes.toString();
      await tab
        .send('POST', /action="([^"]+)"/.exec(page)![1]!, {
          body: new URLSearchParams({
            xsrf: /name="xsrf" value="([^"]+)"/.exec(page)![1]!,
            logout: 'yes',
          }).toString(),
          headers: {
            'content-type': 'application/x-www-form-urlencoded',
            accept: 'text/html',
            'sec-fetch-mode': 'navigate',
          },
        })
        .is(303);
      expect(documents.requests.length).toBe(before);
      await tab.get('accounts/~').fails(401, 'Unauthorized');
    });
  });

  test('a policy that no longer permits it ends the use of the Client', async () => {
    await permitHost();
    const url = documents.serve(path());
    const begun = await signIn(service, 'gil@example.test', { client: url, ...offline });
    const { body } = await redeem(service, begun);
    await setRules('');
    expect((await refresh(service, url, body.refresh_token)).body.error).toBe('invalid_client');
    await permitHost();
    await refresh(service, url, body.refresh_token).is(200);
  });

  test('rules about sign-ins and scopes can name it, and its host', async () => {
    const url = documents.serve(path());
    await setRules(`${permit('true')}
      @id("not-by-document") @message("Not for such apps.")
      forbid (principal, action == Action::"share", resource == Scope::"email")
      when { context.client.host == "${documents.host}" && !context.client.firstParty };
      @id("not-this-one") @message("Not this app.")
      forbid (principal, action == Action::"signIn", resource == Client::"${url}")
      when { context.domain == "other.test" };`);
    const { tab, I } = await begin(service, { client: url });
    expect(I).toMatch(/^\/api\//);
    expect((await tab.get(I).is(200)).body.status.phase).toBe('LoginRequired');
    const begun = await signIn(service, 'hal@example.test', { client: url });
    const { body } = await redeem(service, begun);
    expect(body.scope).toBe('openid');
    await expect(signIn(service, 'ivy@other.test', { client: url })).rejects.toThrow(
      'Not this app.',
    );
    await operator.get('policies').is(200);
  });

  test('discovery announces it', async () => {
    const { body } = await service
      .tab()
      .get('/.well-known/openid-configuration', { plain: true })
      .is(200);
    expect(body.client_id_metadata_document_supported).toBe(true);
  });
});

test.each(stores)('fetches are limited by network, on %s', async (store) => {
  const { service, setRules } = await startWithPolicy({
    store,
    flags: ['--operators', 'op@example.test', '--limits-client-documents-per-network', '3'],
  });
  await setRules(permit('true'));
  clock.hold();
  const known = documents.serve(path());
  const before = documents.requests.length;
  expect((await ask(service, known)).code).toBe(303);
  for (let i = 0; i < 2; i += 1) {
    expect((await ask(service, `https://${documents.host}/missing-${i}`)).code).toBe(400);
  }
  const over = await ask(service, `https://${documents.host}/missing-2`);
  expect([over.code, Number(over.headers['retry-after']) > 0]).toEqual([429, true]);
  expect(documents.requests.length - before).toBe(3);
  expect((await ask(service, known)).code).toBe(303);
});

test.each(stores)(
  'a host has a share of the fetches, and what was fetched is used, on %s',
  async (store) => {
    const { service, setRules } = await startWithPolicy({
      store,
      flags: ['--operators', 'op@example.test', '--limits-client-documents-per-host', '3'],
    });
    await setRules(permit('true'));
    clock.own();
    const known = documents.serve(path());
    const before = documents.requests.length;
    expect((await ask(service, known)).code).toBe(303);
    clock.advance(301_000);
    for (let i = 0; i < 3; i += 1) {
      expect((await ask(service, `https://${documents.host}/absent-${i}`)).code).toBe(400);
    }
    expect((await ask(service, `https://${documents.host}/absent-3`)).code).toBe(429);
    expect(documents.requests.length - before).toBe(4);
    expect((await ask(service, known)).code).toBe(303);
    expect(documents.requests.length - before).toBe(4);
    expect((await ask(service, `https://127.0.0.1:${documents.port}/absent`)).code).toBe(400);
  },
);

test.each(stores)(
  'what a document adds to a request counts in what is kept, on %s',
  async (store) => {
    const { service, setRules } = await startWithPolicy({
      store,
      flags: ['--operators', 'op@example.test', '--limits-sign-in-bytes-per-network', '64Ki'],
    });
    await setRules(permit('true'));
    clock.hold();
    const link = (name: string) => `https://${documents.host}/${name}/${'x'.repeat(1_900)}`;
    const links = { client_uri: link('a'), policy_uri: link('b'), tos_uri: link('c') };
    const accepted = async (client: string): Promise<number> => {
      for (let count = 0; ; count += 1) if ((await ask(service, client)).code !== 303) return count;
    };
    const many = await accepted(documents.serve(path(), links));
    expect(many).toBeGreaterThan(0);
    expect(many * 3 * 1_900).toBeLessThan(64 << 10);
  },
);

test('fetches are limited in all', async () => {
  const { service, setRules } = await startWithPolicy({
    flags: [
      '--operators',
      'op@example.test',
      '--trusted-proxies',
      '127.0.0.1/32',
      '--limits-client-documents-in-all',
      '10',
    ],
  });
  await setRules(permit('true'));
  clock.hold();
  const before = documents.requests.length;
  const codes: number[] = [];
  for (let i = 0; i < 12; i += 1) {
    const tab = Object.assign(service.tab(), { headers: { 'x-forwarded-for': `192.0.2.${i}` } });
    codes.push((await ask(service, `https://${documents.host}/missing-${i}`, tab)).code);
  }
  expect(codes).toEqual([...Array(10).fill(400), 429, 429]);
  expect(documents.requests.length - before).toBe(10);
});

test('a name that resolves to a private address is not connected to', async () => {
  const { service, setRules } = await startWithPolicy({
    flags: [...flags, '--base-url', 'https://id.example.test', '--allow-mock-mail'],
  });
  await setRules(permit('true'));
  const before = documents.connections();
  expect((await ask(service, documents.serve(path()))).code).toBe(400);
  expect(refusals(service).at(-1)!.reason).toBe('the egress policy does not permit the address');
  expect(documents.connections()).toBe(before);
});
