import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as oidc from 'openid-client';
import { builtInScopes } from '../../kinds/apps/claims/scopes.js';
import { defaultLimits } from '../../kinds/limits/limit-settings.js';
import { clock } from '../support/clock.js';
import { expectFor } from '../support/expect-for.js';
import { Browser } from './support/browser.js';
import { House } from './support/fixture.js';
import { RelyingParty } from './support/relyingparty.js';

let house: House;
let scopes = builtInScopes;
const scopeIndex = {
  provider: () => undefined,
  get scopes() {
    return scopes;
  },
  settled: undefined,
};
beforeAll(async () => {
  house = await House.open({ scopeIndex });
});
afterAll(async () => {
  expect(house.identity.counts.get('server_error') ?? 0).toBe(0);
  await house.close();
});

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(house.address + path, { redirect: 'manual', headers });

describe('discovery', () => {
  test('says what is on, at both addresses, cached for five minutes', async () => {
    for (const path of [
      '/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server',
    ]) {
      const answer = await get(path);
      expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
      expect(await answer.json()).toMatchObject({
        issuer: house.baseURL,
        authorization_endpoint: `${house.baseURL}/oauth2/auth`,
        token_endpoint: `${house.baseURL}/oauth2/token`,
        end_session_endpoint: `${house.baseURL}/oauth2/logout`,
        device_authorization_endpoint: `${house.baseURL}/oauth2/device/auth`,
        response_types_supported: ['code'],
        prompt_values_supported: ['none', 'login', 'consent', 'select_account', 'create'],
        ui_locales_supported: expect.arrayContaining(['en', 'de', 'zh-Hans']),
        revocation_endpoint_auth_methods_supported: [
          'client_secret_basic',
          'client_secret_post',
          'private_key_jwt',
          'none',
        ],
        introspection_endpoint_auth_methods_supported: [
          'client_secret_basic',
          'client_secret_post',
          'private_key_jwt',
        ],
        dpop_signing_alg_values_supported: ['ES256', 'PS256', 'Ed25519', 'EdDSA'],
        response_modes_supported: ['query', 'form_post'],
        code_challenge_methods_supported: ['S256'],
        grant_types_supported: [
          'authorization_code',
          'refresh_token',
          'urn:ietf:params:oauth:grant-type:device_code',
        ],
        id_token_signing_alg_values_supported: ['ES256', 'RS256'],
        subject_types_supported: ['public', 'pairwise'],
        token_endpoint_auth_methods_supported: [
          'client_secret_basic',
          'client_secret_post',
          'private_key_jwt',
          'none',
        ],
        acr_values_supported: ['phr', 'urn:vestibule:acr:email'],
        backchannel_logout_supported: true,
        request_uri_parameter_supported: false,
        claims_parameter_supported: false,
      });
    }
  });

  test('holds no symmetric or missing algorithm anywhere, and no registration', async () => {
    const text = await (await get('/.well-known/openid-configuration')).text();
    const document = JSON.parse(text) as Record<string, unknown>;
    expect(text).not.toContain('"HS');
    for (const [name, values] of Object.entries(document)) {
      if (name.includes('_alg_')) expect(values).not.toContain('none');
    }
    expect(document).not.toHaveProperty('registration_endpoint');
    const { keys } = (await (await get('/oauth2/jwks')).json()) as {
      keys: { alg: string; d?: string }[];
    };
    expect(keys.map(({ alg }) => alg)).toEqual(['ES256', 'RS256']);
    for (const key of keys) expect(key.d).toBeUndefined();
  });

  test('comes from the configured base URL and ignores Host and forwarded headers', async () => {
    const spoofed = {
      'x-forwarded-host': 'evil.test',
      'x-forwarded-proto': 'https',
      forwarded: 'host=evil.test',
      'x-forwarded-for': '1.2.3.4',
    };
    expect(await (await get('/.well-known/openid-configuration', spoofed)).text()).not.toContain(
      'evil.test',
    );
  });

  test('follows the scopes there are, while the old instance finishes what it has', async () => {
    const books = {
      ...builtInScopes[1]!,
      name: 'books',
      claims: [{ name: 'books', title: 'Books', type: 'strings' as const }],
      values: () => ({ books: ['one'], undeclared: 'x' }),
    };
    const before = (await (await get('/.well-known/openid-configuration')).json()) as {
      scopes_supported: string[];
    };
    expect(before.scopes_supported).not.toContain('books');
    scopes = [...builtInScopes, books];
    const after = (await (await get('/.well-known/openid-configuration')).json()) as {
      scopes_supported: string[];
    };
    expect(after.scopes_supported).toContain('books');
    await house.client('reader', {
      scopes: [
        { name: 'openid', required: true },
        { name: 'books', required: false },
        { name: 'unknown', required: false },
      ],
    });
    const rp = await RelyingParty.of(house, 'reader');
    const account = (await house.account()).metadata.name;
    const tokens = await rp.signIn(new Browser(house), { account }, { scope: 'openid books' });
    expect(await oidc.fetchUserInfo(rp.config, tokens.access_token, account)).toEqual({
      sub: account,
      books: ['one'],
    });
  });
});

describe('authorization', () => {
  const base = (name: string): Record<string, string> => ({
    client_id: name,
    response_type: 'code',
    scope: 'openid',
    redirect_uri: 'https://rp.example.test/cb',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
    state: 'kept',
  });
  const ask = (fields: Record<string, string>): Promise<Response> =>
    get(`/oauth2/auth?${new URLSearchParams(fields)}`, { accept: 'text/html' });
  beforeAll(async () => {
    await house.client('plain');
  });

  test('without PKCE where it is required, or with plain, is an error at the Client', async () => {
    const { code_challenge: _, code_challenge_method: __, ...none } = base('plain');
    await house.client('public', { type: 'Public' });
    for (const fields of [
      { ...none, client_id: 'public' },
      { ...base('plain'), code_challenge_method: 'plain' },
    ]) {
      const answer = await ask(fields);
      expect(answer.status).toBe(303);
      const back = new URL(answer.headers.get('location')!);
      expect(Object.fromEntries(back.searchParams)).toMatchObject({
        error: 'invalid_request',
        iss: house.baseURL,
        state: 'kept',
      });
    }
  });

  test.each(['token', 'id_token', 'code id_token', 'code token', 'none code', 'none', 'x'])(
    'with response_type=%s is unsupported_response_type',
    async (response_type) => {
      for (const mode of ['', 'query', 'fragment']) {
        const fields = { ...base('plain'), response_type, nonce: 'n' };
        const answer = await ask(mode ? { ...fields, response_mode: mode } : fields);
        const back = new URL(answer.headers.get('location')!.replace('#', '?'));
        expect(Object.fromEntries(back.searchParams)).toMatchObject({
          error: 'unsupported_response_type',
          error_description: expect.stringContaining('response_type code in the program'),
          state: 'kept',
        });
        expect(back.search).not.toContain('response_mode');
      }
    },
  );

  test.each(['code', 'code code'])(
    'with response_type=%s gets no code in a fragment, which no Client may have',
    async (response_type) => {
      const fragment = { ...base('plain'), response_type, response_mode: 'fragment' };
      const answer = await ask(fragment);
      const back = new URL(answer.headers.get('location')!.replace('#', '?')).searchParams;
      expect([back.get('error'), back.get('code')]).toEqual(['invalid_request', null]);
      expect(back.get('error_description')).toContain('response_mode query or form_post');
    },
  );

  test('with a challenge of another length than a SHA-256 is an error at the Client', async () => {
    for (const code_challenge of [
      'x'.repeat(42),
      'x'.repeat(44),
      'x'.repeat(128),
      `${'x'.repeat(42)}.`,
      `${'x'.repeat(42)}~`,
    ]) {
      const back = new URL(
        (await ask({ ...base('plain'), code_challenge })).headers.get('location')!,
      );
      expectFor(code_challenge, Object.fromEntries(back.searchParams)).toEqual(
        expect.objectContaining({ error: 'invalid_request', iss: house.baseURL, state: 'kept' }),
      );
    }
    expect((await ask(base('plain'))).headers.get('location')).not.toContain('error=');
  });

  test('with any other redirect URI is a page that leads nowhere', async () => {
    for (const uri of [
      'https://rp.example.test/cb/more',
      'https://rp.example.test/cb?x=1',
      'https://rp.example.test/CB',
      'https://evil.test/cb',
      'https://rp.example.test/cb#x',
    ]) {
      const answer = await ask({ ...base('plain'), redirect_uri: uri });
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
      const text = await answer.text();
      expect(text).toContain(`redirect_uri: <code>${uri}</code>`);
      expect(text).not.toMatch(/(href|action|src)="[^"]*evil/);
    }
  });

  test('of an unknown Client is a page in our own words', async () => {
    const answer = await ask({ ...base('<script>alert(1)</script>') });
    const text = await answer.text();
    expect(answer.status).toBe(400);
    expect(text).toContain('<title>Error: This app is not known here</title>');
    expect(text).toContain('client_id: <code>&lt;script&gt;alert(1)&lt;/script&gt;</code>');
    expect(text).not.toContain('oidc-provider');
    expect(text).not.toMatch(/<script|style=|onfocus|https:\/\/fonts/);
  });

  test('other response types, grants and registration are refused', async () => {
    for (const type of ['token', 'id_token', 'code id_token', 'none']) {
      const answer = await ask({ ...base('plain'), response_type: type, nonce: 'n' });
      expect((await answer.text()) + answer.headers.get('location')).toMatch(
        /unsupported_response_type|not supported|invalid_request|cannot be answered/,
      );
      expect(String(answer.headers.get('location'))).not.toMatch(/access_token=|id_token=|code=/);
    }
    const grant = await fetch(`${house.address}/oauth2/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'password', username: 'a', password: 'b' }),
      headers: { authorization: `Basic ${btoa('plain:secret-of-plain')}` },
    });
    expect([grant.status, ((await grant.json()) as { error: string }).error]).toEqual([
      400,
      'unsupported_grant_type',
    ]);
    expect((await fetch(`${house.address}/oauth2/reg`, { method: 'POST' })).status).toBe(404);
  });

  test('prompt=none shows nothing', async () => {
    const answer = await ask({ ...base('plain'), prompt: 'none' });
    expect(new URL(answer.headers.get('location')!).searchParams.get('error')).toBe(
      'login_required',
    );
    const rp = await RelyingParty.of(house, 'plain');
    const browser = new Browser(house);
    await rp.signIn(
      browser,
      { account: (await house.account()).metadata.name, scopes: ['openid'] },
      { scope: 'openid' },
    );
    const more = await browser.go((await rp.begin({ scope: 'openid email', prompt: 'none' })).url);
    expect(more.location!.searchParams.get('error')).toBe('consent_required');
    const same = await browser.go((await rp.begin({ scope: 'openid', prompt: 'none' })).url);
    expect(same.location!.searchParams.get('code')).toBeTruthy();
  });

  test('max_age is held, and auth_time true', async () => {
    const rp = await RelyingParty.of(house, 'plain');
    const browser = new Browser(house);
    const account = (await house.account()).metadata.name;
    const first = await rp.signIn(browser, { account }, { scope: 'openid' });
    expect(Math.abs(Number(first.claims()!.auth_time) - Date.now() / 1000)).toBeLessThan(5);
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    const silent = await browser.go(
      (await rp.begin({ scope: 'openid', max_age: '1', prompt: 'none' })).url,
    );
    expect(silent.location!.searchParams.get('error')).toBe('login_required');
    const again = await rp.signIn(
      browser,
      { account, method: 'Passkey' },
      { scope: 'openid', max_age: '1' },
    );
    expect(Number(again.claims()!.auth_time)).toBeGreaterThan(Number(first.claims()!.auth_time));
    expect(again.claims()).toMatchObject({ acr: 'phr' });
  });

  test('a form post leads to the same request as a GET', async () => {
    const body = new URLSearchParams({ ...base('plain'), state: 'a&b=c' });
    const answer = await fetch(`${house.address}/oauth2/auth`, {
      method: 'POST',
      body,
      redirect: 'manual',
    });
    expect(answer.status).toBe(303);
    const to = new URL(answer.headers.get('location')!, house.baseURL);
    expect([to.pathname, to.searchParams.get('state')]).toEqual(['/oauth2/auth', 'a&b=c']);
    for (const long of ['x'.repeat(9_000)]) {
      expect(
        (
          await fetch(`${house.address}/oauth2/auth`, {
            method: 'POST',
            body: new URLSearchParams({ ...base('plain'), long }),
            redirect: 'manual',
          })
        ).status,
      ).toBe(400);
    }
    expect(
      (
        await fetch(`${house.address}/oauth2/auth`, {
          method: 'POST',
          body: '{}',
          headers: { 'content-type': 'application/json' },
          redirect: 'manual',
        })
      ).status,
    ).toBe(400);
  });

  test('a request object is refused in the response mode that it names', async () => {
    const object = (text: string): string => `e30.${Buffer.from(text).toString('base64url')}.`;
    const { state: _, ...fields } = base('plain');
    const form = await ask({
      ...fields,
      request: object('{"response_mode":"form_post","state":"inside"}'),
    });
    expect(form.headers.get('content-security-policy')).toContain(
      `form-action 'self' https://rp.example.test`,
    );
    const text = await form.text();
    expect(text).toContain(`action="${fields['redirect_uri']}"`);
    expect(text).toContain('value="request_not_supported"');
    expect(text).not.toContain('inside');
    const others = [
      '{"response_mode":"query"}',
      '{"response_mode":"fragment"}',
      '{"response_mode":["form_post"]}',
      'null',
      '{',
    ].map((one) => ({ request: object(one) }));
    for (const more of [
      ...others,
      { request: 'x' },
      { request: object('{"response_mode":"form_post"}'), response_mode: 'query' },
    ]) {
      const answer = await ask({ ...fields, ...more });
      expectFor(more, [answer.status, answer.headers.get('location')]).toEqual([
        303,
        expect.stringContaining('/cb?error=request_not_supported'),
      ]);
    }
    const elsewhere = await ask({
      ...fields,
      redirect_uri: 'https://evil.test/cb',
      request: object('{"response_mode":"form_post"}'),
    });
    expect([elsewhere.status, await elsewhere.text()]).toEqual([
      400,
      expect.not.stringContaining('action="https://evil'),
    ]);
  });

  test('form_post carries the code in a page whose policy lets it through', async () => {
    const rp = await RelyingParty.of(house, 'plain');
    const browser = new Browser(house);
    await rp.signIn(
      browser,
      { account: (await house.account()).metadata.name },
      { scope: 'openid' },
    );
    const shown = await browser.go(
      (await rp.begin({ scope: 'openid', response_mode: 'form_post' })).url,
    );
    expect(shown.text).toMatch(/name="code" value="[^"]+"/);
    expect(shown.headers.get('content-security-policy')).toContain(
      `form-action 'self' https://rp.example.test`,
    );
    const fragment = await ask({ ...base('plain'), response_mode: 'fragment' });
    expect(fragment.headers.get('location') ?? '').not.toContain('code=');
  });
});

describe('headers', () => {
  test('of every answer: no-store, nosniff, same-origin referrer, and our policy', async () => {
    for (const path of [
      '/oauth2/auth',
      '/oauth2/logout/success',
      '/oauth2/device',
      '/oauth2/userinfo',
      '/oauth2/nothing',
    ]) {
      const { headers } = await get(path, { accept: 'text/html' });
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    }
  });

  test('let scripts of a Client’s own origin talk to the token endpoint, and of no other', async () => {
    await house.client('spa', { type: 'Public', redirectURIs: ['https://spa.example.test/cb'] });
    const post = (origin: string): Promise<Response> =>
      fetch(`${house.address}/oauth2/token`, {
        method: 'POST',
        headers: { origin },
        body: new URLSearchParams({
          client_id: 'spa',
          grant_type: 'refresh_token',
          refresh_token: 'x',
        }),
      });
    expect(
      (await post('https://spa.example.test')).headers.get('access-control-allow-origin'),
    ).toBe('https://spa.example.test');
    expect((await post('https://evil.test')).headers.get('access-control-allow-origin')).toBeNull();
    expect(
      (await get('/oauth2/auth', { origin: 'https://evil.test' })).headers.get(
        'access-control-allow-origin',
      ),
    ).toBeNull();
  });

  test('an absolute-form target is 400, and a foreign Host changes nothing', async () => {
    const raw = (path: string, host: string): Promise<{ status: number; text: string }> =>
      new Promise((done) => {
        request(
          { port: new URL(house.address).port, host: 'localhost', path, headers: { host } },
          async (response) => {
            let text = '';
            for await (const chunk of response) text += String(chunk);
            done({ status: response.statusCode!, text });
          },
        ).end();
      });
    expect((await raw('http://evil.test/oauth2/auth', 'evil.test')).status).toBe(400);
    const discovery = await raw('/.well-known/openid-configuration', 'evil.test');
    expect([discovery.status, discovery.text.includes('evil.test')]).toEqual([200, false]);
  });
});

describe('floods', () => {
  test('of what stores something are 429 by client network, as page or as JSON', async () => {
    const small = await House.open({ settings: { limitFactor: 0.05, limits: defaultLimits } });
    clock.hold();
    for (const [path, method] of [
      ['/oauth2/auth', 'GET'],
      ['/oauth2/device/auth', 'POST'],
      ['/oauth2/par', 'POST'],
      ['/oauth2/device', 'GET'],
      ['/oauth2/logout', 'GET'],
    ] as const) {
      const statuses: number[] = [];
      for (let i = 0; i < 7; i += 1) {
        statuses.push((await fetch(small.address + path, { method, redirect: 'manual' })).status);
      }
      expectFor(path, [statuses.at(-1), statuses.filter((status) => status === 429)]).toEqual([
        429,
        [429],
      ]);
    }
    const page = await fetch(`${small.address}/oauth2/auth`, { headers: { accept: 'text/html' } });
    expect([page.status, await page.text()]).toEqual([
      429,
      expect.stringMatching(/Too many requests from this network[^]*audit-id-of-tests/),
    ]);
    expect(
      await (await fetch(`${small.address}/oauth2/par`, { method: 'POST' })).json(),
    ).toMatchObject({ error: 'slow_down' });
    clock.release();
    await small.close();
  });
});

describe('a changed Client', () => {
  test('counts at once, and a deleted one is unknown', async () => {
    const { Client } = await import('../../kinds/apps/client/client.js');
    await house.client('changing');
    const cb = encodeURIComponent(`${house.baseURL}/other`);
    const ask = () =>
      get(
        `/oauth2/auth?client_id=changing&response_type=code&scope=openid&redirect_uri=${cb}&code_challenge=${'x'.repeat(43)}&code_challenge_method=S256`,
        { accept: 'text/html' },
      );
    expect((await ask()).status).toBe(400);
    await house.store.change(house.store.systemCall(), (tx) =>
      tx.update(Client, 'changing', ({ spec }) => {
        spec.redirectURIs = [`${house.baseURL}/other`];
      }),
    );
    expect((await ask()).status).toBe(303);
    await house.store.change(house.store.systemCall(), async (tx) => {
      await tx.delete(Client, 'changing');
    });
    expect((await ask()).status).toBe(400);
  });
});
