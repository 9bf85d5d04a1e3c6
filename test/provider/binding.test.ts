import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { nameOf, newKeys } from '../../security/keyring.js';
import { Browser } from './support/browser.js';
import { House, openStorage } from './support/fixture.js';
import { RelyingParty } from './support/relyingparty.js';

let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterAll(async () => {
  expect(house.identity.counts.get('server_error') ?? 0).toBe(0);
  await house.close();
});

const nameIn = (path: string): string => /interactions\/([a-z2-7]{32})/.exec(path)![1]!;

/** The cookies of a whole sign-in, by name. */
async function cookiesOf(at: House): Promise<Browser> {
  await at.client('cookies');
  const rp = at === house ? await RelyingParty.of(at, 'cookies') : undefined;
  const browser = new Browser(at);
  const account = (await at.account()).metadata.name;
  const begun = rp
    ? (await rp.begin()).url
    : new URL(
        `${at.baseURL}/oauth2/auth?client_id=cookies&response_type=code&scope=openid&redirect_uri=${encodeURIComponent('https://rp.example.test/cb')}&code_challenge=${'x'.repeat(43)}&code_challenge_method=S256`,
      );
  await browser.authorize(begun, { account });
  return browser;
}

describe('cookies', () => {
  test('on loopback http: no prefix, HttpOnly, Lax, no Domain, each on its own path', async () => {
    const browser = await cookiesOf(house);
    const names = new Set(browser.sent.map((cookie) => cookie.name));
    expect([...names].sort()).toEqual([
      'vestibule-browser',
      'vestibule-interaction',
      'vestibule-interaction.sig',
      'vestibule-resume',
      'vestibule-resume.sig',
      'vestibule-session',
      'vestibule-session.sig',
    ]);
    for (const { name, value, path, attributes } of browser.sent) {
      expect(attributes).toMatchObject({ httponly: true, samesite: 'lax' });
      expect(attributes).not.toHaveProperty('domain');
      expect(attributes).not.toHaveProperty('secure');
      if (name.startsWith('vestibule-interaction')) {
        expect(path).toMatch(/^\/api\/v1(beta1|alpha1)\/interactions\/[a-z2-7]{32}$/);
      }
      if (name === 'vestibule-interaction') {
        expect(path.endsWith(`/interactions/${nameOf(value)}`)).toBe(true);
      }
      if (name.startsWith('vestibule-resume')) expect(path).toMatch(/^\/oauth2\/auth\/[\w-]{10,}$/);
      if (name.startsWith('vestibule-session') || name === 'vestibule-browser') {
        expect(path).toBe('/');
      }
    }
  });

  test('on https: prefixed and Secure, though the connection behind the proxy is plain', async () => {
    const { storage, close } = await openStorage();
    const behind = await House.open({ storage, baseURL: 'https://id.example.test' });
    const browser = await cookiesOf(behind);
    const names = new Set(browser.sent.map((cookie) => cookie.name.replace(/\.sig$/, '')));
    expect([...names].sort()).toEqual([
      '__Host-vestibule-browser',
      '__Host-vestibule-session',
      '__Secure-vestibule-interaction',
      '__Secure-vestibule-resume',
    ]);
    for (const { attributes } of browser.sent) {
      expect(attributes).toMatchObject({ secure: true, httponly: true, samesite: 'lax' });
    }
    for (const { name, path } of browser.sent) {
      if (name.startsWith('__Host-')) expect(path).toBe('/');
    }
    const plain = browser.cookieFor('/')!.replaceAll('__Host-', '');
    expect(await behind.who(browser.cookieFor('/'))).toMatchObject({ type: 'Account' });
    expect(await behind.who(plain)).toBeUndefined();
    await behind.close();
    await close();
  });

  test('an interaction answers to its own signed cookie and to no other', async () => {
    await house.client('bound');
    const rp = await RelyingParty.of(house, 'bound');
    const [mine, other] = [new Browser(house), new Browser(house)];
    const name = nameIn((await mine.go((await rp.begin()).url)).url.pathname);
    const theirs = nameIn((await other.go((await rp.begin()).url)).url.pathname);
    const cookie = mine.cookieFor(`/api/v1beta1/interactions/${name}`)!;
    expect(await house.who(cookie, name)).toEqual({
      type: 'Browser',
      interaction: name,
      session: name,
      expires: Infinity,
    });
    expect(await house.who(cookie)).toBeUndefined();
    expect(await house.who(cookie, theirs)).toBeUndefined();
    expect(
      await house.who(
        cookie.split('; ').find((pair) => !pair.includes('.sig')),
        name,
      ),
    ).toBeUndefined();
    expect(
      await house.who(
        cookie.replace(
          /(vestibule-interaction=)(.)/,
          (_, head: string, first: string) => head + (first === 'a' ? 'b' : 'a'),
        ),
        name,
      ),
    ).toBeUndefined();
    expect(await house.who(`${cookie}; vestibule-interaction=another`, name)).toBeUndefined();
  });

  test('two different session cookies in one request: neither counts', async () => {
    const browser = (await cookiesOf(house).catch(() => undefined)) ?? new Browser(house);
    const rp = await RelyingParty.of(house, 'cookies');
    await rp.signIn(
      browser,
      { account: (await house.account()).metadata.name },
      { prompt: 'login' },
    );
    const cookie = browser.cookieFor('/')!;
    const answer = await fetch((await rp.begin({ scope: 'openid', prompt: 'none' })).url, {
      redirect: 'manual',
      headers: { cookie: `${cookie}; vestibule-session=other` },
    });
    expect(new URL(answer.headers.get('location')!).searchParams.get('error')).toBe(
      'login_required',
    );
    expect(await house.who(`${cookie}; vestibule-session=other`)).toBeUndefined();
  });

  test('an old cookie key is good until it is gone, then nothing is', async () => {
    const { storage, close } = await openStorage();
    const [old, fresh] = [newKeys(), newKeys()];
    const before = await House.open({ storage, keys: old });
    await before.client('rotating-keys');
    const rp = await RelyingParty.of(before, 'rotating-keys');
    const account = (await before.account()).metadata.name;
    const browser = new Browser(before);
    await rp.signIn(browser, { account });
    await before.close();
    const both = await House.open({
      storage,
      keys: { ...old, cookies: [...fresh.cookies, ...old.cookies] },
      baseURL: before.baseURL,
    });
    browser.via = both.address;
    expect(await both.who(browser.cookieFor('/'))).toMatchObject({ account });
    const oldCookies = browser.cookieFor('/')!;
    const open = await browser.go((await rp.begin({ scope: 'openid', prompt: 'none' })).url);
    expect(open.location!.searchParams.get('code')).toBeTruthy();
    await both.close();
    const after = await House.open({
      storage,
      keys: { ...old, cookies: fresh.cookies },
      baseURL: before.baseURL,
    });
    expect(await after.who(oldCookies)).toBeUndefined();
    browser.via = after.address;
    expect(await after.who(browser.cookieFor('/'))).toMatchObject({ account });
    await after.close();
    await close();
  });
});

describe('the way back', () => {
  test('opened in a second browser shows an error and sends the Client nothing', async () => {
    await house.client('way-back');
    const rp = await RelyingParty.of(house, 'way-back');
    const account = (await house.account()).metadata.name;
    const [mine, other] = [new Browser(house), new Browser(house)];
    const name = nameIn((await mine.go((await rp.begin()).url)).url.pathname);
    const { returnTo } = await mine.act(name, { account });
    const stolen = await other.go(returnTo);
    expect([stolen.status, stolen.location]).toEqual([400, undefined]);
    expect(stolen.text).toContain('<h1');
    expect((await mine.go(returnTo)).url.pathname).toMatch(/interactions/);
  });
});
