import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Session } from '../../../kinds/people/session/session.js';
import { clock } from '../../support/clock.js';
import { Stream } from '../../support/network/stream.js';
import { until } from '../../support/patience.js';
import {
  authorizationPath,
  begin,
  isNoNotice,
  mailTo,
  redeem,
  signIn,
  wrong,
} from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

const flags = ['--operators', 'op@example.test', '--limit-factor', '1000'];
afterAll(async () => {
  clock.release();
  await stopAll();
});

/** The mail to an address, which is then out of the way of the next. */
async function taken(service: TestService, address: string): ReturnType<typeof mailTo> {
  const mail = await mailTo(service, address);
  await service.tab().delete('mockmessages').is(200);
  return mail;
}

const form = (values: Record<string, string>) => ({
  plain: true,
  body: new URLSearchParams(values).toString(),
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
});
const refreshed = (service: TestService, token: string) =>
  service
    .tab()
    .send(
      'POST',
      '/oauth2/token',
      form({ grant_type: 'refresh_token', refresh_token: token, client_id: 'app' }),
    );
const userinfo = (service: TestService, token: string) =>
  service
    .tab()
    .get('/oauth2/userinfo', { plain: true, headers: { authorization: `Bearer ${token}` } });

describe.each(stores)('an account, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  beforeAll(async () => {
    clock.own();
    service = await startTest({ store, flags });
    await createClient(service, 'app', { grantTypes: ['authorization_code', 'refresh_token'] });
    operator = (await signIn(service, 'op@example.test')).tab;
  });

  /** Someone signed in with tokens that outlive the session. */
  async function person(address: string) {
    const signedIn = await signIn(service, address, {
      scope: 'openid email profile offline_access',
      parameters: { prompt: 'consent' },
    });
    const { body } = await redeem(service, signedIn);
    const name: string = (await signedIn.tab.get('accounts/~').is(200)).body.metadata.name;
    return {
      ...signedIn,
      name,
      access: body.access_token as string,
      refresh: body.refresh_token as string,
    };
  }

  /**
   * The Client asks again, for what was taken away too: a rejected scope is not asked for again.
   */
  async function signInAgain(tab: Tab): Promise<{ callback: URL }> {
    const { headers } = await tab
      .navigate(authorizationPath('app', 'openid email profile', 'x'.repeat(43)))
      .is(303);
    return { callback: new URL(headers.location!) };
  }

  describe('the address', () => {
    test('is changed by a code sent to the new one; the old one is notified', async () => {
      const { tab, name } = await person('old@example.test');
      const elsewhere = (await signIn(service, 'old@example.test')).tab;
      const pending = await begin(service);
      await pending.tab
        .post(`${pending.I}/emailchallenge`, { spec: { email: 'old@example.test' } })
        .is(200);
      const { code: former } = await taken(service, 'old@example.test');
      const { body: proven } = await pending.tab
        .post(`${pending.I}/login`, { spec: { method: 'EmailCode', code: former } })
        .is(200);

      const { body } = await tab
        .post('accounts/~/emailchallenge', { spec: { email: 'New@example.test' } })
        .is(200);
      expect(body).toMatchObject({
        kind: 'EmailChallenge',
        spec: { email: 'New@example.test' },
        status: { triesLeft: 5 },
      });
      const { code, link, text } = await taken(service, 'new@example.test');
      expect(link).toBeUndefined();
      expect(text).toContain('Do not share the code with anyone');
      await tab
        .post('accounts/~/email', { spec: { code: wrong(code) } })
        .fails(422, 'Invalid', 'spec.code')
        .then(({ details }) => expect(details!.triesLeft).toBe(4));
      expect((await tab.get('accounts/~').is(200)).body.status.email.address).toBe(
        'old@example.test',
      );
      const { body: account } = await tab.post('accounts/~/email', { spec: { code } }).is(200);
      expect(account).toMatchObject({
        kind: 'Account',
        metadata: { name },
        status: { email: { address: 'New@example.test' } },
      });
      expect((await taken(service, 'old@example.test')).subject).toMatch(/was changed/);
      await tab.post('accounts/~/email', { spec: { code } }).fails(410, 'Expired');
      await tab.get('accounts/~').is(200);
      await until(async () => (await elsewhere.get('accounts/~')).code === 401);

      const back = await pending.tab.navigate(proven.status.returnTo).is(303);
      expect(back.headers.location).toMatch(/^\/api\/v1beta1\/interactions\//);
      expect((await pending.tab.get(back.headers.location!).is(200)).body.status.phase).toBe(
        'LoginRequired',
      );
      await pending.tab.get('accounts/~').fails(401, 'Unauthorized');
      clock.advance(1_000);
      const successor = await person('old@example.test');
      expect(successor.name).not.toBe(name);
      expect((await successor.tab.get('grants').is(200)).body.items).toHaveLength(1);
      expect((await signIn(service, 'NEW@example.test')).tab).toBeDefined();
    });

    test('of another account is recognised only by the reader of its mail', async () => {
      const [one, other] = [await person('one@example.test'), await person('other@example.test')];
      const shape = ({ body, code }: any): unknown => [code, Object.keys(body.status), body.kind];
      const used = await one.tab
        .post('accounts/~/emailchallenge', { spec: { email: 'other@example.test' } })
        .is(200);
      const free = await other.tab
        .post('accounts/~/emailchallenge', { spec: { email: 'free@example.test' } })
        .is(200);
      expect(shape(used)).toEqual(shape(free));
      const { code } = await taken(service, 'other@example.test');
      await one.tab.post('accounts/~/email', { spec: { code } }).fails(409, 'AlreadyExists');
      expect((await other.tab.get('accounts/~').is(200)).body.status.email.address).toBe(
        'other@example.test',
      );
    });

    test('takes a recent sign-in, five tries, one mail a minute, and its own session', async () => {
      const { tab, name } = await person('careful@example.test');
      await operator
        .post(`accounts/${name}/emailchallenge`, { spec: { email: 'mine@example.test' } })
        .fails(403, 'Forbidden');
      await tab
        .post('accounts/~/emailchallenge', { spec: { email: 'no address' } })
        .fails(422, 'Invalid', 'spec.email');
      await tab.post('accounts/~/email', { spec: { code: '12345678' } }).fails(410, 'Expired');
      await tab.post('accounts/~/emailchallenge', { spec: { email: 'next@example.test' } }).is(200);
      await tab
        .post('accounts/~/emailchallenge', { spec: { email: 'next@example.test' } })
        .fails(429, 'TooManyRequests');
      const { code } = await taken(service, 'next@example.test');
      const second = (await signIn(service, 'careful@example.test')).tab;
      await second.post('accounts/~/email', { spec: { code } }).fails(410, 'Expired');
      const answers = await Promise.all(
        Array.from({ length: 20 }, () =>
          tab.post('accounts/~/email', { spec: { code: wrong(code) } }),
        ),
      );
      expect(answers.filter((answer) => answer.code === 422)).toHaveLength(5);
      await tab.post('accounts/~/email', { spec: { code } }).fails(410, 'Expired');
      clock.advance(11 * 60_000);
      const refusal = await tab
        .post('accounts/~/emailchallenge', { spec: { email: 'next@example.test' } })
        .fails(403, 'Forbidden');
      expect(refusal.details!.causes).toMatchObject([{ reason: 'ReauthenticationRequired' }]);
      await tab
        .delete('accounts/~')
        .fails(403, 'Forbidden')
        .then(({ details }) =>
          expect(details!.causes).toMatchObject([{ reason: 'ReauthenticationRequired' }]),
        );
    });
  });

  test('disabled by an operator, is signed out everywhere until it is enabled', async () => {
    const { tab, name, access, refresh } = await person('barred@example.test');
    const other = await service.replica();
    const theirs = other.tab();
    theirs.cookies = tab.cookies;
    await theirs.get('accounts/~').is(200);
    await userinfo(service, access).is(200);
    await tab.post(`accounts/${name}/disable`, {}).fails(403, 'Forbidden');
    const fresh = (await signIn(service, 'op@example.test')).tab;
    const { body } = await fresh.post(`accounts/${name}/disable`, {}).is(200);
    expect(body.status.disabledTimestamp).toMatch(/Z$/);
    await tab.get('accounts/~').fails(401, 'Unauthorized');
    await until(async () => (await theirs.get('accounts/~')).code === 401);
    await refreshed(other, refresh).is(400);
    await userinfo(other, access).is(401);
    const { tab: at, I } = await begin(service);
    await at.post(`${I}/emailchallenge`, { spec: { email: 'barred@example.test' } }).is(200);
    const { code } = await taken(service, 'barred@example.test');
    await at.post(`${I}/login`, { spec: { method: 'EmailCode', code } }).fails(403, 'Forbidden');
    await until(async () => (await service.store.reader(Session).list(name)).length === 0);
    await fresh.post(`accounts/${name}/enable`, {}).is(200);
    await tab.get('accounts/~').fails(401, 'Unauthorized');
    await refreshed(service, refresh).is(400);
    clock.advance(1_000);
    const again = await signIn(service, 'barred@example.test');
    expect((await again.tab.get('accounts/~').is(200)).body.metadata.name).toBe(name);
    await other.stop();
  });

  test('deleted by its owner, is gone with all it owned, and the person is notified', async () => {
    const { tab, name, access, refresh } = await person('leaving@example.test');
    await tab.patch('accounts/~', { spec: { displayName: 'Leaving' } }).is(200);
    await tab.get('accounts/zzzzzzzzzzzzzzzzzzzz').fails(404, 'NotFound');
    await service.tab().delete('mockmessages').is(200);
    const stream = await new Stream(operator, `accounts?watch=true`).until(
      ({ code }) => code !== 0,
    );
    const { body } = await tab.delete('accounts/~').is(200);
    expect(body).toMatchObject({
      kind: 'Account',
      metadata: { name, deletionTimestamp: expect.any(String) },
    });
    expect(tab.cookie('vestibule-session')).toBeUndefined();
    await userinfo(service, access).is(401);
    await refreshed(service, refresh).is(400);
    const mail = await taken(service, 'leaving@example.test');
    expect(mail.subject).toMatch(/was deleted/);
    await until(async () => (await leftOf(service, name)).length === 0);
    await operator.get(`accounts/${name}`).fails(404, 'NotFound');
    stream.close();
    const successor = await person('leaving@example.test');
    expect(successor.name).not.toBe(name);
    expect((await successor.tab.get('accounts/~').is(200)).body.spec).toEqual({});
  });

  test('is deleted by operators too, whose own recent sign-in counts', async () => {
    const { name } = await person('removed@example.test');
    const fresh = (await signIn(service, 'op@example.test')).tab;
    await fresh.delete(`accounts/${name}?dryRun=All`).is(200);
    expect((await fresh.get(`accounts/${name}`).is(200)).body.metadata).not.toHaveProperty(
      'deletionTimestamp',
    );
    await service.tab().delete('mockmessages').is(200);
    await fresh.delete(`accounts/${name}`).is(200);
    expect((await taken(service, 'removed@example.test')).text).toContain('by an operator');
    await until(async () => (await leftOf(service, name)).length === 0);
  });

  test('reports a sign-in from a browser that proves no earlier one, and no other', async () => {
    const address = 'roaming@example.test';
    const { tab } = await person(address);
    clock.advance(120_000);
    const from = (userAgent: string): Tab =>
      Object.assign(service.tab(), { headers: { 'user-agent': userAgent } });
    const firefox = from('Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0');
    await service.tab().delete('mockmessages').is(200);
    await signIn(service, address, { tab: firefox });
    const { subject, text } = await mailTo(service, address, [], (status) => !isNoNotice(status));
    expect(subject).toMatch(/new sign-in/);
    expect(text).toMatch(/from Firefox on Linux[^]*\/account/);
    await service.tab().delete('mockmessages').is(200);
    await firefox.delete('sessions/~').is(200);
    await signIn(service, address, { tab: firefox });
    await until(
      async () =>
        (await tab.get('sessions').is(200)).body.items.filter(
          ({ metadata }: any) => !metadata.deletionTimestamp,
        ).length === 2,
    );
    expect((await service.tab().get('mockmessages').is(200)).body.items).toEqual([]);
  });

  describe('a grant', () => {
    test('made smaller by its owner, ends what was issued for more', async () => {
      const { tab, name, access, refresh, client } = await person('sharing@example.test');
      const at = `grants/${name}-${client}`;
      const { body } = await tab.get(at).is(200);
      expect(body.spec.scopes).toEqual(['openid', 'email', 'profile', 'offline_access']);
      await tab
        .patch(at, { spec: { scopes: ['openid', 'groups'] } })
        .fails(422, 'Invalid', 'spec.scopes[1]');
      await tab
        .patch(at, { spec: { scopes: ['openid', 'openid'] } })
        .fails(422, 'Invalid', 'spec.scopes[1]');
      await tab.patch(at, { spec: { scopes: ['email'] } }).fails(422, 'Invalid', 'spec.scopes');
      await tab
        .patch(at, { spec: { scopes: ['openid', 'email'] }, metadata: { resourceVersion: '1' } })
        .fails(409, 'Conflict');
      await userinfo(service, access).is(200);
      await tab.patch(at, { spec: { scopes: ['openid', 'email'] } }).is(200);
      await userinfo(service, access).is(401);
      await refreshed(service, refresh).is(400);
      const { callback } = await signInAgain(tab);
      expect(callback.searchParams.get('code')).toBeTruthy();
      expect((await tab.get(at).is(200)).body.spec.scopes).toEqual(['openid', 'email']);
    });

    test('is withdrawn by its owner on one replica, and dead on the other at once', async () => {
      const { tab, name, access, refresh, client } = await person('withdrawing@example.test');
      const other = await service.replica();
      await userinfo(other, access).is(200);
      await tab.delete(`grants/${name}-${client}`).is(200);
      await userinfo(other, access).is(401);
      await refreshed(other, refresh).is(400);
      await tab.get(`grants/${name}-${client}`).fails(404, 'NotFound');
      const { I, tab: asked } = await begin(service, { tab });
      const { body } = await asked.get(I).is(200);
      expect(body.status.phase).toBe('ConsentRequired');
      await other.stop();
    });

    test('all of them are withdrawn together, and no one else’s', async () => {
      const [mine, others] = [await person('all@example.test'), await person('none@example.test')];
      const { body } = await mine.tab.delete('grants').is(200);
      expect(body.items.map((item: any) => item.metadata.name)).toEqual([`${mine.name}-app`]);
      await userinfo(service, mine.access).is(401);
      await userinfo(service, others.access).is(200);
      await mine.tab.delete(`grants/${others.name}-app`).fails(404, 'NotFound');
    });
  });
});

/**
 * Keys of the store that name an account, or hold its name in what can be read; what an operator
 * did to it is the operator's record.
 */
async function leftOf(service: TestService, name: string): Promise<string[]> {
  const { entries } = await service.storage.list({ start: '!', end: '~' });
  return entries
    .filter(
      ({ key, value }) =>
        key.includes(name) || (value.includes(name) && !key.startsWith('objects/policydecisions/')),
    )
    .map(({ key }) => key);
}
