import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import * as oidc from 'openid-client';
import { newKeys } from '../../security/keyring.js';
import { expectFor } from '../support/expect-for.js';
import { Browser } from './support/browser.js';
import { House, openStorage } from './support/fixture.js';
import { outcome, RelyingParty } from './support/relyingparty.js';

const realNow = Date.now;
/** Moves the clock that this process and the library read, in seconds from the real one. */
const at = (seconds: number): void => {
  Date.now = () => realNow() + seconds * 1000;
};
const day = 86_400;

let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterEach(() => {
  Date.now = realNow;
});
afterAll(async () => {
  await house.close();
});

describe('what lives for a time', () => {
  test('a code: 75 s later it is over', async () => {
    await house.client('slow');
    const rp = await RelyingParty.of(house, 'slow');
    const account = (await house.account()).metadata.name;
    const begun = await rp.begin();
    const back = await new Browser(house).authorize(begun.url, { account });
    at(75);
    expect((await outcome(rp.redeem(back.location!, begun))).error).toBe('invalid_grant');
  });

  test('an interaction: an hour later there is nothing to resume', async () => {
    await house.client('patient');
    const rp = await RelyingParty.of(house, 'patient');
    const browser = new Browser(house);
    const account = (await house.account()).metadata.name;
    const shown = await browser.go((await rp.begin()).url);
    const { returnTo } = await browser.act(/interactions\/(\w+)/.exec(shown.url.pathname)![1]!, {
      account,
    });
    at(3_601);
    const late = await browser.go(returnTo);
    expect([late.status, late.location]).toEqual([400, undefined]);
  });

  test('a session: two weeks from its last use, three months from its sign-in', async () => {
    await house.client('visited');
    const rp = await RelyingParty.of(house, 'visited');
    const account = (await house.account()).metadata.name;
    const browser = new Browser(house);
    await rp.signIn(browser, { account }, { scope: 'openid' });
    const silent = async (): Promise<string | null> =>
      (
        await browser.go((await rp.begin({ scope: 'openid', prompt: 'none' })).url)
      ).location!.searchParams.get('error');
    at(14 * day - 5);
    expect(await house.who(browser.cookieFor('/'))).toMatchObject({ account });
    for (const [days, alive] of [
      [13, true],
      [26, true],
      [39, true],
      [52, true],
      [65, true],
      [78, true],
      [89.9, true],
      [90.001, false],
    ] as const) {
      at(days * day);
      expectFor(days, await silent()).toEqual(alive ? null : 'login_required');
      expectFor(days, (await house.who(browser.cookieFor('/'))) !== undefined).toEqual(alive);
    }
  });

  test('a session left alone ends after two weeks', async () => {
    await house.client('left');
    const rp = await RelyingParty.of(house, 'left');
    const browser = new Browser(house);
    const account = (await house.account()).metadata.name;
    await rp.signIn(browser, { account }, { scope: 'openid' });
    const cookie = browser.cookieFor('/');
    at(14 * day + 11);
    expect(await house.who(cookie)).toBeUndefined();
    expect(
      (
        await browser.go((await rp.begin({ scope: 'openid', prompt: 'none' })).url)
      ).location!.searchParams.get('error'),
    ).toBe('login_required');
  });

  test('refresh tokens: two weeks at each use, a year in all', async () => {
    await house.client('yearly');
    const rp = await RelyingParty.of(house, 'yearly');
    let token = (
      await rp.signIn(
        new Browser(house),
        { account: (await house.account()).metadata.name },
        { scope: 'openid offline_access', prompt: 'consent' },
      )
    ).refresh_token!;
    for (let days = 13; days < 365; days += 13) {
      at(days * day);
      token = (await oidc.refreshTokenGrant(rp.config, token)).refresh_token!;
    }
    at(365 * day + 15);
    expect((await outcome(oidc.refreshTokenGrant(rp.config, token))).error).toBe('invalid_grant');
  });

  test('a refresh token that a browser alone holds keeps its first end', async () => {
    await house.client('exposed', { type: 'Public' });
    const rp = await RelyingParty.of(house, 'exposed', { public: true });
    const first = await rp.signIn(
      new Browser(house),
      { account: (await house.account()).metadata.name },
      { scope: 'openid offline_access', prompt: 'consent' },
    );
    at(13 * day);
    const next = await oidc.refreshTokenGrant(rp.config, first.refresh_token!);
    at(14 * day + 15);
    expect((await outcome(oidc.refreshTokenGrant(rp.config, next.refresh_token!))).error).toBe(
      'invalid_grant',
    );
  });

  test('a consent: asked again after a year', async () => {
    await house.client('renewed');
    const rp = await RelyingParty.of(house, 'renewed');
    const account = (await house.account()).metadata.name;
    await rp.signIn(new Browser(house), { account }, { scope: 'openid' });
    for (const [days, asked] of [
      [364, false],
      [366, true],
    ] as const) {
      at(days * day);
      const browser = new Browser(house);
      const shown = await browser.go((await rp.begin({ scope: 'openid' })).url);
      const { returnTo } = await browser.act(/interactions\/(\w+)/.exec(shown.url.pathname)![1]!, {
        account,
      });
      expectFor(days, (await browser.go(returnTo)).location === undefined).toEqual(asked);
    }
  });
});

test('new signing keys sign, old ones still verify a hint at sign-out', async () => {
  const { storage, close } = await openStorage();
  const [old, fresh] = [newKeys(), newKeys()];
  const before = await House.open({ storage, keys: old });
  await before.client('keeping');
  const rp = await RelyingParty.of(before, 'keeping');
  const browser = new Browser(before);
  const tokens = await rp.signIn(browser, { account: (await before.account()).metadata.name });
  await before.close();
  const after = await House.open({
    storage,
    keys: { ...old, signing: [...fresh.signing, ...old.signing] },
    baseURL: before.baseURL,
  });
  browser.via = after.address;
  const jwks = (await (await fetch(`${after.address}/oauth2/jwks`)).json()) as {
    keys: { kid: string }[];
  };
  expect(new Set(jwks.keys.map(({ kid }) => kid)).size).toBe(4);
  const asked = await browser.request(`/oauth2/logout?id_token_hint=${tokens.id_token}`);
  expect([asked.status, asked.text.includes('Sign out?')]).toEqual([200, true]);
  const begun = await rp.begin({ prompt: 'none' });
  const back = await browser.go(begun.url);
  const answer = await fetch(`${after.address}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('keeping:secret-of-keeping')}` },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: back.location!.searchParams.get('code')!,
      redirect_uri: rp.redirectURI,
      code_verifier: begun.verifier,
    }),
  });
  const head = JSON.parse(
    Buffer.from(
      ((await answer.json()) as { id_token: string }).id_token.split('.')[0]!,
      'base64url',
    ).toString(),
  ) as { kid: string };
  expect(head.kid).toBe(jwks.keys[0]!.kid);
  await after.close();
  await close();
});
