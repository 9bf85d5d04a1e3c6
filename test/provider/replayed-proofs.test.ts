import { type KeyObject, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as jose from 'jose';
import { newAssertionKey } from '../support/people/assertion-key.js';
import type { Answer } from '../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { stores } from '../support/stores.js';
import { Party } from './support/party.js';

afterAll(stopAll);

const { privateKey, jwk, authentication } = newAssertionKey();
const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const redirect_uri = 'https://app.example.test/callback';

/** What a Client sends to each endpoint at which it authenticates. */
const requests: readonly (readonly [endpoint: string, parameters: Record<string, string>])[] = [
  ['token', { grant_type: 'authorization_code', code: 'none', redirect_uri }],
  ['token', { grant_type: 'refresh_token', refresh_token: 'none' }],
  ['introspect', { token: 'none' }],
  ['revoke', { token: 'none' }],
  ['par', { client_id: 'program', response_type: 'code', redirect_uri, scope: 'openid' }],
  ['device/auth', { scope: 'openid' }],
];

const sign = (claims: jose.JWTPayload, header: object, key: KeyObject = privateKey) =>
  new jose.SignJWT({ jti: randomUUID(), ...claims })
    .setProtectedHeader({ alg: 'ES256', ...header })
    .sign(key);

describe.each(stores)('a proof that is sent again, on %s', (store) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'program', {
      ...authentication,
      pkce: 'Optional',
      grantTypes: [
        'authorization_code',
        'refresh_token',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
    });
  });

  const assertion = () =>
    sign(
      {
        iss: 'program',
        sub: 'program',
        aud: service.baseURL,
        exp: Math.floor(Date.now() / 1000) + 60,
      },
      { kid: 'one' },
    );
  const post = async (
    endpoint: string,
    parameters: Record<string, string>,
    client_assertion: string,
    headers: Record<string, string> = {},
  ): Promise<Answer> =>
    service.tab().send('POST', `/oauth2/${endpoint}`, {
      plain: true,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams({
        ...parameters,
        client_assertion,
        client_assertion_type,
      }).toString(),
    });
  const inTurn = async (times: number, send: () => Promise<Answer>): Promise<Answer[]> => {
    const answers: Answer[] = [];
    for (let i = 0; i < times; i += 1) answers.push(await send());
    return answers;
  };
  const atOnce = (times: number, send: () => Promise<Answer>): Promise<Answer[]> =>
    Promise.all(Array.from({ length: times }, send));
  const codes = async (count: number): Promise<string[]> => {
    const party = await Party.discover(service, 'program', () => {});
    const tab = service.tab();
    const code = async (): Promise<string> => {
      const request = await party.request('openid', { code_challenge: '', nonce: '' });
      for (const name of ['code_challenge', 'code_challenge_method']) {
        request.url.searchParams.delete(name);
      }
      const back = await party.send(tab, request, 'ada@example.test');
      return back.searchParams.get('code')!;
    };
    const found: string[] = [];
    for (let i = 0; i < count; i += 1) found.push(await code());
    return found;
  };

  describe.each([
    ['in turn', inTurn],
    ['at once', atOnce],
  ])('%s', (_, repeat) => {
    test.each(requests)('a client assertion at %s is used once', async (endpoint, parameters) => {
      const sent = await assertion();
      const answers = await repeat(8, () => post(endpoint, parameters, sent));
      const refused = answers.filter(({ body }) => body?.error === 'invalid_client');
      expect(refused).toHaveLength(7);
      for (const { code, body } of refused) {
        expect(code).toBe(401);
        expect(body.error_description).toContain('its jti was used before');
      }
    });

    test('a client assertion at all endpoints is used once', async () => {
      const sent = await assertion();
      const left = [...requests];
      const answers = await repeat(requests.length, () => post(...left.shift()!, sent));
      const refused = answers.filter(({ code }) => code === 401);
      expect(refused).toHaveLength(requests.length - 1);
      for (const { body } of refused) expect(body.error).toBe('invalid_client');
    });

    test('the code that came with a refused assertion stays usable', async () => {
      const sent = await assertion();
      const left = await codes(2);
      const redeem = (code: string, by: string) =>
        post('token', { grant_type: 'authorization_code', code, redirect_uri }, by);
      const sentCodes = [...left];
      const answers = await repeat(2, () => redeem(sentCodes.shift()!, sent));
      expect(answers.map(({ code }) => code).sort()).toEqual([200, 401]);
      const refused = left[answers.findIndex(({ code }) => code === 401)]!;
      expect((await redeem(refused, await assertion())).code).toBe(200);
    });

    test('the code that came with a used DPoP proof stays usable', async () => {
      const claims = { htm: 'POST', htu: `${service.baseURL}/oauth2/token` };
      const proof = () =>
        sign({ ...claims, iat: Math.floor(Date.now() / 1000) }, { typ: 'dpop+jwt', jwk });
      const left = await codes(2);
      const redeem = async (code: string, DPoP: string) =>
        post('token', { grant_type: 'authorization_code', code, redirect_uri }, await assertion(), {
          DPoP,
        });
      const used = await proof();
      const sent = [...left];
      const answers = await repeat(2, () => redeem(sent.shift()!, used));
      expect(answers.map(({ code }) => code).sort()).toEqual([200, 400]);
      const refused = left[answers.findIndex(({ code }) => code === 400)]!;
      expect((await redeem(refused, await proof())).code).toBe(200);
    });

    test.each(['token', 'par'])('a DPoP proof at %s is used once', async (endpoint) => {
      const htu = `${service.baseURL}/oauth2/${endpoint}`;
      const claims = { htm: 'POST', htu, iat: Math.floor(Date.now() / 1000) };
      const header = { typ: 'dpop+jwt', jwk };
      const [, parameters] = requests.find(([one]) => one === endpoint)!;
      const unused = await codes(4);
      const proof = await sign(claims, header);
      const answers = await repeat(4, async () =>
        post(endpoint, { ...parameters, code: unused.pop()! }, await assertion(), { DPoP: proof }),
      );
      const refused = answers.filter(({ body }) => body.error === 'invalid_dpop_proof');
      expect(refused).toHaveLength(3);
      for (const one of refused) {
        expect(one.code).toBe(400);
        expect(one.body.error_description).toContain('a jti of its own');
      }
    });
  });
});
