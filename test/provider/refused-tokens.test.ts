import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as jose from 'jose';
import { clock } from '../support/clock.js';
import { confirm } from '../support/people/device.js';
import { redeem, signIn } from '../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { stores } from '../support/stores.js';

afterAll(async () => {
  await stopAll();
  clock.release();
});

const elsewhere = { resource: 'https://elsewhere.example.test/' };

describe.each(stores)('a refused token request spends nothing, over %s', (store) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app');
  });

  const token = (
    fields: Record<string, string>,
    headers: Record<string, string> = {},
    at = service,
  ) =>
    at.tab().send('POST', '/oauth2/token', {
      plain: true,
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
  const renewal = (value: string, more: Record<string, string> = {}) =>
    token({ grant_type: 'refresh_token', refresh_token: value, client_id: 'app', ...more });
  const exchange = (
    { callback, verifier }: Awaited<ReturnType<typeof signIn>>,
    more: Record<string, string> = {},
    headers: Record<string, string> = {},
  ) =>
    token(
      {
        grant_type: 'authorization_code',
        code: callback.searchParams.get('code')!,
        redirect_uri: 'https://app.example.test/callback',
        client_id: 'app',
        code_verifier: verifier,
        ...more,
      },
      headers,
    );

  test('a refresh with an unknown resource leaves the refresh token', async () => {
    const { body } = await redeem(
      service,
      await signIn(service, 'refresh@example.test', {
        scope: 'openid offline_access',
        parameters: { prompt: 'consent' },
      }),
    );
    for (let i = 0; i < 3; i += 1) {
      expect((await renewal(body.refresh_token, elsewhere).is(400)).body.error).toBe(
        'invalid_target',
      );
    }
    const next = (await renewal(body.refresh_token).is(200)).body;
    expect(next.refresh_token).not.toBe(body.refresh_token);
    expect((await renewal(next.refresh_token, elsewhere).is(400)).body.error).toBe(
      'invalid_target',
    );
    clock.own();
    clock.advance(31_000);
    expect((await renewal(body.refresh_token).is(400)).body.error).toBe('invalid_grant');
    expect((await renewal(next.refresh_token).is(400)).body.error).toBe('invalid_grant');
  });

  test('a code with a resource that is not served is still good, once', async () => {
    const signedIn = await signIn(service, 'code@example.test', {
      scope: 'openid offline_access',
      parameters: { prompt: 'consent' },
    });
    for (let i = 0; i < 2; i += 1) {
      expect((await exchange(signedIn, elsewhere).is(400)).body.error).toBe('invalid_target');
    }
    const { body } = await exchange(signedIn).is(200);
    expect(body.refresh_token).toBeTruthy();
    expect((await exchange(signedIn, elsewhere).is(400)).body.error).toBe('invalid_grant');
    expect((await renewal(body.refresh_token).is(400)).body.error).toBe('invalid_grant');
  });

  test('a code that is bound to a key is still good after it was brought without it', async () => {
    const { privateKey, publicKey } = await jose.generateKeyPair('ES256');
    const jwk = await jose.exportJWK(publicKey);
    const proof = (key = privateKey, shown = jwk) =>
      new jose.SignJWT({ htm: 'POST', htu: `${service.baseURL}/oauth2/token`, jti: randomUUID() })
        .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: shown })
        .setIssuedAt()
        .sign(key);
    const signedIn = await signIn(service, 'key@example.test', {
      scope: 'openid',
      parameters: { dpop_jkt: await jose.calculateJwkThumbprint(jwk) },
    });
    expect((await exchange(signedIn).is(400)).body.error).toBe('invalid_grant');
    const other = await jose.generateKeyPair('ES256');
    expect(
      (
        await exchange(
          signedIn,
          {},
          { dpop: await proof(other.privateKey, await jose.exportJWK(other.publicKey)) },
        ).is(400)
      ).body.error,
    ).toBe('invalid_grant');
    expect((await exchange(signedIn, {}, { dpop: await proof() }).is(200)).body.token_type).toBe(
      'DPoP',
    );
  });

  test('a device code with a resource that is not served is still good, once', async () => {
    const { tab } = await signIn(service, 'device@example.test');
    const form = {
      plain: true,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    };
    const started = (
      await service
        .tab()
        .send('POST', '/oauth2/device/auth', {
          ...form,
          body: new URLSearchParams({
            client_id: 'vestibule',
            scope: 'openid offline_access api',
          }).toString(),
        })
        .is(200)
    ).body;
    await confirm(tab, started.verification_uri_complete);
    const poll = (more: Record<string, string> = {}) =>
      token({
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        device_code: started.device_code,
        client_id: 'vestibule',
        ...more,
      });
    for (let i = 0; i < 2; i += 1) {
      expect((await poll(elsewhere).is(400)).body.error).toBe('invalid_target');
    }
    await poll().is(200);
    expect((await poll().is(400)).body.error).toBe('invalid_grant');
  });

  test('what was issued on the way to a refusal does not stay', async () => {
    const { body } = await redeem(
      service,
      await signIn(service, 'none@example.test', {
        scope: 'openid offline_access',
        parameters: { prompt: 'consent' },
      }),
    );
    const keys = async (): Promise<string[]> =>
      (await service.storage.list({ start: 'oidc/', end: 'oidc0' })).entries
        .map(({ key }) => key)
        .sort();
    expect(body.refresh_token).toBeTruthy();
    const before = await keys();
    expect(before.length).toBeGreaterThan(0);
    await renewal(body.refresh_token, elsewhere).is(400);
    expect(await keys()).toEqual(before);
  });
});
