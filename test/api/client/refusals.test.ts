import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client } from '../../../kinds/apps/client/client.js';
import { prefixRange } from '../../../storage/storage.js';
import { credentials } from '../../provider/support/party.js';
import { clock } from '../../support/clock.js';
import { settles, until } from '../../support/patience.js';
import { authorizationPath, signIn, redeem as tokensOf } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

beforeAll(() => clock.own());
afterAll(async () => {
  await stopAll();
  clock.release();
});

const message = 'a request of a Client was refused';
const redirect_uri = 'https://app.example.test/callback';

describe.each(stores)('a refused request of a Client, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: [
        '--limit-factor',
        '1000',
        '--operators',
        'op@example.test',
        '--limits-authorization-code-lifetime',
        '10s',
      ],
    });
    await createClient(service, 'app', { type: 'Public', tokenEndpointAuthMethod: 'none' });
    await signInAgain();
    await createClient(service, 'spa', { type: 'Public', tokenEndpointAuthMethod: 'none' });
    await createClient(service, 'shop', credentials.basic('hush').spec);
    await createClient(service, 'keeper', { lifetimes: { refreshToken: '5m' } });
  });

  /** Operators change things only soon after a sign-in. */
  const signInAgain = async () => {
    operator = (await signIn(service, 'op@example.test')).tab;
  };
  const post = (endpoint: string, fields: Record<string, string>, client?: string) =>
    service.tab().send('POST', `/oauth2/${endpoint}`, {
      plain: true,
      body: new URLSearchParams(fields).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(client && { authorization: `Basic ${btoa(client)}` }),
      },
    });
  const authorize = (more: Record<string, string>, client = 'spa') => {
    const path = new URL(authorizationPath(client, 'openid', 'v'.repeat(43)), service.baseURL);
    for (const [name, value] of Object.entries(more)) path.searchParams.set(name, value);
    for (const [name, value] of Object.entries(more)) {
      if (value === '') path.searchParams.delete(name);
    }
    return service.tab().navigate(`${path.pathname}${path.search}`);
  };
  /** Redeems a code of a new sign-in, as the fields say. */
  const redeem = async (more: Record<string, string>, times = 1, seconds = 0) => {
    const address = `p-${randomBytes(6).toString('hex')}@example.test`;
    const { callback, verifier } = await signIn(service, address, { client: 'spa' });
    const code = callback.searchParams.get('code')!;
    const fields = { grant_type: 'authorization_code', client_id: 'spa', code, redirect_uri };
    clock.advance(seconds * 1000);
    for (let i = 1; i < times; i += 1) {
      await post('token', { ...fields, code_verifier: verifier, ...more });
    }
    return post('token', { ...fields, code_verifier: verifier, ...more });
  };
  /** Sends the refresh token of a new sign-in, each time after so many seconds. */
  const refreshAfter = async (...pauses: number[]) => {
    const begun = await signIn(service, `p-${randomBytes(6).toString('hex')}@example.test`, {
      client: 'keeper',
      scope: 'openid offline_access',
      parameters: { prompt: 'consent' },
    });
    const { body } = await tokensOf(service, begun);
    const fields = { grant_type: 'refresh_token', client_id: 'keeper' };
    for (const [i, seconds] of pauses.entries()) {
      clock.advance(seconds * 1000);
      const answer = await post('token', { ...fields, refresh_token: body.refresh_token });
      if (i === pauses.length - 1) return answer;
    }
    throw new Error('it is sent at least once');
  };
  const signOut = async (fields: Record<string, string>) =>
    service.tab().navigate(`/oauth2/logout?${new URLSearchParams(fields)}`);
  const statusOf = async (client: string, tab = operator) =>
    (await tab.get(`clients/${client}`).is(200)).body.status;
  const refusalsOf = async (client: string) => (await statusOf(client)).lastRefusals ?? [];
  const code = { grant_type: 'authorization_code', code: 'x', redirect_uri };
  const none = { code_challenge: '', code_challenge_method: '' };

  test.each<[string, () => Promise<unknown>, string, string, string, string]>([
    [
      'without PKCE',
      async () => authorize(none),
      'spa',
      'authorization',
      'code_challenge is missing',
      'PKCE with S256 in the program',
    ],
    [
      'with PKCE by plain',
      async () => authorize({ code_challenge_method: 'plain' }),
      'spa',
      'authorization',
      'code_challenge_method',
      'S256',
    ],
    [
      'without openid',
      async () => authorize({ scope: 'email' }),
      'spa',
      'authorization',
      'openid must be one',
      'spec.scopes',
    ],
    [
      'with another redirect URI',
      async () => authorize({ redirect_uri: 'https://evil.test/' }),
      'spa',
      'authorization',
      'redirect_uri did not match',
      'spec.redirectURIs',
    ],
    [
      'for another response type',
      async () => authorize({ response_type: 'token' }),
      'spa',
      'authorization',
      'unsupported response_type',
      'response_type code',
    ],
    [
      'with a code that is not known',
      async () => post('token', { ...code, client_id: 'spa' }),
      'spa',
      'token',
      'authorization code not found',
      'the code as it came',
    ],
    [
      'with a code for the second time',
      () => redeem({}, 2),
      'spa',
      'token',
      'authorization code already consumed',
      'one use',
    ],
    [
      'with a code that has just expired',
      () => redeem({}, 1, 12),
      'spa',
      'token',
      'authorization code',
      'within its minute',
    ],
    [
      'with a code that expired long ago',
      () => redeem({}, 1, 120),
      'spa',
      'token',
      'authorization code not found',
      'within its minute',
    ],
    [
      'with a refresh token for the second time',
      () => refreshAfter(0, 31),
      'keeper',
      'token',
      'refresh token already used',
      'one use of each',
    ],
    [
      'with a refresh token that expired',
      () => refreshAfter(400),
      'keeper',
      'token',
      'refresh token',
      'a new sign-in',
    ],
    [
      'to sign out with a hint that is none',
      () => signOut({ client_id: 'spa', id_token_hint: 'x' }),
      'spa',
      'end_session',
      'id_token_hint',
      'id_token_hint in the program',
    ],
    [
      'with another redirect URI for its code',
      () => redeem({ redirect_uri: 'https://evil.test/' }),
      'spa',
      'token',
      'redirect_uri mismatch',
      'spec.redirectURIs',
    ],
    [
      'with another verifier',
      () => redeem({ code_verifier: 'w'.repeat(43) }),
      'spa',
      'token',
      'code_verifier does not match',
      'verifier',
    ],
    [
      'without its verifier',
      () => redeem({ code_verifier: '' }),
      'spa',
      'token',
      'code_verifier must be provided',
      'PKCE',
    ],
    [
      'with a wrong secret',
      async () => post('token', code, 'shop:loud'),
      'shop',
      'token',
      'invalid secret',
      'spec.secretHashes',
    ],
    [
      'without its secret',
      async () => post('token', { ...code, client_id: 'shop' }),
      'shop',
      'token',
      'does not match the registered client authentication',
      'spec.tokenEndpointAuthMethod',
    ],
    [
      'for the tokens of another',
      async () => post('introspect', { token: 'x' }, 'shop:loud'),
      'shop',
      'introspection',
      'invalid secret',
      'spec.secretHashes',
    ],
    [
      'to revoke',
      async () => post('revoke', { token: 'x' }, 'shop:loud'),
      'shop',
      'revocation',
      'invalid secret',
      'spec.secretHashes',
    ],
    [
      'to push a request',
      async () => post('par', {}, 'shop:loud'),
      'shop',
      'pushed_authorization_request',
      'invalid secret',
      'spec.secretHashes',
    ],
    [
      'to sign out and lead to an address of others',
      () => signOut({ client_id: 'spa', post_logout_redirect_uri: 'https://evil.test/' }),
      'spa',
      'end_session',
      'post_logout_redirect_uri is not registered',
      'spec.postLogoutRedirectURIs',
    ],
    [
      'to sign out as two',
      () => signOut({ client_id: 'spa', id_token_hint: 'e30.eyJhdWQiOiJzaG9wIn0.' }),
      'spa',
      'end_session',
      'another Client',
      'client_id',
    ],
  ])(
    '%s is logged, and shown at the Client, with the reason and what to set',
    async (_, act, client, endpoint, reason, remedy) => {
      clock.advance(60_000);
      const before = service.logs.length;
      const answer = (await act()) as { body: any; headers: Record<string, string> };
      const lines = service.logs
        .slice(before)
        .map((log) => JSON.parse(log))
        .filter((line) => line.message === message);
      expect(lines).toEqual([
        expect.objectContaining({
          level: 'warn',
          client,
          endpoint,
          auditID: expect.any(String),
          reason: expect.stringContaining(reason),
          remedy: expect.stringContaining(remedy),
        }),
      ]);
      expect(service.logs.slice(before).join('')).not.toMatch(/hush|loud/);
      const { error, auditID, reason: why } = lines[0];
      const [shown] = await settles(
        () => refusalsOf(client),
        ([newest]) => newest?.auditID === auditID,
      );
      expect(shown).toMatchObject({ endpoint, error, message: why ?? error });
      expect(shown.remedy).toBe(lines[0].remedy);
      const sent = URL.parse((answer.headers.location ?? '').replace('#', '?'))?.searchParams;
      const description = sent?.get('error_description') ?? answer.body?.error_description;
      if (answer.body?.error === 'invalid_client') {
        expect(answer.body.error_description).not.toContain('what to set');
      } else if (sent ?? answer.body?.error) {
        expect(description).toContain(' (what to set: ');
        expect(description).toContain(remedy);
      }
    },
  );

  test.each([
    'ada@example.test',
    'ada%40example.test',
    'ada%2540example.test',
    'Ada%40example.test',
  ])('for an address with %s has none of it in the log and at the Client', async (address) => {
    clock.advance(60_000);
    const before = service.logs.length;
    await authorize({ redirect_uri: `https://app.example.test/in?login=${address}` });
    await until(async () => (await refusalsOf('spa'))[0]?.parameters?.redirect_uri === '(hidden)');
    expect(service.logs.slice(before).join('')).not.toMatch(/example\.test.*login|ada(?=[@%])/i);
  });

  test('that is answered by a form has what to set in the form', async () => {
    const { bytes } = await authorize({ ...none, response_mode: 'form_post' });
    expect(bytes.toString()).toMatch(
      /name="error_description" value="[^"]*\(what to set: PKCE with S256 in the program\)"/,
    );
  });

  test('is kept with nine others, and once for each reason', async () => {
    const shown = await refusalsOf('spa');
    expect(shown.length).toBeLessThanOrEqual(10);
    const reasons = shown.map((one: any) => `${one.endpoint} ${one.message}`);
    expect(new Set(reasons).size).toBe(reasons.length);
    const times = shown.map((one: any) => one.timestamp);
    expect(times).toEqual(times.toSorted().toReversed());
  });

  test('is shown to those who may change the Client, in a GET, and changes no object', async () => {
    await signInAgain();
    const { body } = await operator.get('policies/p-1').is(200);
    const cedar = `${body.spec.cedar}
@id("clients-are-open") @message("Read.")
permit (principal, action in [Action::"get", Action::"list"], resource is Client);`;
    await operator.post('policies', { spec: { cedar } }).is(201);
    const reader = (await signIn(service, 'reader@example.test')).tab;
    clock.advance(60_000);
    const before = (await operator.get('clients/spa').is(200)).body;
    await authorize(none);
    await until(async () =>
      (await refusalsOf('spa'))[0]?.message.startsWith('code_challenge is missing'),
    );
    expect(await statusOf('spa', reader)).toEqual(
      expect.not.objectContaining({ lastRefusals: expect.anything() }),
    );
    expect(await statusOf('spa', reader)).not.toHaveProperty('authorizationRequests');
    const after = (await operator.get('clients/spa').is(200)).body;
    expect(after.metadata).toEqual(before.metadata);
    for (const { status } of (await operator.get('clients').is(200)).body.items) {
      expect(status).not.toHaveProperty('lastRefusals');
    }
    await signInAgain();
    const { body: read } = await operator.get('clients/spa').is(200);
    expect(read.status.lastRefusals.length).toBeGreaterThan(0);
    const stored = async () => JSON.stringify((await service.store.stored(Client, 'spa'))!.object);
    for (const send of [
      () => operator.put('clients/spa', read),
      () => operator.patch('clients/spa', { status: read.status }),
    ]) {
      expect((await send().is(200)).body.spec).toEqual(read.spec);
    }
    expect(await stored()).toContain('redirectURIs');
    expect(await stored()).not.toContain('lastRefusals');
    const changed = await operator.patch('clients/spa', { spec: { displayName: 'Spa' } }).is(200);
    expect(changed.body.status.lastRefusals).toEqual(after.status.lastRefusals);
  });

  test('is not shown at another Client of the same name', async () => {
    await createClient(service, 'again', { type: 'Public', tokenEndpointAuthMethod: 'none' });
    await authorize(none, 'again');
    await until(async () => (await refusalsOf('again')).length === 1);
    await signInAgain();
    await operator.delete('clients/again').is(200);
    await createClient(service, 'again', { type: 'Public', tokenEndpointAuthMethod: 'none' });
    expect(await statusOf('again')).not.toHaveProperty('lastRefusals');
  });

  test('is not logged if a person must act, or a device waits', async () => {
    const before = service.logs.length;
    await authorize({ prompt: 'none' });
    const lines = service.logs.slice(before).map((log) => JSON.parse(log));
    expect(lines.filter((line) => line.message === message)).toEqual([]);
  });

  describe('what the program sends', () => {
    const app = async (name: string, spec: object = {}) => {
      await createClient(service, name, { ...credentials.basic('hush').spec, ...spec });
      const signInWith = (parameters: Record<string, string>, scope = 'openid email') =>
        signIn(service, 'person@example.test', { client: name, scope, parameters });
      return { name, signInWith };
    };
    const requestsOf = async (client: string) => (await statusOf(client)).authorizationRequests;

    test('is shown from the first sign-in: a challenge, a nonce', async () => {
      const { name, signInWith } = await app('sender');
      await signInWith({ nonce: 'n' });
      const all = { codeChallenge: 'Always', nonce: 'Always', since: expect.any(String) };
      await until(async () => (await requestsOf(name)) !== undefined);
      expect(await requestsOf(name)).toEqual(all);
      clock.advance(60_000);
      await signInWith({});
      await until(async () => (await requestsOf(name)).nonce === 'Sometimes');
      expect(await requestsOf(name)).toEqual({ ...all, nonce: 'Sometimes' });
    });

    test('is shown of another Client of the same name, from its first sign-in', async () => {
      const { name, signInWith } = await app('replaced');
      await signInWith({});
      await until(async () => (await requestsOf(name)) !== undefined);
      await signInAgain();
      await operator.delete(`clients/${name}`).is(200);
      const again = await app(name);
      expect(await requestsOf(name)).toBeUndefined();
      await again.signInWith({});
      await until(async () => (await requestsOf(name)) !== undefined);
    });

    test('is missing: one line says where its last sign-in stopped, until one is whole', async () => {
      const scopes = [{ name: 'openid', required: true }, { name: 'email' }];
      const halfway = await app('halfway');
      const refused = await app('refused');
      const quiet = await app('quiet', { scopes, idTokenClaims: ['name'] });
      const whole = await app('whole', { scopes });
      const fetchTokens = async ({ name, signInWith }: typeof whole, secret = 'hush') => {
        const { callback, verifier } = await signInWith({});
        const codes = { code: callback.searchParams.get('code')!, code_verifier: verifier };
        return post('token', { ...code, ...codes }, `${name}:${secret}`);
      };
      const checked = () =>
        until(async () => {
          const rows = prefixRange('outbox/sign-in-check/');
          return (await service.storage.list(rows)).entries.length === 0;
        });
      const lines = async () =>
        Object.fromEntries(
          await Promise.all(
            [halfway, refused, quiet, whole].map(async ({ name }) => [
              name,
              (await refusalsOf(name)).map(
                (refusal: any) => `${refusal.endpoint}: ${refusal.message}`,
              ),
            ]),
          ),
        );
      await halfway.signInWith({});
      await fetchTokens(refused, 'loud');
      await fetchTokens(quiet);
      await fetchTokens(whole);
      await checked();
      expect(await lines()).toEqual({
        halfway: ['token: a code was issued, and no token request followed'],
        refused: ['token: invalid secret provided'],
        quiet: [
          'userinfo: tokens were fetched, and the program asked for no userinfo: it got nothing of email',
        ],
        whole: [],
      });
      clock.advance(60_000);
      await fetchTokens(halfway);
      const { body } = await fetchTokens(quiet);
      const headers = { authorization: `Bearer ${body.access_token}` };
      await service.tab().get('/oauth2/userinfo', { plain: true, headers }).is(200);
      await checked();
      expect(await lines()).toMatchObject({ halfway: [], quiet: [] });
    });
  });
});
