import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { credentials } from '../provider/party.js';
import { authorizationPath, signIn } from '../support/signin.js';
import { stores } from '../support/stores.js';

afterAll(stopAll);

const message = 'a request of a Client was refused';
const redirect_uri = 'https://app.example.test/callback';

describe.each(stores)('a refused request of a Client, on %s', (store) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'spa', { type: 'Public', tokenEndpointAuthMethod: 'none' });
    await createClient(service, 'shop', credentials.basic('hush').spec);
  });

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
    for (const [name, value] of Object.entries(more))
      if (value === '') path.searchParams.delete(name);
    return service.tab().navigate(`${path.pathname}${path.search}`);
  };
  /** Redeems a code of a new sign-in, as the fields say. */
  const redeem = async (more: Record<string, string>, times = 1) => {
    const address = `p-${randomBytes(6).toString('hex')}@example.test`;
    const { callback, verifier } = await signIn(service, address, { client: 'spa' });
    const code = callback.searchParams.get('code')!;
    const fields = { grant_type: 'authorization_code', client_id: 'spa', code, redirect_uri };
    for (let i = 0; i < times; i += 1)
      await post('token', { ...fields, code_verifier: verifier, ...more });
  };
  const code = { grant_type: 'authorization_code', code: 'x', redirect_uri };
  const none = { code_challenge: '', code_challenge_method: '' };

  test.each<[string, () => Promise<unknown>, string, string, string, string | undefined]>([
    [
      'without PKCE',
      async () => authorize(none),
      'spa',
      'authorization',
      'code_challenge is missing',
      'spec.pkce',
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
      '',
      undefined,
    ],
    [
      'with a code that is not known',
      async () => post('token', { ...code, client_id: 'spa' }),
      'spa',
      'token',
      'authorization code not found',
      undefined,
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
  ])(
    '%s is logged with the reason and what to set',
    async (_, act, client, endpoint, reason, remedy) => {
      const before = service.logs.length;
      await act();
      const lines = service.logs
        .slice(before)
        .map((one) => JSON.parse(one))
        .filter((line) => line.message === message);
      expect(lines).toEqual([
        expect.objectContaining({
          level: 'warn',
          client,
          endpoint,
          auditID: expect.any(String),
          ...(reason && { reason: expect.stringContaining(reason) }),
          ...(remedy && { remedy: expect.stringContaining(remedy) }),
        }),
      ]);
      expect(service.logs.slice(before).join('')).not.toMatch(/hush|loud/);
    },
  );

  test('is not logged if a person must act, or a device waits', async () => {
    const before = service.logs.length;
    await authorize({ prompt: 'none' });
    const lines = service.logs.slice(before).map((one) => JSON.parse(one));
    expect(lines.filter((line) => line.message === message)).toEqual([]);
  });
});
