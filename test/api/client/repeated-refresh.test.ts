import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { credentials } from '../../provider/support/party.js';
import { clock } from '../../support/clock.js';
import { redeem, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

beforeAll(() => clock.own());
afterAll(async () => {
  await stopAll();
  clock.release();
});

/** A person's tokens, and the two sides that may do something in between. */
interface Held {
  readonly token: string;
  readonly tab: Tab;
  readonly operator: Tab;
  readonly account: string;
}

describe.each(stores)('a refresh that is sent again, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let count = 0;
  beforeAll(async () => {
    const flags = ['--limit-factor', '1000', '--operators', 'op@example.test'];
    service = await startTest({ store, flags });
    await createClient(service, 'app');
    await createClient(service, 'other');
    const { spec } = credentials.basic('hush');
    await createClient(service, 'shop', {
      ...spec,
      scopes: [
        { name: 'openid', required: true },
        { name: 'offline_access', required: false },
      ],
    });
    operator = (await signIn(service, 'op@example.test')).tab;
  });

  const held = async (): Promise<Held> => {
    const begun = await signIn(service, `p${(count += 1)}@example.test`, {
      scope: 'openid email offline_access',
      parameters: { prompt: 'consent' },
    });
    const { body } = await redeem(service, begun);
    const account = (await begun.tab.get('accounts').is(200)).body.items[0].metadata.name;
    return { token: body.refresh_token, tab: begun.tab, operator, account };
  };
  const refresh = (token: string, more: Record<string, string> = {}, authorization?: string) =>
    service.tab().send('POST', '/oauth2/token', {
      plain: true,
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        refresh_token: token,
        ...(!authorization && { client_id: 'app' }),
        ...more,
      }).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(authorization && { authorization }),
      },
    });
  const isDead = async (token: string): Promise<void> => {
    expect((await refresh(token).is(400)).body.error).toBe('invalid_grant');
  };

  test('within thirty seconds gets the same answer, each time, and nothing ends', async () => {
    const { token } = await held();
    const logged = service.logs.length;
    const { body } = await refresh(token).is(200);
    expect(body.refresh_token).not.toBe(token);
    for (const seconds of [0, 10, 19]) {
      clock.advance(seconds * 1000);
      expect((await refresh(token).is(200)).body).toEqual(body);
    }
    const headers = { authorization: `Bearer ${body.access_token}` };
    await service.tab().get('/oauth2/userinfo', { plain: true, headers }).is(200);
    expect(service.logs.slice(logged).join('')).not.toContain('was refused');
    await refresh(body.refresh_token).is(200);
  });

  test('at the same time gets the same answer: two tabs of one app', async () => {
    const { token } = await held();
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => refresh(token).is(200)));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    await refresh(answers[0]!.body.refresh_token).is(200);
  });

  test.each<[string, (held: Held, next: string) => PromiseLike<unknown>, Record<string, string>]>([
    ['after thirty seconds', async () => clock.advance(31_000), {}],
    ['after the new token was used', (_, next) => refresh(next).is(200), {}],
    ['for another scope', async () => undefined, { scope: 'openid' }],
    ['for a resource', async () => undefined, { resource: 'https://api.example.test/' }],
    [
      'after the app revoked the new token',
      (_, token) =>
        service.tab().send('POST', '/oauth2/revoke', {
          plain: true,
          body: new URLSearchParams({ token, client_id: 'app' }).toString(),
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }),
      {},
    ],
  ])('%s is a theft, and ends the family', async (_, act, more) => {
    const one = await held();
    const { body } = await refresh(one.token).is(200);
    await act(one, body.refresh_token);
    expect((await refresh(one.token, more).is(400)).body.error).toBe('invalid_grant');
    await isDead(body.refresh_token);
    const headers = { authorization: `Bearer ${body.access_token}` };
    await service.tab().get('/oauth2/userinfo', { plain: true, headers }).is(401);
  });

  test.each<[string, (held: Held) => PromiseLike<unknown>]>([
    ['removed the access of the app', ({ tab, account }) => tab.delete(`grants/${account}-app`)],
    ['was disabled', ({ account }) => operator.post(`accounts/${account}/disable`, { spec: {} })],
    ['deleted the account', ({ tab, account }) => tab.delete(`accounts/${account}`)],
  ])('after the person %s gets nothing', async (_, act) => {
    const one = await held();
    await refresh(one.token).is(200);
    const answer = (await act(one)) as { code: number };
    expect(answer.code).toBeLessThan(300);
    await isDead(one.token);
  });

  test('after policy refused the app gets nothing, and ends nothing', async () => {
    const { token } = await held();
    await refresh(token).is(200);
    operator = (await signIn(service, 'op@example.test')).tab;
    const { body } = await operator.get('policies/p-1').is(200);
    const rule =
      '@id("no-app") @message("No.") forbid (principal, action == Action::"signIn", resource == Client::"app");';
    await operator.post('policies', { spec: { cedar: `${body.spec.cedar}\n${rule}` } }).is(201);
    await isDead(token);
    await operator.post('policies', { spec: body.spec }).is(201);
    await refresh(token).is(200);
  });

  test('by another Client gets nothing, and ends nothing', async () => {
    const { token } = await held();
    const { body } = await refresh(token).is(200);
    expect((await refresh(token, { client_id: 'other' }).is(400)).body.error).toBe('invalid_grant');
    await refresh(body.refresh_token).is(200);
  });

  test('of a Client that authenticates is repeated, too, when its token was replaced', async () => {
    const { callback, verifier } = await signIn(service, 'shopper@example.test', {
      client: 'shop',
      scope: 'openid offline_access',
    });
    const basic = `Basic ${btoa('shop:hush')}`;
    const codes = await service.tab().send('POST', '/oauth2/token', {
      plain: true,
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: callback.searchParams.get('code')!,
        redirect_uri: 'https://app.example.test/callback',
        code_verifier: verifier,
      }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: basic },
    });
    const { refresh_token: token } = codes.body;
    clock.advance(12 * 86_400_000);
    const { body } = await refresh(token, {}, basic).is(200);
    expect(body.refresh_token).not.toBe(token);
    expect((await refresh(token, {}, basic).is(200)).body).toEqual(body);
    expect((await refresh(token, {}, `Basic ${btoa('shop:loud')}`).is(401)).body.error).toBe(
      'invalid_client',
    );
  });
});
