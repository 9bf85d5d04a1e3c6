import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { IntrospectionResponse } from 'oauth4webapi';
import * as oauth from 'oauth4webapi';
import { credentials, Party } from '../../provider/support/party.js';
import { clock } from '../../support/clock.js';
import { tokenOf } from '../../support/people/device.js';
import { assertion, signInByPasskey, withPasskey } from '../../support/people/passkeys.js';
import { authorizationPath, begin, mailTo, proceed, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const emailed = 'urn:vestibule:acr:email';
const minute = 60_000;

/** What a refused request asks for (RFC 9470 §3), as oauth4webapi reads it. */
async function challengeOf(work: Promise<unknown>): Promise<Record<string, string> | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (!(error instanceof oauth.WWWAuthenticateChallengeError)) throw error;
    return error.cause[0]!.parameters as Record<string, string>;
  }
}

/** A service of its own that takes tokens only of a recent sign-in by passkey. */
function protectedResource(introspect: (token: string) => Promise<IntrospectionResponse>) {
  return async (token: string): Promise<Response> => {
    const { active, acr, auth_time: time } = await introspect(token);
    const isEnough = active && acr === 'phr' && Date.now() / 1000 - Number(time) < 600;
    if (isEnough) return new Response('the secret');
    return new Response('', {
      status: 401,
      headers: {
        'www-authenticate':
          'Bearer error="insufficient_user_authentication", acr_values="phr", max_age="600"',
      },
    });
  };
}

describe.each(stores)('step-up, on %s', (store) => {
  let service: TestService;
  let original: string;
  let operator: Tab;
  beforeAll(async () => {
    service = await startTest({
      store,
      quickDecisions: true,
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test', '--device-authorization'],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
    original = (await operator.get('policies/p-1').is(200)).body.spec.cedar;
  });
  afterEach(async () => {
    clock.release();
    await service.tab().delete('mockmessages').is(200);
  });

  /** Puts the default policy with a rule more in force. */
  const withRule = (rule: string) =>
    operator.post('policies', { spec: { cedar: `${original}\n${rule}\n` } }).is(201);
  let number = 0;
  const address = (): string => `s${(number += 1)}-${store}@example.test`;

  test('a resource that wants a stronger sign-in gets one, and knows by introspection', async () => {
    const party = await Party.of(service, `party-${store}`, credentials.basic('a secret'));
    const resource = protectedResource((token) => party.introspect(token));
    const use = (token: string) =>
      oauth.protectedResourceRequest(
        token,
        'GET',
        new URL('https://resource.example.test/'),
        undefined,
        undefined,
        { [oauth.customFetch]: () => resource(token) },
      );
    const email = address();
    const { tab, authenticator } = await withPasskey(service, email);
    const weak = await party.signIn(tab, email, 'openid email offline_access', {
      prompt: 'consent',
    });
    expect(await party.introspect(weak.access_token)).toMatchObject({
      acr: emailed,
      auth_time: expect.any(Number),
    });
    const { acr_values: acr, max_age: age, error } = (await challengeOf(use(weak.access_token)))!;
    expect(error).toBe('insufficient_user_authentication');
    const request = await party.request('openid email', { acr_values: acr!, max_age: age! });
    const { headers } = await tab.navigate(request.url.pathname + request.url.search).is(303);
    const I = headers.location!;
    expect((await tab.get(I).is(200)).body.status).toMatchObject({
      methods: ['Passkey'],
      stepUp: { reason: 'AcrRequested', acr: 'phr' },
    });
    const { body } = await tab
      .post(`${I}/login`, await assertion(service, { tab, I } as never, authenticator))
      .is(200);
    const strong = await party.redeem(await proceed(tab, body.status.returnTo), request);
    expect(await (await use(strong.access_token)).text()).toBe('the secret');
    expect(await challengeOf(use((await party.refresh(weak.refresh_token!)).access_token))) //
      .toMatchObject({ acr_values: 'phr' });
  });

  test('a token of the command that is too old is asked for a new sign-in', async () => {
    const token = await tokenOf(service, operator);
    const create = (name: string) =>
      oauth.protectedResourceRequest(
        token,
        'POST',
        new URL(`${service.baseURL}/api/v1beta1/groups`),
        new Headers({ 'content-type': 'application/json' }),
        JSON.stringify({ metadata: { name }, spec: { displayName: name } }),
        { [oauth.allowInsecureRequests]: true },
      );
    expect((await create(`first-${store}`)).status).toBe(201);
    clock.own();
    clock.advance(11 * minute);
    expect(await challengeOf(create(`second-${store}`))).toMatchObject({
      error: 'insufficient_user_authentication',
      max_age: '0',
    });
    const refused = await operator
      .post('groups', { metadata: { name: 'third' }, spec: { displayName: 'Third' } })
      .fails(403, 'Forbidden');
    expect(refused.message).toContain('sign in again');
  });

  test('a challenge names the passkey where a rule wants one', async () => {
    const { tab } = await withPasskey(service, address());
    const token = await tokenOf(service, tab);
    const read = (path: string) =>
      service.tab().get(path, {
        plain: true,
        cookies: false,
        headers: { authorization: `Bearer ${token}` },
      });
    await withRule(
      '@id("strong") @message("By passkey.") ' +
        'forbid (principal is Account, action == Action::"list", resource is Session) ' +
        'unless { context.assurance == "phr" };\n' +
        '@id("never") @message("Never.") forbid (principal is Account, action == Action::"list", resource is Passkey);',
    );
    const strong = await read('sessions');
    expect([strong.code, strong.body.reason]).toEqual([401, 'Unauthorized']);
    expect(strong.headers['www-authenticate']).toContain('acr_values="phr"');
    const never = await read('passkeys');
    expect([never.code, never.headers['www-authenticate']]).toEqual([403, undefined]);
    await withRule('');
  });

  test('a sign-in in progress is not asked for another one', async () => {
    const { tab } = await signIn(service, address());
    const strong = 'unless { context.assurance == "phr" };';
    await withRule(
      `forbid (principal is Browser, action == Action::"interactions/consent", resource) ${strong}\n` +
        `forbid (principal is Account, action == Action::"list", resource is Session) ${strong}`,
    );
    const { I } = await begin(service, { tab, parameters: { prompt: 'consent' } });
    const { details } = await tab
      .post(`${I}/consent`, { spec: { scopes: ['openid'] } })
      .fails(403, 'Forbidden');
    expect(details).not.toHaveProperty('methods');
    const ofAccount = await tab.get('sessions').fails(403, 'Forbidden');
    expect(ofAccount.details!.methods).toEqual(['Passkey']);
    await withRule('');
  });

  test('a rule that wants a recent sign-in is met by any method, and asks once', async () => {
    const email = address();
    const { tab } = await signIn(service, email);
    await withRule(
      '@id("recent") @message("Sign in again.") ' +
        'forbid (principal, action == Action::"signIn", resource == Client::"app") ' +
        'unless { context has signInAge && context.signInAge < 300 };',
    );
    clock.own();
    clock.advance(6 * minute);
    const { I } = await begin(service, { tab });
    const { status } = (await tab.get(I).is(200)).body;
    expect(status).toMatchObject({ phase: 'LoginRequired', stepUp: { reason: 'Policy' } });
    expect(status.stepUp).not.toHaveProperty('acr');
    expect(status.methods).toContain('EmailCode');
    await tab.post(`${I}/emailchallenge`, { spec: { email } }).is(200);
    const { code } = await mailTo(service, email);
    const { body } = await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code } }).is(200);
    const back = await proceed(tab, body.status.returnTo);
    expect(back.searchParams.get('code')).toBeTruthy();
    clock.release();
    operator = (await signIn(service, 'op@example.test')).tab;
    await withRule('');
  });

  test('a rule that wants an unused method is not asked for over and over', async () => {
    const email = address();
    await withRule(
      '@id("codes") @message("By code only.") forbid (principal, action == Action::"signIn", resource == Client::"app") ' +
        'unless { context.methods.contains("EmailCode") };',
    );
    const { tab, authenticator } = await withPasskey(service, email);
    const { I } = await begin(service, { tab, parameters: { prompt: 'login' } });
    const { body } = await tab
      .post(`${I}/login`, await assertion(service, { tab, I } as never, authenticator))
      .is(403);
    expect(body.message).toContain('By code only.');
    await withRule('');
  });

  test('an interaction says why the session is not enough', async () => {
    const { tab, authenticator } = await withPasskey(service, address());
    const stepUp = async (parameters: Record<string, string>): Promise<unknown> => {
      const { I } = await begin(service, { tab, parameters });
      return (await tab.get(I).is(200)).body.status.stepUp;
    };
    expect(await stepUp({ prompt: 'login' })).toEqual({ reason: 'NewSignInRequested' });
    expect(await stepUp({ acr_values: 'phr' })).toEqual({ reason: 'AcrRequested', acr: 'phr' });
    await signInByPasskey(service, authenticator, { tab, parameters: { acr_values: 'phr' } });
    expect(
      (
        await tab
          .navigate(authorizationPath('app', 'openid email', 'v'.repeat(43), { acr_values: 'phr' }))
          .is(303)
      ).headers.location,
    ).toContain('code=');
  });
});
