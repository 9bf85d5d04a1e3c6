import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as jose from 'jose';
import { credentials } from '../../provider/support/party.js';
import { newAssertionKey } from '../../support/people/assertion-key.js';
import { signIn } from '../../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const { privateKey, authentication } = newAssertionKey();
const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

interface Wrong {
  readonly claims?: Record<string, unknown>;
  readonly header?: Partial<jose.JWTHeaderParameters>;
  readonly key?: KeyObject;
  readonly times?: number;
  /** Sent instead of a signed assertion. */
  readonly text?: string;
}

describe.each(stores)('a client assertion that is refused, on %s', (store) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
    });
    await createClient(service, 'app');
    await createClient(service, 'program', authentication);
  });

  const post = async (endpoint: string, client_assertion: string, client_id = 'program') =>
    service.tab().send('POST', `/oauth2/${endpoint}`, {
      plain: true,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        client_assertion,
        client_assertion_type,
        client_id,
        grant_type: 'authorization_code',
        code: 'none',
        token: 'none',
        redirect_uri: 'https://app.example.test/callback',
      }).toString(),
    });
  const assertion = async ({ claims, header, key: signer = privateKey }: Wrong) =>
    new jose.SignJWT({
      iss: 'program',
      sub: 'program',
      aud: service.baseURL,
      jti: crypto.randomUUID(),
      exp: Math.floor(Date.now() / 1000) + 60,
      ...claims,
    })
      .setProtectedHeader({ alg: 'ES256', kid: 'one', ...header })
      .sign(signer);
  test.each<[string, Wrong, answer: string, logged: string, remedy: string]>([
    ['for another audience', { claims: { aud: 'https://evil.test' } }, 'aud must', 'aud', 'aud of'],
    ['without audience', { claims: { aud: undefined } }, 'aud must', 'aud', 'aud of'],
    ['that has expired', { claims: { exp: 1_000 } }, 'has expired', 'expired', 'clock'],
    ['without expiry', { claims: { exp: undefined } }, 'exp must', 'expiration', 'clock'],
    ['not valid yet', { claims: { nbf: 4e9 } }, 'not valid yet', 'not active', 'clock'],
    ['without jti', { claims: { jti: undefined } }, 'jti must', 'jti', 'jti of its own'],
    ['of another issuer', { claims: { iss: 'other' } }, 'iss must', 'iss', 'client_id'],
    ['of no issuer', { claims: { iss: undefined } }, 'iss must', 'iss', 'client_id'],
    [
      'by another algorithm',
      { header: { alg: 'HS256' }, key: undefined, text: 'HS256' },
      'its alg',
      'alg mismatch',
      'SigningAlg',
    ],
    ['by RSA', { header: { alg: 'RS256' }, key: rsa }, 'kid and alg', 'no applicable key', 'jwks'],
    ['with another kid', { header: { kid: 'two' } }, 'kid and alg', 'no applicable key', 'jwks'],
    ['by another key', { key: other }, 'its signature', 'signature', 'private key'],
    ['for the second time', { times: 2 }, 'used before', 'only be used once', 'jti of its own'],
  ])('%s is named in the answer and in the log', async (_, wrong, answer, logged, remedy) => {
    const sent =
      wrong.text === 'HS256'
        ? await new jose.SignJWT({ iss: 'program', sub: 'program' })
            .setProtectedHeader({ alg: 'HS256' })
            .sign(Buffer.alloc(32))
        : await assertion(wrong);
    for (const endpoint of ['token', 'revoke', 'par']) {
      for (let i = 1; i < (wrong.times ?? 1); i += 1) await post(endpoint, sent);
      const before = service.logs.length;
      const { code, body } = await post(endpoint, sent);
      expect([code, body.error]).toEqual([401, 'invalid_client']);
      expect(body.error_description).toContain(`client_assertion was refused: `);
      expect(body.error_description).toContain(answer);
      const line = service.logs
        .slice(before)
        .map((log) => JSON.parse(log))
        .find((one) => one.message === 'a request of a Client was refused');
      expect(line).toMatchObject({
        client: 'program',
        reason: expect.stringContaining(logged),
        remedy: expect.stringContaining(remedy),
      });
      expect(service.logs.slice(before).join('')).not.toContain(sent);
    }
  });

  test('for another audience is shown at the Client, too, with what to set', async () => {
    await post('token', await assertion({ claims: { aud: 'https://evil.test' } }));
    const { tab } = await signIn(service, 'op@example.test');
    const { body } = await tab.get('clients/program').is(200);
    expect(body.status.lastRefusals).toContainEqual(
      expect.objectContaining({
        endpoint: 'token',
        error: 'invalid_client',
        message: expect.stringMatching(/\baud\b/),
        remedy: expect.stringContaining('aud of the assertion'),
      }),
    );
  });

  test.each([
    ['bank', 9, 'invalid_grant'],
    ['bank', 70, 'invalid_client'],
    ['program', 70, 'invalid_grant'],
  ])('of %s, from %s seconds ahead, is %s', async (name, seconds, error) => {
    if (name === 'bank' && seconds === 9) {
      await createClient(service, 'bank', {
        type: 'Confidential',
        profile: 'FAPI2',
        jwks: authentication.jwks,
        secretHashes: [],
      });
    }
    const iat = Math.floor(Date.now() / 1000) + seconds;
    const sent = await assertion({ claims: { iss: name, sub: name, iat, exp: iat + 60 } });
    const { body } = await post('token', sent, name);
    expect(body.error).toBe(error);
    if (error === 'invalid_client') expect(body.error_description).toContain('(iat)');
  });

  test('a wrong secret and an unknown Client stay alike in the answer', async () => {
    await createClient(service, 'shop', credentials.basic('hush').spec);
    const answers = await Promise.all(
      ['shop', 'unknown'].map((name) =>
        service.tab().send('POST', '/oauth2/token', {
          plain: true,
          headers: {
            'content-type': 'application/x-www-form-urlencoded',
            authorization: `Basic ${btoa(`${name}:wrong`)}`,
          },
          body: 'grant_type=authorization_code&code=x',
        }),
      ),
    );
    expect(new Set(answers.map(({ body }) => body.error_description)).size).toBe(1);
    const none = await service.tab().send('POST', '/oauth2/token', {
      plain: true,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_assertion: 'x',
      }).toString(),
    });
    expect(none.body).not.toHaveProperty('parameters');
  });
});
