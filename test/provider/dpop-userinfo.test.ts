import {
  createHash,
  generateKeyPairSync,
  type KeyPairKeyObjectResult,
  randomUUID,
} from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as jose from 'jose';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { stores } from '../support/stores.js';
import { credentials, Party } from './support/party.js';

afterAll(stopAll);

const keyPair = (): KeyPairKeyObjectResult => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const [own, other] = [keyPair(), keyPair()];
const path = '/oauth2/userinfo';

describe.each(stores)('a token that is bound to a key, at userinfo, on %s', (store) => {
  let service: TestService;
  let token: string;
  let ath: string;
  const proof = (claims: object, pair = own, header: object = {}): Promise<string> =>
    new jose.SignJWT({
      jti: randomUUID(),
      htm: 'GET',
      htu: service.baseURL + path,
      iat: Math.floor(Date.now() / 1000),
      ath,
      ...claims,
    })
      .setProtectedHeader({
        alg: 'ES256',
        typ: 'dpop+jwt',
        jwk: pair.publicKey.export({ format: 'jwk' }) as jose.JWK,
        ...header,
      })
      .sign(pair.privateKey);
  const ask = (DPoP: string | string[] | undefined, scheme = 'DPoP') =>
    service.tab().send('GET', path, {
      plain: true,
      headers: { authorization: `${scheme} ${token}`, ...(DPoP !== undefined && { DPoP }) },
    });
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'program', {
      ...credentials.post('hush').spec,
      dpopBoundAccessTokens: true,
    });
    const party = await Party.discover(service, 'program', () => {});
    const request = await party.request('openid email');
    const back = await party.send(service.tab(), request, 'ada@example.test');
    const claims = { htm: 'POST', htu: `${service.baseURL}/oauth2/token` };
    const { body } = await service
      .tab()
      .send('POST', '/oauth2/token', {
        plain: true,
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          DPoP: await proof(claims),
        },
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          code: back.searchParams.get('code')!,
          redirect_uri: 'https://app.example.test/callback',
          code_verifier: request.verifier,
          client_id: 'program',
          client_secret: 'hush',
        }).toString(),
      })
      .is(200);
    token = body.access_token;
    ath = createHash('sha256').update(token).digest('base64url');
  });

  const refused: readonly (readonly [
    what: string,
    send: () => Promise<readonly [proof: string | string[] | undefined, scheme?: string]>,
    error: string,
    remedy: string,
  ])[] = [
    ['another ath', async () => [await proof({ ath: 'x' })], 'invalid_dpop_proof', 'ath of'],
    ['no ath', async () => [await proof({ ath: undefined })], 'invalid_dpop_proof', 'ath of'],
    ['another method', async () => [await proof({ htm: 'POST' })], 'invalid_dpop_proof', 'htm and'],
    ['another address', async () => [await proof({ htu: 'x' })], 'invalid_dpop_proof', 'htm and'],
    ['an old iat', async () => [await proof({ iat: 1_000 })], 'use_dpop_nonce', 'DPoP-Nonce'],
    ['a future iat', async () => [await proof({ iat: 4e9 })], 'use_dpop_nonce', 'DPoP-Nonce'],
    ['another nonce', async () => [await proof({ nonce: 'x' })], 'use_dpop_nonce', 'DPoP-Nonce'],
    ['another key', async () => [await proof({}, other)], 'invalid_token', 'by the key'],
    ['Bearer alone', async () => [undefined, 'Bearer'], 'invalid_token', 'by the key'],
    ['Bearer', async () => [await proof({}), 'Bearer'], 'invalid_request', 'Authorization: DPoP'],
    ['no proof', async () => [undefined], 'invalid_request', 'DPoP in the program'],
    ['an exp in the past', async () => [await proof({ exp: 1 })], 'invalid_dpop_proof', 'iat of'],
    ['an iat in words', async () => [await proof({ iat: '1' })], 'invalid_dpop_proof', 'iat of'],
    ['no JWT', async () => ['x.y.z'], 'invalid_dpop_proof', 'one proof'],
    ['two', async () => [[await proof({}), await proof({})]], 'invalid_dpop_proof', 'one proof'],
    [
      'another typ',
      async () => [await proof({}, own, { typ: 'JWT' })],
      'invalid_dpop_proof',
      'one proof',
    ],
    [
      'a signature by another key',
      async () => [
        await proof({}, other, { jwk: own.publicKey.export({ format: 'jwk' }) as jose.JWK }),
      ],
      'invalid_dpop_proof',
      'one proof',
    ],
  ];
  test.each(refused)('is refused with %s, and the answer says what to set', async (...row) => {
    const [, send, error, remedy] = row;
    const { code, body, headers } = await ask(...(await send()));
    expect([code, body.error]).toEqual([error === 'invalid_request' ? 400 : 401, error]);
    expect(body.error_description).toContain(remedy);
    expect(headers['www-authenticate']).toContain(`error="${error}"`);
    if (error === 'use_dpop_nonce') {
      const nonce = headers['dpop-nonce'];
      await ask(await proof({ iat: 1_000, nonce })).then((again) => expect(again.code).toBe(200));
    }
  });

  test('takes each proof once, in turn and at once', async () => {
    for (const isAtOnce of [false, true]) {
      const sent = await proof({});
      const first = isAtOnce ? [] : [await ask(sent)];
      const all = [...first, ...(await Promise.all([1, 2, 3].map(() => ask(sent))))];
      const used = all.filter(({ code }) => code === 200);
      expect(used).toHaveLength(1);
      for (const { code, body } of all.filter((one) => !used.includes(one))) {
        expect([code, body.error]).toEqual([401, 'invalid_dpop_proof']);
        expect(body.error_description).toContain('a jti of its own');
      }
    }
  });
});
