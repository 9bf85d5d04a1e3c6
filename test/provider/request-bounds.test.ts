import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { prefixRange } from '../../storage/storage.js';
import { expectFor } from '../support/expect-for.js';
import { authorizationPath, signIn } from '../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { stores } from '../support/stores.js';

afterAll(stopAll);

/** Where something of a request is kept, and how it is sent there. */
const ways = [
  ['/oauth2/auth', 'GET'],
  ['/oauth2/auth', 'POST'],
  ['/oauth2/par', 'POST'],
  ['/oauth2/device/auth', 'POST'],
  ['/oauth2/logout', 'GET'],
  ['/oauth2/logout', 'POST'],
] as const;
/** One more byte than may be, by parameter; what no other bound is for has the general one. */
const tooLong: Record<string, number> = {
  state: 4_097,
  nonce: 513,
  redirect_uri: 2_049,
  scope: 1_025,
  resource: 1_025,
  claims: 1_025,
  login_hint: 1_025,
  acr_values: 1_025,
  ui_locales: 1_025,
  claims_locales: 1_025,
  code_challenge: 129,
  prompt: 129,
  dpop_jkt: 129,
  request_uri: 1_025,
  id_token_hint: 4_097,
  authorization_details: 1_025,
  unheard_of: 1_025,
};

describe.each(stores)('bounds of what is kept of a request, on the %s store', (store) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app', {
      grantTypes: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
    });
  });

  const usual = (): URLSearchParams =>
    new URLSearchParams(authorizationPath('app', 'openid', 'v'.repeat(43)).split('?')[1]);
  const send = (
    path: string,
    method: string,
    fields: URLSearchParams | string,
    accept = 'application/json',
  ) =>
    method === 'GET'
      ? service.tab().send('GET', `${path}?${fields}`, { plain: true, headers: { accept } })
      : service.tab().send('POST', path, {
          plain: true,
          body: String(fields),
          headers: { 'content-type': 'application/x-www-form-urlencoded', accept },
        });
  /** Everything that the library keeps, and every Interaction; not what a Client shows of its refusals. */
  const kept = async (): Promise<number> =>
    (
      await Promise.all(
        ['oidc/', 'objects/interactions/'].map((prefix) =>
          service.storage.list(prefixRange(prefix)),
        ),
      )
    )
      .flatMap(({ entries }) => entries)
      .filter(({ key }) => !key.startsWith('oidc/client-report/')).length;

  /** Where a parameter may be too long, and how it is answered then. */
  const hints = ['login_hint', 'ui_locales', 'claims_locales', 'id_token_hint', 'unheard_of'];
  const addressing = ['redirect_uri', 'request_uri'];

  test.each(ways.filter(([path]) => path !== '/oauth2/logout'))(
    '%s by %s: a parameter that is too long is an error that its Client is sent, and a hint is ignored',
    async (path, method) => {
      for (const [name, length] of Object.entries(tooLong)) {
        const before = await kept();
        const fields = usual();
        fields.set(name, 'a'.repeat(length));
        let answer = await send(path, method, fields);
        if (method === 'POST' && path === '/oauth2/auth') {
          answer = await send(
            '/oauth2/auth',
            'GET',
            new URL(answer.headers.location!, service.url).search.slice(1),
          );
        }
        const { code, body, headers } = answer;
        const description = `${name} is over ${length - 1} bytes`;
        if (hints.includes(name)) {
          expectFor(name, [200, 201, 303].includes(code)).toEqual(true);
          expect(headers.location ?? '').not.toContain('error=');
          continue;
        }
        if (path === '/oauth2/auth' && !addressing.includes(name)) {
          const back = new URL(headers.location!);
          expectFor(name, [code, back.origin, back.searchParams.get('error')]).toEqual([
            303,
            'https://app.example.test',
            'invalid_request',
          ]);
          expect(back.searchParams.get('state')).toBe(name === 'state' ? null : 'state');
        } else {
          expectFor(name, [code, headers.location, body]).toEqual([
            400,
            undefined,
            { error: 'invalid_request', error_description: description },
          ]);
        }
        expect(await kept()).toBe(before);
      }
    },
  );

  test.each([
    ['GET', 4_097],
    ['POST', 4_097],
    ['GET', 12_000],
    ['POST', 7_000],
  ] as const)(
    'a state that is too long is named to the Client: by %s, %s',
    async (method, size) => {
      const fields = usual();
      fields.set('state', 's'.repeat(size));
      const first = await send('/oauth2/auth', method, fields);
      const { headers } =
        method === 'GET'
          ? first
          : await send('/oauth2/auth', 'GET', first.headers.location!.split('?')[1]!);
      const back = new URL(headers.location!).searchParams;
      expect([back.get('error_description'), back.get('state')]).toEqual([
        'state is over 4096 bytes (what to set: a shorter value in the program, or limits of the service)',
        null,
      ]);
    },
  );

  test('hints that make a request too long are left out', async () => {
    const fields = usual();
    fields.set('login_hint', 'l'.repeat(9_000));
    expect((await send('/oauth2/auth', 'GET', fields)).code).toBe(303);
    const hint = new URLSearchParams({ id_token_hint: 'h'.repeat(9_000) });
    expect((await send('/oauth2/logout', 'GET', hint)).code).toBe(200);
  });

  test('scopes are read with any space between them', async () => {
    const fields = usual();
    for (const scope of [' openid  email', 'openid\temail ', 'openid\r\nemail\n']) {
      fields.set('scope', scope);
      const { headers } = await send('/oauth2/auth', 'GET', fields);
      expectFor(scope, headers.location).toEqual(expect.stringContaining('/interactions/'));
    }
  });

  test.each(ways)(
    '%s by %s: a request over 8 KiB is refused, however it is made up',
    async (path, method) => {
      const before = await kept();
      const many = `${usual()}${Array.from({ length: 900 }, (_, i) => `&x${i}=abcd`).join('')}`;
      expect(many.length).toBeGreaterThan(8_192);
      const { code, body } = await send(path, method, many);
      expect([code, body]).toEqual([
        400,
        { error: 'invalid_request', error_description: 'the request is over 8192 bytes' },
      ]);
      expect(await kept()).toBe(before);
    },
  );

  test('length is counted in bytes, of every repetition', async () => {
    const fields = usual();
    fields.set('nonce', 'ä'.repeat(257));
    expect((await send('/oauth2/par', 'POST', fields)).body.error_description).toBe(
      'nonce is over 512 bytes',
    );
    fields.set('nonce', 'short');
    fields.append('nonce', 'b'.repeat(513));
    expect((await send('/oauth2/par', 'POST', fields)).body.error_description).toBe(
      'nonce is over 512 bytes',
    );
    fields.set('redirect_uri', 'r'.repeat(2_049));
    const page = await send('/oauth2/auth', 'GET', fields, 'text/html');
    expect([page.code, page.bytes.toString().includes('redirect_uri')]).toEqual([400, false]);
  });

  test.each([2_372, 4_096])('a state of %s bytes comes back with the code', async (length) => {
    const state = `${'s'.repeat(length - 4)}+/= `;
    const { callback } = await signIn(service, `state${length}@example.test`, {
      parameters: { state },
    });
    expect(callback.searchParams.has('code')).toBe(true);
    expect(callback.searchParams.get('state')).toBe(state);
  });

  test('what is as long as it may be is answered as ever', async () => {
    const fields = usual();
    fields.set('state', 's'.repeat(4_096));
    fields.set('nonce', 'n'.repeat(512));
    expect((await send('/oauth2/auth', 'GET', fields)).code).toBe(303);
    expect((await send('/oauth2/par', 'POST', fields)).code).toBe(201);
    const chunked = await fetch(`${service.url}/oauth2/device/auth`, {
      method: 'POST',
      body: new Blob(['client_id=app&scope=openid']).stream(),
      duplex: 'half',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    } as RequestInit);
    expect([chunked.status, await chunked.json()]).toEqual([
      200,
      expect.objectContaining({ user_code: expect.any(String) }),
    ]);
  });
});
