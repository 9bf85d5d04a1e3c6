import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as oidc from 'openid-client';
import { Grant, grantName } from '../../kinds/apps/grant.js';
import type { Caller } from '../../registry/kind.js';
import { Browser } from './support/browser.js';
import { House } from './support/fixture.js';
import { RelyingParty } from './support/relyingparty.js';

let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterAll(async () => {
  expect(house.identity.counts.get('server_error') ?? 0).toBe(0);
  await house.close();
});

const hidden = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
      ([, name, value]) => [name!, value!],
    ),
  );

async function bearer(
  token: string,
  headers: Record<string, string> = {},
): Promise<Caller | undefined> {
  const request = {
    headers: { authorization: `Bearer ${token}`, ...headers },
  } as unknown as IncomingMessage;
  return house.identity.authenticators[2]!({ request, cookie: () => undefined });
}

/** Signs the command in by device flow, the code typed by hand. */
async function signIn(
  account: string,
  browser = new Browser(house),
): Promise<Awaited<ReturnType<typeof oidc.pollDeviceAuthorizationGrant>>> {
  const rp = await RelyingParty.of(house, 'vestibule', { public: true });
  const started = await oidc.initiateDeviceAuthorization(rp.config, {
    scope: 'openid offline_access api',
  });
  expect(started.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  const form = await browser.go(started.verification_uri);
  const confirm = await browser.post('/oauth2/device', {
    ...hidden(form.text),
    user_code: started.user_code.toLowerCase(),
  });
  expect(confirm.text).toContain('Vestibule command');
  let answer = await browser.post('/oauth2/device', hidden(confirm.text));
  answer = await browser.go(answer.location!);
  for (let steps = 0; steps < 2 && /interaction/.test(answer.url.pathname); steps += 1) {
    answer = await browser.go(
      (await browser.act(/interactions\/(\w+)/.exec(answer.url.pathname)![1]!, { account }))
        .returnTo,
    );
  }
  expect(answer.text).toContain('Your device is connected');
  return oidc.pollDeviceAuthorizationGrant(rp.config, {
    ...started,
    interval: 0,
  } as typeof started);
}

describe('the command', () => {
  test('gets a token for the API by device flow, and the API knows whose it is', async () => {
    const account = await house.account();
    const { name } = account.metadata;
    const tokens = await signIn(name);
    expect(tokens.scope).toBe('api');
    const known = await bearer(tokens.access_token);
    expect(known).toMatchObject({
      type: 'Account',
      account: name,
      email: account.status.email.address,
      methods: ['EmailCode'],
      assurance: 'urn:vestibule:acr:email',
      authenticated: expect.any(Number),
    });
    expect(known).not.toHaveProperty('session');
    const rp = await RelyingParty.of(house, 'vestibule', { public: true });
    const next = await oidc.refreshTokenGrant(rp.config, tokens.refresh_token!);
    expect(await bearer(next.access_token)).toEqual(known);
    // The API server refuses a token that a browser sends (test/api/client/programs.test.ts).
    await expect(oidc.fetchUserInfo(rp.config, next.access_token, name)).rejects.toThrow();
    await house.store.change(house.store.systemCall(), (tx) =>
      tx.delete(Grant, grantName(name, 'vestibule')),
    );
    await expect(bearer(next.access_token)).rejects.toMatchObject({ reason: 'Unauthorized' });
  });

  test('two logins in one browser are two sign-ins, and neither ends the other', async () => {
    const account = (await house.account()).metadata.name;
    const browser = new Browser(house);
    const first = await signIn(account, browser);
    expect(await bearer(first.access_token)).toMatchObject({ account });
    const second = await signIn(account, browser);
    expect(await bearer(second.access_token)).toMatchObject({ account });
    expect(await bearer(first.access_token)).toMatchObject({ account });
    const rp = await RelyingParty.of(house, 'vestibule', { public: true });
    const next = await oidc.refreshTokenGrant(rp.config, first.refresh_token!);
    await oidc.tokenRevocation(rp.config, next.refresh_token!);
    expect(await bearer(second.access_token)).toMatchObject({ account });
  });

  test('is asked for consent every time', async () => {
    const account = (await house.account()).metadata.name;
    await signIn(account);
    await signIn(account);
    expect(
      (await house.store.reader(Grant).get(grantName(account, 'vestibule')))!.internal.decision,
    ).toBe(2);
  });

  test('an ID token, a refresh token or another Client’s access token is no bearer', async () => {
    await house.client('other');
    const rp = await RelyingParty.of(house, 'other');
    const tokens = await rp.signIn(
      new Browser(house),
      { account: (await house.account()).metadata.name },
      { scope: 'openid offline_access', prompt: 'consent' },
    );
    for (const token of [tokens.id_token!, tokens.refresh_token!, tokens.access_token, 'x']) {
      await expect(bearer(token)).rejects.toMatchObject({ reason: 'Unauthorized' });
    }
  });

  test('the API’s resource is for it alone', async () => {
    await house.client('grabber');
    const rp = await RelyingParty.of(house, 'grabber');
    const back = await new Browser(house).go(
      (await rp.begin({ resource: `${house.baseURL}/apis` })).url,
    );
    expect(back.location!.searchParams.get('error')).toBe('invalid_target');
    const tokens = await rp.signIn(
      new Browser(house),
      { account: (await house.account()).metadata.name },
      { scope: 'openid api' },
    );
    expect(tokens.scope).toBe('openid');
    await expect(bearer(tokens.access_token)).rejects.toMatchObject({ reason: 'Unauthorized' });
  });
});

describe('user codes', () => {
  test('five wrong ones, then no more in this session', async () => {
    const browser = new Browser(house);
    const form = await browser.go('/oauth2/device');
    expect(form.text).not.toMatch(/onfocus|<script/);
    const tried: number[] = [];
    let fields = hidden(form.text);
    for (let i = 0; i < 6; i += 1) {
      const answer = await browser.post('/oauth2/device', { ...fields, user_code: 'BBBB-BBBB' });
      tried.push(answer.status);
      if (i < 5) expect(answer.text).toContain('not right');
      fields = hidden(answer.text);
    }
    expect(tried).toEqual([200, 200, 200, 200, 200, 429]);
  });

  test('one that is declined is reported to the device', async () => {
    const rp = await RelyingParty.of(house, 'vestibule', { public: true });
    const started = await oidc.initiateDeviceAuthorization(rp.config, { scope: 'openid api' });
    const browser = new Browser(house);
    const submitting = await browser.go(started.verification_uri_complete!);
    const confirm = await browser.post('/oauth2/device', hidden(submitting.text));
    const { confirm: _, ...fields } = hidden(confirm.text);
    expect((await browser.post('/oauth2/device', { ...fields, abort: 'yes' })).text).toContain(
      'It was not connected',
    );
    await expect(
      oidc.pollDeviceAuthorizationGrant(rp.config, { ...started, interval: 0 } as typeof started),
    ).rejects.toMatchObject({ error: 'access_denied' });
  });
});

describe('the account page', () => {
  test('gets a session without a code and without consent', async () => {
    const account = (await house.account()).metadata.name;
    const browser = new Browser(house);
    const url = `/oauth2/auth?client_id=vestibule-account&response_type=none&scope=openid&redirect_uri=${encodeURIComponent(`${house.baseURL}/account`)}`;
    const login = await browser.go(url);
    const { returnTo } = await browser.act(/interactions\/(\w+)/.exec(login.url.pathname)![1]!, {
      account,
    });
    const back = await browser.go(returnTo);
    expect(back.url.pathname).toBe('/account');
    expect(back.url.searchParams.get('code')).toBeNull();
    expect(await house.who(browser.cookieFor('/'))).toMatchObject({ account });
    const [session] = await house.sessions(account);
    expect(session!.status.clients).toEqual([]);
    expect(await house.store.reader(Grant).list(account)).toEqual([]);
    expect((await browser.go(url)).url.pathname).toBe('/account');
  });
});
