import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as oidc from 'openid-client';
import { Grant, grantName } from '../../kinds/apps/grant.js';
import { Interaction } from '../../kinds/interaction/interaction.js';
import { Browser } from './support/browser.js';
import { counting, House, openStorage } from './support/fixture.js';
import { RelyingParty } from './support/relyingparty.js';

let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterAll(async () => {
  expect(house.identity.counts.get('server_error') ?? 0).toBe(0);
  expect(house.identity.counts.get('afterwards_failed') ?? 0).toBe(0);
  await house.close();
});

/** The `at_hash` of an access token: the left half of its SHA-256 (OpenID Connect Core §3.1.3.6). */
const hashOf = ({ access_token }: { access_token: string }): string =>
  createHash('sha256').update(access_token).digest().subarray(0, 16).toString('base64url');

const nameIn = (path: string): string => /interactions\/([a-z2-7]{32})/.exec(path)![1]!;

describe('a sign-in', () => {
  test('goes from the Client through login and consent to tokens and userinfo', async () => {
    await house.client('shop');
    const rp = await RelyingParty.of(house, 'shop');
    const account = await house.account('ada@example.test');
    const tokens = await rp.signIn(new Browser(house), { account: account.metadata.name });
    expect(tokens.claims()).toMatchObject({
      sub: account.metadata.name,
      acr: 'urn:vestibule:acr:email',
      amr: ['otp'],
      auth_time: expect.any(Number),
    });
    // Libraries read these from the ID token, and compare at_hash where it is there.
    expect(tokens.claims()).toMatchObject({ email: 'ada@example.test', email_verified: true });
    expect(tokens.claims()).toMatchObject({ name: 'Ada <Lovelace>', at_hash: hashOf(tokens) });
    expect(tokens.claims()).not.toHaveProperty('given_name');
    const info = await oidc.fetchUserInfo(rp.config, tokens.access_token, account.metadata.name);
    expect(info).toEqual({
      sub: account.metadata.name,
      name: 'Ada <Lovelace>',
      preferred_username: 'ada',
      given_name: 'Ada',
      updated_at: expect.any(Number),
      email: 'ada@example.test',
      email_verified: true,
    });
  });

  test('is two interactions that know each other, each bound to its own cookie', async () => {
    await house.client('halves');
    const rp = await RelyingParty.of(house, 'halves');
    const account = await house.account();
    const browser = new Browser(house);
    const begun = await rp.begin({ login_hint: 'ada@example.test', ui_locales: 'de en-GB' });
    const first = nameIn((await browser.go(begun.url)).url.pathname);
    const record = (await house.store.reader(Interaction).get(first))!;
    expect(record.spec).toEqual({
      client: 'halves',
      scopes: ['openid', 'profile', 'email'],
      prompt: 'Login',
      loginHint: 'ada@example.test',
      locales: ['de', 'en-GB'],
    });
    expect(record.status).toMatchObject({
      phase: 'LoginRequired',
      client: { name: 'halves', displayName: 'The halves', firstParty: false },
    });
    expect(JSON.stringify(record)).not.toContain('/oauth2/auth/');
    const { returnTo } = await browser.act(first, { account: account.metadata.name });
    expect(returnTo).toMatch(`${house.baseURL}/oauth2/auth/`);
    const second = nameIn((await browser.go(returnTo)).url.pathname);
    expect(second).not.toBe(first);
    const [one, two] = [
      await house.store.reader(Interaction).get(first),
      await house.store.reader(Interaction).get(second),
    ];
    expect(one!.status).toMatchObject({ phase: 'Authenticated', next: second });
    expect(one!.internal.returnTo).toBeUndefined();
    expect(two!.status).toMatchObject({
      phase: 'ConsentRequired',
      previous: first,
      account: { name: account.metadata.name },
    });
    expect(two!.internal.account).toBe(account.metadata.name);
    expect(
      (await house.sessions(account.metadata.name)).map((session) => session.metadata.name),
    ).toEqual([two!.internal.session]);
  });

  test('awaits six commits of its own with consent, four without', async () => {
    const { storage, close } = await openStorage();
    const counted = counting(storage);
    const measured = await House.open({ storage: counted });
    await measured.client('counted');
    const rp = await RelyingParty.of(measured, 'counted');
    const account = (await measured.account()).metadata.name;
    const awaited = async (browser: Browser): Promise<number> => {
      await measured.identity.settled();
      const before = counted.commits;
      const tokens = await rp.signIn(browser, { account });
      const during = counted.commits - before;
      await oidc.fetchUserInfo(rp.config, tokens.access_token, account);
      return during;
    };
    expect(await awaited(new Browser(measured))).toBe(6);
    await measured.identity.settled();
    expect(await awaited(new Browser(measured))).toBe(4);
    await measured.close();
    await close();
  });

  test('asks for no consent the next time, until more is asked for', async () => {
    await house.client('again');
    const rp = await RelyingParty.of(house, 'again');
    const account = (await house.account()).metadata.name;
    const browser = new Browser(house);
    await rp.signIn(browser, { account, scopes: ['openid', 'email'] });
    const begun = await rp.begin();
    expect((await browser.go(begun.url)).location?.pathname).toBe('/cb');
    const other = new Browser(house);
    const login = await other.go((await rp.begin()).url);
    const { returnTo } = await other.act(nameIn(login.url.pathname), { account });
    const back = await other.go(returnTo);
    expect(back.location?.pathname).toBe('/cb');
    const more = await browser.go(
      (await rp.begin({ scope: 'openid offline_access', prompt: 'consent' })).url,
    );
    expect(more.url.pathname).toMatch(/^\/api\/v1beta1\/interactions\//);
  });

  test('keeps a rejected scope rejected, and asks again for a withdrawn consent', async () => {
    await house.client('picky');
    const rp = await RelyingParty.of(house, 'picky');
    const account = (await house.account()).metadata.name;
    const browser = new Browser(house);
    const tokens = await rp.signIn(browser, { account, scopes: ['openid', 'email'] });
    expect(tokens.scope).toBe('openid email');
    expect(await oidc.fetchUserInfo(rp.config, tokens.access_token, account)).not.toHaveProperty(
      'name',
    );
    const name = grantName(account, 'picky');
    await house.store.change(house.store.systemCall(), (tx) => tx.delete(Grant, name));
    await expect(oidc.fetchUserInfo(rp.config, tokens.access_token, account)).rejects.toThrow();
    const asked = await browser.go((await rp.begin()).url);
    expect(asked.url.pathname).toMatch(/^\/api\/v1beta1\/interactions\//);
  });

  test('notes in the Grant which claims left, never their values', async () => {
    await house.client('noted');
    const rp = await RelyingParty.of(house, 'noted');
    const account = (await house.account('noted@example.test')).metadata.name;
    const tokens = await rp.signIn(new Browser(house), { account });
    await oidc.fetchUserInfo(rp.config, tokens.access_token, account);
    const grant = (await house.store.reader(Grant).get(grantName(account, 'noted')))!;
    expect(grant.status.disclosures.map(({ scope, claims }) => [scope, claims])).toEqual([
      ['openid', ['sub', 'acr', 'amr', 'auth_time']],
      ['profile', ['name', 'preferred_username', 'given_name', 'updated_at']],
      ['email', ['email', 'email_verified']],
    ]);
    expect(JSON.stringify(grant)).not.toContain('noted@example.test');
    expect(grant.internal.decision).toBe(1);
  });

  test('reports to the Client that the person declined, with the issuer', async () => {
    await house.client('declined');
    const rp = await RelyingParty.of(house, 'declined');
    const begun = await rp.begin();
    const back = await new Browser(house).authorize(begun.url, { cancel: true });
    expect(Object.fromEntries(back.location!.searchParams)).toMatchObject({
      error: 'access_denied',
      state: begun.state,
      iss: house.baseURL,
    });
  });

  test('starts afresh when the way back is followed too early', async () => {
    await house.client('early');
    const rp = await RelyingParty.of(house, 'early');
    const browser = new Browser(house);
    const name = nameIn((await browser.go((await rp.begin()).url)).url.pathname);
    const { returnTo } = JSON.parse(
      (await browser.request(`/api/v1beta1/interactions/${name}/look`)).text,
    ) as { returnTo: string };
    const fresh = nameIn((await browser.go(returnTo)).url.pathname);
    const old = (await house.store.reader(Interaction).get(name))!;
    expect(old.status).toMatchObject({ phase: 'Aborted', next: fresh });
    expect(old.internal).toMatchObject({ aborted: 'Superseded' });
  });

  test('hands its result over again without harm', async () => {
    await house.client('twice');
    const rp = await RelyingParty.of(house, 'twice');
    const account = (await house.account()).metadata.name;
    const browser = new Browser(house);
    const name = nameIn((await browser.go((await rp.begin()).url)).url.pathname);
    const { returnTo } = await browser.act(name, { account });
    for (let i = 0; i < 3; i += 1) await browser.request(`/api/v1beta1/interactions/${name}/look`);
    const second = await browser.go(returnTo);
    await browser.act(nameIn(second.url.pathname));
    const { returnTo: end } = JSON.parse(
      (await browser.request(`/api/v1beta1/interactions/${nameIn(second.url.pathname)}/look`)).text,
    ) as { returnTo: string };
    expect((await browser.go(end)).location?.searchParams.get('code')).toBeTruthy();
    expect((await browser.go(end)).status).toBe(400);
    expect(
      (await browser.request(`/api/v1beta1/interactions/${nameIn(second.url.pathname)}/look`))
        .status,
    ).toBe(200);
  });

  test('of a first party asks for no consent and still leaves a Grant', async () => {
    await house.client('ours', { firstParty: true });
    const rp = await RelyingParty.of(house, 'ours');
    const account = (await house.account()).metadata.name;
    const browser = new Browser(house);
    const begun = await rp.begin();
    const login = await browser.go(begun.url);
    const { returnTo } = await browser.act(nameIn(login.url.pathname), { account });
    const back = await browser.go(returnTo);
    const tokens = await rp.redeem(back.location!, begun);
    expect(tokens.scope).toBe('openid profile email');
    const grant = (await house.store.reader(Grant).get(grantName(account, 'ours')))!;
    expect(grant.spec.scopes).toEqual(['openid', 'profile', 'email']);
    const next = await rp.signIn(browser, {});
    expect(next.scope).toBe('openid profile email');
    expect(
      (await house.store.reader(Grant).get(grantName(account, 'ours')))!.internal.decision,
    ).toBeGreaterThan(0);
  });

  test('as another account ends the session of the first', async () => {
    await house.client('shared');
    const rp = await RelyingParty.of(house, 'shared');
    const [one, two] = [
      (await house.account()).metadata.name,
      (await house.account()).metadata.name,
    ];
    const browser = new Browser(house);
    await rp.signIn(browser, { account: one });
    const login = await browser.go((await rp.begin({ prompt: 'login' })).url);
    const { returnTo } = await browser.act(nameIn(login.url.pathname), { account: two });
    const switching = await browser.go(returnTo);
    expect(switching.text).toContain('document.forms[0].submit()');
    const policy = switching.headers.get('content-security-policy')!;
    expect(policy).toMatch(/script-src 'self' 'sha256-/);
    expect(policy).toContain(`form-action 'self' https://rp.example.test`);
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(switching.text)![1]!;
    const out = await browser.post('/oauth2/logout/confirm', { xsrf, logout: 'yes' });
    const consent = await browser.go(out.location!);
    expect(await house.sessions(one)).toEqual([]);
    await browser.act(nameIn(consent.url.pathname));
    expect((await house.sessions(two)).length).toBe(1);
  });

  test('by passkey says so, and the projection too', async () => {
    await house.client('keys');
    const rp = await RelyingParty.of(house, 'keys');
    const account = (await house.account()).metadata.name;
    const tokens = await rp.signIn(new Browser(house), { account, method: 'Passkey' });
    expect(tokens.claims()).toMatchObject({ acr: 'phr', amr: ['pop', 'user', 'mfa'] });
    const [session] = await house.sessions(account);
    expect(session!.status).toMatchObject({
      account,
      methods: ['Passkey'],
      assurance: 'phr',
      client: { browser: 'Firefox', os: 'Linux', device: 'Desktop' },
      clients: [{ name: 'keys', displayName: 'The keys' }],
    });
  });

  test('puts wanted claims into the ID token, and no others', async () => {
    await house.client('wants', { idTokenClaims: ['email'], idTokenSignedResponseAlg: 'RS256' });
    const rp = await RelyingParty.of(house, 'wants', {
      metadata: { id_token_signed_response_alg: 'RS256' },
    });
    const account = (await house.account('wants@example.test')).metadata.name;
    const tokens = await rp.signIn(new Browser(house), { account });
    expect(tokens.claims()).toMatchObject({ email: 'wants@example.test', sub: account });
    expect(tokens.claims()).not.toHaveProperty('name');
  });

  test('has no claims of the person in the ID token of a Client that wants none', async () => {
    await house.client('spare', { idTokenClaims: [] });
    const rp = await RelyingParty.of(house, 'spare');
    const account = (await house.account('spare@example.test')).metadata.name;
    const tokens = await rp.signIn(new Browser(house), { account });
    expect(tokens.claims()).toHaveProperty('sub', account);
    for (const claim of ['email', 'email_verified', 'name']) {
      expect(tokens.claims()).not.toHaveProperty(claim);
    }
  });

  test('gives pairwise subjects, one per sector and always the same', async () => {
    await house.client('pair', { subjectType: 'pairwise' });
    const rp = await RelyingParty.of(house, 'pair');
    const account = (await house.account()).metadata.name;
    const one = await rp.signIn(new Browser(house), { account });
    const two = await rp.signIn(new Browser(house), { account });
    expect(one.claims()!.sub).toMatch(/^[\w-]{43}$/);
    expect(two.claims()!.sub).toBe(one.claims()!.sub);
    expect(await oidc.fetchUserInfo(rp.config, one.access_token, one.claims()!.sub)).toMatchObject({
      sub: one.claims()!.sub,
    });
  });
});
