import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Session } from '../../../kinds/people/session/session.js';
import { expectFor } from '../../support/expect-for.js';
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

describe.each(stores)('prompt=select_account, on %s', (store) => {
  let service: TestService;
  let number = 0;
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app');
  });

  /** A browser with a session and a remembered consent. */
  const known = async (): Promise<Tab> =>
    (await signIn(service, `s${(number += 1)}-${store}@example.test`)).tab;
  const pathOf = async (prompt: string, isPushed: boolean): Promise<string> => {
    const path = authorizationPath('app', 'openid email', verifier, { prompt });
    if (!isPushed) return path;
    const { body } = await service
      .tab()
      .send('POST', '/oauth2/par', {
        plain: true,
        body: path.split('?')[1]!,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
      .is(201);
    return `/oauth2/auth?${new URLSearchParams({ client_id: 'app', request_uri: body.request_uri })}`;
  };
  const at = async (tab: Tab, path: string) => {
    const to = (await tab.navigate(path).is(303)).headers.location!;
    return { to, body: to.startsWith('/api/') ? (await tab.get(to).is(200)).body : undefined };
  };

  test.each([false, true])(
    'goes on with the session that there is (pushed: %s)',
    async (pushed) => {
      const tab = await known();
      const { body } = await at(tab, await pathOf('select_account', pushed));
      expect([body.spec.prompt, body.status.phase]).toEqual(['SelectAccount', 'LoginRequired']);
      const back = await tab.navigate(body.status.resumeTo).is(303);
      expect(new URL(back.headers.location!).searchParams.has('code')).toBe(true);
    },
  );

  test('signs in as another', async () => {
    const tab = await known();
    const before = (await tab.get('accounts/~').is(200)).body.metadata.name;
    const other = `other-${store}@example.test`;
    const { to } = await at(tab, await pathOf('select_account', false));
    await tab.post(`${to}/emailchallenge`, { spec: { email: other } }).is(200);
    const { code } = await mailTo(service, other, [], (status) => status.code !== undefined);
    const { body } = await tab.post(`${to}/login`, { spec: { method: 'EmailCode', code } }).is(200);
    // oidc-provider ends the session of the other person first, by a page that posts itself.
    const page = (await tab.navigate(body.status.returnTo).is(200)).bytes.toString();
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)![1]!;
    const form = new URLSearchParams({ xsrf, logout: 'yes' }).toString();
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      origin: service.baseURL,
    };
    const left = await tab
      .send('POST', '/oauth2/logout/confirm', { plain: true, headers, body: form })
      .is(303);
    const callback = await proceed(tab, left.headers.location!);
    expect(callback.searchParams.has('code')).toBe(true);
    const account = (await tab.get('accounts/~').is(200)).body;
    expect(account.metadata.name).not.toBe(before);
    expect(account.status.email.address).toBe(other);
  });

  test('with consent asks for both, one after the other', async () => {
    const tab = await known();
    const { body } = await at(tab, await pathOf('consent select_account', false));
    expect(body.spec.prompt).toBe('SelectAccount');
    const consent = await at(tab, body.status.resumeTo);
    expect(consent.body.spec.prompt).toBe('Consent');
  });

  test.each([
    ['select_account login', 'Login'],
    ['login', 'Login'],
    ['create', 'Login'],
    ['create consent', 'Login'],
    ['consent', 'Consent'],
    ['consent Welcome back!', 'Consent'],
  ])('%s leads a person with a session to %s, also pushed', async (prompt, expected) => {
    const tab = await known();
    const own = (await tab.get('accounts/~').is(200)).body.status.email.address;
    for (const pushed of [false, true]) {
      const { body } = await at(tab, await pathOf(prompt, pushed));
      expectFor(pushed, body.spec.prompt).toEqual(expected);
      // The person sees which account it is: at consent, or as the address that is filled in.
      const shown = expected === 'Consent' ? body.status.account.email : body.spec.loginHint;
      expectFor(pushed, shown).toEqual(own);
      // If the person must sign in again, the session of the browser is not enough.
      expect(body.status).not.toHaveProperty('resumeTo');
    }
  });

  test('the address that the app suggests comes before that of the session', async () => {
    const path = `${await pathOf('select_account login', false)}&login_hint=other%40example.test`;
    const { body } = await at(await known(), path);
    expect(body.spec.loginHint).toBe('other@example.test');
  });

  test.each<Record<string, string>>([{ max_age: '0' }, { acr_values: 'phr' }, { prompt: 'login' }])(
    'the address is filled in whichever way a new sign-in is asked for: %j',
    async (parameters) => {
      const tab = await known();
      const own = (await tab.get('accounts/~').is(200)).body.status.email.address;
      const { body } = await at(
        tab,
        authorizationPath('app', 'openid email', verifier, { ...parameters }),
      );
      expect(body.spec.loginHint).toBe(own);
    },
  );

  test('no address is filled in where the app names another person', async () => {
    const { id_token: token } = (
      await redeem(service, await signIn(service, `named-${store}@example.test`))
    ).body;
    for (const [name, value] of [
      ['login_hint', 'bob'],
      ['id_token_hint', token],
    ]) {
      const path = `${await pathOf('login', false)}&${name}=${encodeURIComponent(value)}`;
      const { body } = await at(await known(), path);
      expectFor(name, [body.spec.prompt, body.spec.loginHint]).toEqual(['Login', undefined]);
    }
  });

  test('no address is filled in once the session has ended', async () => {
    const tab = await known();
    const account = (await tab.get('accounts/~').is(200)).body.metadata.name;
    await service.store.change(service.store.systemCall(), async (tx) => {
      for (const { metadata } of await service.store.reader(Session).list(account)) {
        await tx.delete(Session, metadata.name);
      }
    });
    const { body } = await at(tab, await pathOf('login', false));
    expect(body.spec).not.toHaveProperty('loginHint');
  });

  test('without a session no address is filled in', async () => {
    const { body } = await at(service.tab(), await pathOf('login', false));
    expect(body.spec).not.toHaveProperty('loginHint');
  });

  test('what is no prompt is ignored', async () => {
    const { to } = await at(await known(), await pathOf('Welcome back!', false));
    expect(new URL(to).searchParams.has('code')).toBe(true);
  });

  test('with none is an error of the app', async () => {
    const { to } = await at(await known(), await pathOf('none select_account', false));
    expect(new URL(to).searchParams.get('error')).toBe('invalid_request');
  });

  test('without a session is the sign-in', async () => {
    const { tab, I } = await begin(service, { parameters: { prompt: 'select_account' } });
    expect((await tab.get(I).is(200)).body.spec.prompt).toBe('Login');
  });
});
