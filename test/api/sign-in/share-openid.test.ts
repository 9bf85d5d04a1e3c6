import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Policy } from '../../../kinds/policy/policy.js';
import { expectFor } from '../../support/expect-for.js';
import { confirm } from '../../support/people/device.js';
import {
  authorizationPath,
  begin,
  mailTo,
  proceed,
  redeem,
  signIn,
} from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const verifier = 'v'.repeat(43);
const words = 'No one is known to "Nötes".';
const rule = `@id("unknown-to-notes") @message("No one is known to \\"Nötes\\".")
forbid (principal, action == Action::"share", resource == Scope::"openid") when { context has client && context.client == Client::"app" };`;

describe.each(stores)('a policy that forbids sharing openid, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let first: string;
  beforeAll(async () => {
    service = await startTest({
      quickDecisions: true,
      store,
      flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
    });
    await createClient(service, 'app', {
      grantTypes: [
        'authorization_code',
        'refresh_token',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
    } as never);
    await createClient(service, 'other');
    operator = (await signIn(service, 'op@example.test', { client: 'other', scope: 'openid' })).tab;
    first = (await service.store.reader(Policy).list())[0]!.spec.cedar;
  });
  const inForce = (more: string) =>
    operator.post('policies', { spec: { cedar: `${first}\n${more}\n` } }).is(201);
  const form = (path: string, fields: Record<string, string>) =>
    service.tab().send('POST', path, {
      plain: true,
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });

  test('refuses sign-in, code, renewal and userinfo, with the words of the rule', async () => {
    const done = await signIn(service, 'ada@example.test', {
      scope: 'openid email offline_access',
      parameters: { prompt: 'consent' },
    });
    const { body: tokens } = await redeem(service, done);
    const refresh = {
      grant_type: 'refresh_token',
      client_id: 'app',
      refresh_token: tokens.refresh_token as string,
    };
    const userinfo = () =>
      service.tab().get('/oauth2/userinfo', {
        plain: true,
        headers: { authorization: `Bearer ${tokens.access_token}` },
      });
    await userinfo().is(200);
    const unredeemed = await signIn(service, 'ada@example.test', {
      tab: done.tab,
      scope: 'openid email',
      parameters: { prompt: 'login' },
    });

    await inForce(rule);
    const refused = await userinfo().is(403);
    expect(refused.body).toMatchObject({
      error: 'insufficient_scope',
      scope: 'openid',
      error_description: "No one is known to 'N?tes'.",
    });
    expect((await form('/oauth2/token', refresh)).body).toMatchObject({ error: 'invalid_grant' });
    expect((await redeem(service, unredeemed)).body).toMatchObject({ error: 'invalid_grant' });
    const silent = await done.tab
      .navigate(authorizationPath('app', 'openid email', verifier, { prompt: 'none' }))
      .is(303);
    expect(new URL(silent.headers.location!).searchParams.get('error')).toBe('access_denied');
    const shown = await begin(service, { tab: done.tab });
    expect((await done.tab.get(shown.I).is(200)).body.status).toMatchObject({
      phase: 'ConsentRequired',
      refusal: { message: words },
    });
    expect(
      (
        await done.tab
          .post(`${shown.I}/consent`, { spec: { scopes: ['openid', 'email'] } })
          .fails(403, 'Forbidden')
      ).message,
    ).toContain(words);
    expect(
      (await signIn(service, 'ada@example.test', { client: 'other' })).callback.searchParams.get(
        'code',
      ),
    ).toBeTruthy();

    await inForce('');
    await userinfo().is(200);
    expect((await form('/oauth2/token', refresh)).body).toMatchObject({
      id_token: expect.any(String),
    });
  });

  test('is not passed by a request without openid, in whichever way it comes', async () => {
    const { tab } = await signIn(service, 'ritchie@example.test', { client: 'other' });
    const scopes = ['email', 'offline_access email', 'openidx', ''];
    for (const scope of scopes) {
      const { headers } = await tab.navigate(authorizationPath('app', scope, verifier)).is(303);
      expectFor(scope, new URL(headers.location!).searchParams.get('error')).toEqual(
        'invalid_scope',
      );
      const path = new URL(authorizationPath('app', scope, verifier), service.baseURL);
      const fields = Object.fromEntries(path.searchParams);
      for (const [to, sent] of [
        ['/oauth2/par', fields],
        ['/oauth2/device/auth', { client_id: 'app', scope }],
      ] as const) {
        expect([to, scope, (await form(to, sent)).body]).toMatchObject([
          to,
          scope,
          { error: 'invalid_scope' },
        ]);
      }
    }
    expect((await form('/oauth2/device/auth', { client_id: 'app' })).body).toMatchObject({
      error: 'invalid_scope',
    });
  });

  test('is no reason to refuse where the rule permits a passkey', async () => {
    const { tab } = await signIn(service, 'grace@example.test');
    await inForce(
      rule.replace('app" };', 'app" && context has assurance && context.assurance != "phr" };'),
    );
    const { I } = await begin(service, { tab });
    expect((await tab.get(I).is(200)).body.status).toMatchObject({
      phase: 'LoginRequired',
      methods: ['Passkey'],
    });
    await inForce('');
  });

  test('refuses a device that was confirmed before', async () => {
    const { tab } = await signIn(service, 'hopper@example.test', { client: 'other' });
    const { body: device } = await form('/oauth2/device/auth', {
      client_id: 'app',
      scope: 'openid email',
    }).is(200);
    await confirm(tab, device.verification_uri_complete as string);
    await inForce(rule);
    const poll = () =>
      form('/oauth2/token', {
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        client_id: 'app',
        device_code: device.device_code as string,
      });
    expect((await poll()).body).toMatchObject({ error: 'invalid_grant' });
    const { body: next } = await form('/oauth2/device/auth', {
      client_id: 'app',
      scope: 'openid email',
    }).is(200);
    await expect(confirm(tab, next.verification_uri_complete as string)).rejects.toThrow('Nötes');
    await inForce('');
    expect((await poll()).body).toMatchObject({ id_token: expect.any(String) });
  });

  test('of everybody leaves the account page open, which shares nothing with anyone', async () => {
    await inForce(
      '@id("no-openid") @message("No.") forbid (principal, action == Action::"share", resource == Scope::"openid");',
    );
    const page = {
      client: 'vestibule-account',
      scope: 'openid',
      parameters: { response_type: 'none', redirect_uri: `${service.baseURL}/account` },
    };
    const tab = service.tab();
    const begun = await tab
      .navigate(
        `/oauth2/auth?${new URLSearchParams({ client_id: page.client, scope: 'openid', ...page.parameters })}`,
      )
      .is(303);
    await tab
      .post(`${begun.headers.location}/emailchallenge`, {
        spec: { email: 'lovelace@example.test' },
      })
      .is(200);
    const { code } = await mailTo(
      service,
      'lovelace@example.test',
      [],
      (status) => status.code !== undefined,
    );
    const { body } = await tab
      .post(`${begun.headers.location}/login`, { spec: { method: 'EmailCode', code } })
      .is(200);
    expect((await proceed(tab, body.status.returnTo)).pathname).toBe('/account');
    await inForce('');
  });
});
