import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { demandedAcr, offeredAcrs } from '../../../provider/context/acr.js';
import { expectFor } from '../../support/expect-for.js';
import { Authenticator } from '../../support/people/authenticator.js';
import { confirm } from '../../support/people/device.js';
import {
  passkeyLogin,
  register,
  signInByPasskey,
  withPasskey,
} from '../../support/people/passkeys.js';
import { authorizationPath, begin, redeem, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const emailed = 'urn:vestibule:acr:email';
const claims = (acr: unknown): string => JSON.stringify({ id_token: { acr } });

/** Every way to ask for a sign-in by passkey. */
const demands: readonly Record<string, string>[] = [
  { acr_values: 'phr' },
  { acr_values: 'silver phr' },
  { claims: claims({ essential: true, value: 'phr' }) },
  { claims: claims({ essential: true, values: ['phr', 'silver'] }) },
  { claims: claims({ values: ['phr'] }) },
  { acr_values: `phr ${emailed}`, claims: claims({ value: 'phr' }) },
  { acr_values: 'phr', claims: claims({ value: 'silver' }) },
  { claims: claims({ value: 'gold', values: ['phr'] }) },
];

describe.each(stores)('an acr that a Client asks for, on %s', (store) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app', {
      grantTypes: [
        'authorization_code',
        'refresh_token',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
    });
  });
  let number = 0;
  const address = (): string => `a${(number += 1)}-${store}@example.test`;
  const form = (path: string, fields: Record<string, string>) =>
    service.tab().send('POST', path, {
      plain: true,
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  const errorOf = async (tab: Tab, parameters: Record<string, string>): Promise<string | null> => {
    const { headers } = await tab
      .navigate(authorizationPath('app', 'openid email', 'v'.repeat(43), parameters))
      .is(303);
    return headers.location!.startsWith('/api/')
      ? headers.location!
      : new URL(headers.location!).searchParams.get('error');
  };
  const acrOf = async (done: Parameters<typeof redeem>[1]): Promise<unknown> =>
    JSON.parse(
      Buffer.from(
        (await redeem(service, done)).body.id_token.split('.')[1],
        'base64url',
      ).toString(),
    ).acr;

  test('is met by a passkey alone where it is phr, whichever way it is asked for', async () => {
    const { tab, authenticator } = await withPasskey(service, address());
    expect(await errorOf(tab, { prompt: 'none' })).toBeNull();
    for (const parameters of demands) {
      expect(await errorOf(tab, { ...parameters, prompt: 'none' })).toBe('login_required');
      const { I } = await begin(service, { tab, parameters });
      expect((await tab.get(I).is(200)).body.status).toMatchObject({
        phase: 'LoginRequired',
        methods: ['Passkey'],
      });
    }
    const done = await signInByPasskey(service, authenticator, { tab, parameters: demands[0]! });
    expect(await acrOf(done)).toBe('phr');
    for (const parameters of [...demands, { acr_values: emailed }]) {
      expect(await errorOf(tab, { ...parameters, prompt: 'none' })).toBeNull();
    }
  });

  test('is met by mail where that is enough, or where a claim is wanted without a value', async () => {
    const { tab } = await signIn(service, address());
    const weak: Record<string, string>[] = [
      // Values that are unknown here are a wish (OpenID Connect Core §3.1.2.1, §5.5.1.1).
      { acr_values: 'silver' },
      { claims: claims({ values: ['gold', 'silver'] }) },
      { claims: claims({ essential: false, value: 'gold' }) },
      { acr_values: emailed, claims: claims({ value: 'gold' }) },
      { acr_values: emailed },
      { acr_values: `phr ${emailed}` },
      { claims: claims(null) },
      { claims: claims({ essential: true }) },
      { claims: '{"userinfo":{"name":null}}' },
    ];
    for (const parameters of weak) {
      expect(await errorOf(tab, { ...parameters, prompt: 'none' })).toBeNull();
    }
    expect(
      await acrOf(await signIn(service, address(), { parameters: { acr_values: emailed } })),
    ).toBe(emailed);
  });

  test.each(['device/auth', 'par'])('that is unknown is no error at %s', async (endpoint) => {
    const wanted = authorizationPath('app', 'openid', 'v'.repeat(43), { acr_values: 'silver' });
    const before = service.logs.length;
    const { code } = await form(
      `/oauth2/${endpoint}`,
      Object.fromEntries(new URLSearchParams(wanted.split('?')[1])),
    );
    expectFor(endpoint, code).toEqual(endpoint === 'par' ? 201 : 200);
    expect(service.logs.slice(before).join('')).toContain('"acr_values":"silver"');
  });

  test('that is unknown is logged with what discovery lists', async () => {
    const before = service.logs.length;
    await errorOf(service.tab(), { acr_values: 'phr gold phr,gold PHR' });
    const lines = service.logs.slice(before).map((line) => JSON.parse(line));
    expect(lines.filter(({ message }) => /acr/.test(message))).toEqual([
      expect.objectContaining({
        message: expect.stringContaining('acr_values_supported'),
        parameters: { client_id: 'app', acr_values: 'gold phr,gold PHR' },
      }),
    ]);
  });

  test('that cannot be met is reported to the Client, signed in or not', async () => {
    const { tab } = await signIn(service, address());
    const unmet: Record<string, string>[] = [
      { claims: claims({ essential: true, values: ['gold', 'silver'] }) },
      { acr_values: 'phr', claims: claims({ essential: true, value: 'silver' }) },
      { claims: claims({ essential: true, values: [], value: 'gold' }) },
      { claims: claims({ essential: true, value: 'gold', values: ['silver'] }) },
    ];
    for (const parameters of unmet) {
      for (const one of [tab, service.tab()]) {
        for (const prompt of ['consent', 'none']) {
          expect(await errorOf(one, { ...parameters, prompt })).toBe(
            'unmet_authentication_requirements',
          );
        }
      }
    }
    const begun = await begin(service, { parameters: { acr_values: 'phr' } });
    expect((await begun.tab.get(begun.I).is(200)).body.status.methods).toEqual(['Passkey']);
    const { body } = await begun.tab.delete(begun.I).is(200);
    const { headers } = await begun.tab.navigate(body.status.returnTo).is(303);
    expect(new URL(headers.location!).searchParams.get('error')).toBe(
      'unmet_authentication_requirements',
    );
  });

  test('is not met by a passkey that was added after a sign-in by mail', async () => {
    const email = address();
    await signIn(service, email);
    const { tab } = await signIn(service, email);
    const { authenticator, answer } = await register(service, tab, new Authenticator());
    await answer.is(201);
    const { answer: login } = await passkeyLogin(service, authenticator, {
      parameters: { acr_values: 'phr' },
    });
    expect((await login.fails(403, 'Forbidden')).message).toMatch(
      /asks for a stronger sign-in\. This passkey was added after a sign-in by mail/,
    );
  });

  test('is not met by a weaker sign-in for another request in the same browser', async () => {
    const email = address();
    const { authenticator } = await withPasskey(service, email);
    const { tab, I } = await begin(service, { parameters: { acr_values: 'phr' } });
    await signIn(service, email, { tab });
    expect((await tab.get(I).is(200)).body.status).toMatchObject({
      phase: 'LoginRequired',
      methods: ['Passkey'],
    });
    const { body } = await tab.delete(I).is(200);
    const { headers } = await tab.navigate(body.status.returnTo).is(303);
    expect(new URL(headers.location!).searchParams.get('error')).toBe(
      'unmet_authentication_requirements',
    );
    const done = await signInByPasskey(service, authenticator, {
      tab,
      parameters: { acr_values: 'phr' },
    });
    expect(await acrOf(done)).toBe('phr');
  });

  test('of a device is required of the person who confirms it', async () => {
    const { tab, authenticator } = await withPasskey(service, address());
    const device = (parameters: Record<string, string>) =>
      form('/oauth2/device/auth', { client_id: 'app', scope: 'openid email', ...parameters }).is(
        200,
      );
    const { body: strong } = await device({ acr_values: 'phr' });
    await expect(confirm(tab, strong.verification_uri_complete as string)).rejects.toThrow();
    await signInByPasskey(service, authenticator, { tab, parameters: { acr_values: 'phr' } });
    const { body: again } = await device({ acr_values: 'phr' });
    await confirm(tab, again.verification_uri_complete as string).catch(() => undefined);
    const { body: tokens } = await form('/oauth2/token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      client_id: 'app',
      device_code: again.device_code as string,
    });
    expect(JSON.parse(Buffer.from(tokens.id_token.split('.')[1], 'base64url').toString()).acr).toBe(
      'phr',
    );
  });

  test('in claims that cannot be read is an invalid request', async () => {
    for (const wrong of [
      '{',
      '[]',
      'null',
      '"acr"',
      '{"id_token":[]}',
      claims('phr'),
      claims({ value: 1 }),
      claims({ values: 'phr' }),
      claims({ values: [1] }),
      claims({ essential: 'true', value: 'phr' }),
      claims({ essential: 1 }),
      '{"id_token":{},"id_token":{}}',
    ]) {
      expect(await errorOf(service.tab(), { claims: wrong })).toBe('invalid_request');
    }
  });
});

test('only what people can sign in by is offered, and demanded', () => {
  expect(offeredAcrs({ rpID: 'id.example.org' })).toEqual(['phr', emailed]);
  expect(offeredAcrs({ rpID: '192.0.2.1' })).toEqual([emailed]);
  expect(demandedAcr({ acr_values: 'phr' }, { rpID: '192.0.2.1' })).toBe('Unmet');
  expect(demandedAcr({ acr_values: `phr ${emailed}` }, { rpID: '192.0.2.1' })).toBe(emailed);
});
