import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as jose from 'jose';
import * as oidc from 'openid-client';
import { Grant, grantName } from '../../kinds/apps/grant.js';
import { Session } from '../../kinds/people/session/session.js';
import { prefixRange } from '../../storage/storage.js';
import { expectFor } from '../support/expect-for.js';
import { Browser } from './support/browser.js';
import { House, until } from './support/fixture.js';
import { outcome, RelyingParty } from './support/relyingparty.js';

let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterAll(async () => {
  expect(house.identity.counts.get('server_error') ?? 0).toBe(0);
  await house.close();
});

/** A Client's endpoint that is notified of sign-outs; answers each call with the next status. */
class Listener {
  readonly tokens: string[] = [];
  readonly statuses: number[] = [];
  readonly #server: Server;
  uri = '';
  constructor() {
    this.#server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += String(chunk);
      });
      request.on('end', () => {
        this.tokens.push(new URLSearchParams(body).get('logout_token')!);
        response.writeHead(this.statuses.shift() ?? 200).end();
      });
    });
  }
  async open(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    this.uri = `http://localhost:${(this.#server.address() as AddressInfo).port}/logout`;
    return this;
  }
  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const xsrfIn = (text: string): string => /name="xsrf" value="([^"]+)"/.exec(text)![1]!;
const wayOn = '<a class="button main" href="/account">Open your account</a>';
/** The links and buttons of a page, without its footer. */
const pressable = (text: string): string[] =>
  /<main[^]*<\/main>/.exec(text)![0].match(/<a\b[^]*?<\/a>|<button/g) ?? [];

describe('signing out on our page', () => {
  test('asks first, then ends the session, and leads back to the Client', async () => {
    const after = 'https://rp.example.test/cb?signed-out';
    await house.client('leaving', { postLogoutRedirectURIs: [after] });
    const rp = await RelyingParty.of(house, 'leaving');
    const account = (await house.account()).metadata.name;
    const browser = new Browser(house);
    const tokens = await rp.signIn(browser, { account });
    const url = oidc.buildEndSessionUrl(rp.config, {
      id_token_hint: tokens.id_token!,
      post_logout_redirect_uri: after,
      state: 'kept',
    });
    const asked = await browser.go(url);
    expect(asked.text).toContain('Sign out?');
    expect(asked.text).not.toContain('<script');
    expect(await house.who(browser.cookieFor('/'))).toMatchObject({ account });
    expect(asked.headers.get('content-security-policy')).toContain(
      `form-action 'self' https://rp.example.test`,
    );
    const done = await browser.post('/oauth2/logout/confirm', {
      xsrf: xsrfIn(asked.text),
      logout: 'yes',
    });
    expect([done.status, done.location!.href]).toEqual([303, `${after}=&state=kept`]);
    expect(browser.cookieFor('/')).toMatch(/^vestibule-browser=[A-Za-z0-9_-]{43}$/);
    expect(await house.sessions(account)).toEqual([]);
    await expect(oidc.fetchUserInfo(rp.config, tokens.access_token, account)).rejects.toThrow();
  });

  test('does nothing when the person stays, and nothing by a GET', async () => {
    await house.client('staying');
    const rp = await RelyingParty.of(house, 'staying');
    const account = (await house.account()).metadata.name;
    const browser = new Browser(house);
    await rp.signIn(browser, { account });
    const asked = await browser.go('/oauth2/logout');
    expect((await browser.request('/oauth2/logout/confirm')).status).toBe(404);
    expect(
      (await browser.post('/oauth2/logout/confirm', { xsrf: 'guessed', logout: 'yes' })).status,
    ).toBe(400);
    await browser.go('/oauth2/logout');
    expect(asked.status).toBe(200);
    const again = await browser.go('/oauth2/logout');
    await browser.post('/oauth2/logout/confirm', { xsrf: xsrfIn(again.text) });
    expect(await house.who(browser.cookieFor('/'))).toMatchObject({ account });
  });
});

describe('a request to sign out that cannot be believed', () => {
  test('asks, says what is wrong, repeats nothing of it, signs out and leads nowhere', async () => {
    for (const name of ['wrong-hint', 'another-app']) {
      await house.client(name, { postLogoutRedirectURIs: ['https://rp.example.test/bye'] });
    }
    const rp = await RelyingParty.of(house, 'wrong-hint');
    const account = (await house.account()).metadata.name;
    const browser = new Browser(house);
    const { id_token: token } = await rp.signIn(browser, { account });
    const claims = jose.decodeJwt(token!);
    const { privateKey } = await jose.generateKeyPair('ES256');
    const signed = (of: jose.JWTPayload): Promise<string> =>
      new jose.SignJWT(of).setProtectedHeader({ alg: 'ES256', kid: 'other' }).sign(privateKey);
    const [head, body, signature] = token!.split('.') as [string, string, string];
    const encoded = (value: unknown): string =>
      Buffer.from(JSON.stringify(value)).toString('base64url');
    const altered = `${head}.${encoded({ ...claims, sub: 'x' })}.${signature}`;
    const unknown = 'of an app that is not known here';
    const foreign = 'that this service did not issue';
    const wrong: [string, string][] = [
      ['id_token_hint=nonsense', 'that cannot be read'],
      ['id_token_hint=a.b.c', 'that cannot be read'],
      [`id_token_hint=${'x'.repeat(5_000)}`, 'that cannot be read'],
      [`id_token_hint=${encoded({})}.${encoded({ aud: ['wrong-hint'] })}.x`, 'that cannot be read'],
      [`id_token_hint=${await signed({ ...claims, aud: 'no-such-app' })}`, unknown],
      [
        `id_token_hint=${token}&client_id=another-app`,
        'of another app than the one that it says it is',
      ],
      [`id_token_hint=${await signed(claims)}`, foreign],
      [`id_token_hint=${altered}`, foreign],
      [`id_token_hint=${encoded({ alg: 'none' })}.${body}.`, foreign],
      [`id_token_hint=${await signed({ ...claims, iss: 'https://evil.test' })}`, foreign],
      [
        `id_token_hint=${token}&post_logout_redirect_uri=https://evil.test`,
        'that is not one of its own',
      ],
      [
        'client_id=wrong-hint&post_logout_redirect_uri=https://evil.test',
        'that is not one of its own',
      ],
      ['client_id=no-such-app', 'This app is not known here'],
      ['client_id=wrong-hint&client_id=another-app', 'This request cannot be answered'],
    ];
    for (const [query, words] of wrong) {
      const more = query.includes('redirect')
        ? ''
        : '&post_logout_redirect_uri=https://rp.example.test/bye';
      const { status, text } = await browser.go(`/oauth2/logout?${query}${more}&state=kept`);
      expectFor(query, [status, text.includes(words), text.includes('Sign out?')]).toEqual([
        200,
        true,
        true,
      ]);
      for (const sent of ['evil.test', 'nonsense', 'no-such-app', token!]) {
        expect(text).not.toContain(sent);
      }
      expect(await house.who(browser.cookieFor('/'))).toMatchObject({ account });
    }
    for (const [query] of wrong) {
      const own = new Browser(house);
      await rp.signIn(own, { account });
      const asked = await own.go(`/oauth2/logout?${query}&state=kept`);
      const done = await own.post('/oauth2/logout/confirm', {
        xsrf: xsrfIn(asked.text),
        logout: 'yes',
      });
      expectFor(query, done.location!.origin).toEqual(new URL(house.baseURL).origin);
      const { text } = await own.go(done.location!);
      expect(text).toContain('You are signed out');
      expectFor(query, pressable(text)).toEqual([wayOn]);
      expect(await house.who(own.cookieFor('/'))).toBeUndefined();
    }
  });
});

describe('notifying Clients', () => {
  test('each Client with an address is notified by a fresh signed token', async () => {
    const listener = await new Listener().open();
    await house.client('notified-app', { backchannelLogoutURI: listener.uri });
    await house.client('silent-app');
    const [notified, silent] = [
      await RelyingParty.of(house, 'notified-app'),
      await RelyingParty.of(house, 'silent-app'),
    ];
    for (const how of ['page', 'api']) {
      const account = (await house.account()).metadata.name;
      const browser = new Browser(house);
      const tokens = await notified.signIn(browser, { account });
      await silent.signIn(browser, {});
      const [session] = await house.sessions(account);
      if (how === 'api') {
        await house.endSession(session!.metadata.name);
      } else {
        await browser.post('/oauth2/logout/confirm', {
          xsrf: xsrfIn((await browser.go('/oauth2/logout')).text),
          logout: 'yes',
        });
      }
      await until(async () => listener.tokens.length > 0, 'the logout token');
      const jwks = jose.createRemoteJWKSet(new URL(`${house.address}/oauth2/jwks`));
      const { payload, protectedHeader } = await jose.jwtVerify(listener.tokens.pop()!, jwks, {
        issuer: house.baseURL,
        audience: 'notified-app',
        typ: 'logout+jwt',
      });
      expect(payload).toMatchObject({
        sub: account,
        sid: tokens.claims()!.sid,
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
        jti: expect.any(String),
      });
      expect(payload.exp! - payload.iat!).toBeLessThanOrEqual(120);
      expect(payload).not.toHaveProperty('nonce');
      expect(protectedHeader.alg).toBe('ES256');
      await until(
        async () => (await house.sessions(account)).length === 0,
        'the end of the session',
      );
      expect(await house.who(browser.cookieFor('/'))).toBeUndefined();
      expect(listener.tokens).toEqual([]);
    }
    listener.close();
  });

  test('a Client that is down stays Retrying while the session is over already', async () => {
    const listener = await new Listener().open();
    listener.statuses.push(500);
    await house.client('down', { backchannelLogoutURI: listener.uri });
    await house.client('silent');
    const [down, silent] = [
      await RelyingParty.of(house, 'down'),
      await RelyingParty.of(house, 'silent'),
    ];
    const account = (await house.account()).metadata.name;
    const browser = new Browser(house);
    await down.signIn(browser, { account });
    await silent.signIn(browser, {});
    const [session] = await house.sessions(account);
    await house.endSession(session!.metadata.name);
    expect(await house.who(browser.cookieFor('/'))).toBeUndefined();
    const ending = (await house.sessions(account))[0]!;
    expect(ending.metadata.deletionTimestamp).toBeTruthy();
    expect(ending.status.signOut!.clients).toEqual(
      expect.arrayContaining([
        { name: 'down', state: 'Retrying' },
        { name: 'silent', state: 'Unsupported' },
      ]),
    );
    await until(async () => listener.tokens.length === 1, 'the first try');
    const first = listener.tokens[0]!;
    await until(async () => listener.tokens.length === 2, 'the second try');
    expect(jose.decodeJwt(listener.tokens[1]!).jti).not.toBe(jose.decodeJwt(first).jti);
    await until(async () => (await house.sessions(account)).length === 0, 'the end');
    listener.close();
  });

  test('ending one of two browsers leaves the other signed in', async () => {
    await house.client('both');
    const rp = await RelyingParty.of(house, 'both');
    const account = (await house.account()).metadata.name;
    const [here, there] = [new Browser(house), new Browser(house)];
    const one = await rp.signIn(here, { account });
    const two = await rp.signIn(there, { account });
    const caller = await house.who(here.cookieFor('/'));
    await house.endSession((caller as { session: string }).session);
    await expect(oidc.fetchUserInfo(rp.config, one.access_token, account)).rejects.toThrow();
    expect(await oidc.fetchUserInfo(rp.config, two.access_token, account)).toMatchObject({
      sub: account,
    });
    expect(await house.who(there.cookieFor('/'))).toMatchObject({ account });
    expect((await outcome(oidc.refreshTokenGrant(rp.config, one.access_token))).error).toBe(
      'invalid_grant',
    );
  });
});

test('withdrawing consent ends the tokens of every browser', async () => {
  await house.client('widespread');
  const rp = await RelyingParty.of(house, 'widespread');
  const account = (await house.account()).metadata.name;
  const tokens: string[] = [];
  for (let i = 0; i < 45; i += 1) {
    tokens.push(
      (
        await rp.signIn(
          new Browser(house),
          { account },
          { scope: 'openid offline_access', prompt: 'consent' },
        )
      ).refresh_token!,
    );
  }
  const name = grantName(account, 'widespread');
  await house.store.change(house.store.systemCall(), (tx) => tx.delete(Grant, name));
  await until(
    async () => (await house.storage.list(prefixRange(`oidc/copy/${name}/`))).entries.length === 0,
    'the end of all copies',
  );
  for (const token of tokens) {
    expect((await outcome(oidc.refreshTokenGrant(rp.config, token))).error).toBe('invalid_grant');
  }
});

test('narrowing what was agreed to ends a copy that was made while it was on its way', async () => {
  await house.client('overtaken');
  const rp = await RelyingParty.of(house, 'overtaken');
  const account = (await house.account()).metadata.name;
  const name = grantName(account, 'overtaken');
  await rp.signIn(new Browser(house), { account });
  const onItsWay = await house.identity.ports().revokeGrants([name]);
  const tokens = await rp.signIn(new Browser(house), { account });
  await house.store.commit([
    onItsWay,
    await house.store.stage(Grant, name, (old) => ({
      ...old!,
      spec: { scopes: ['openid'] },
      internal: { ...old!.internal, decision: old!.internal.decision + 1 },
    })),
  ]);
  await until(
    async () => (await house.storage.list(prefixRange(`oidc/copy/${name}/`))).entries.length === 0,
    'the end of all copies',
  );
  await expect(oidc.fetchUserInfo(rp.config, tokens.access_token, account)).rejects.toThrow();
  const next = await rp.signIn(new Browser(house), { account });
  expect(await oidc.fetchUserInfo(rp.config, next.access_token, account)).toMatchObject({
    sub: account,
  });
});

describe('a session', () => {
  test('has a new id at each sign-in, and the old one is dead at once', async () => {
    await house.client('renewing');
    const rp = await RelyingParty.of(house, 'renewing');
    const account = (await house.account()).metadata.name;
    const browser = new Browser(house);
    await rp.signIn(browser, { account });
    const before = browser.cookieFor('/')!;
    await rp.signIn(browser, { account }, { prompt: 'login' });
    const after = browser.cookieFor('/')!;
    expect(after).not.toBe(before);
    expect(await house.who(before)).toBeUndefined();
    expect(await house.who(after)).toMatchObject({
      type: 'Account',
      account,
      session: expect.stringContaining(`${account}-`),
      methods: ['EmailCode'],
    });
    expect((await house.sessions(account)).length).toBe(1);
  });

  test('is not written again when nothing but its end moved a little', async () => {
    await house.client('quiet');
    const rp = await RelyingParty.of(house, 'quiet');
    const account = (await house.account()).metadata.name;
    const browser = new Browser(house);
    await rp.signIn(browser, { account });
    await rp.signIn(browser, {});
    const [before] = await house.sessions(account);
    await rp.signIn(browser, {});
    const [after] = await house.sessions(account);
    expect(after!.metadata.resourceVersion).toBe(before!.metadata.resourceVersion);
  });

  test('never shows its cookie’s value, its uid or a grant in the object', async () => {
    await house.client('hiding');
    const rp = await RelyingParty.of(house, 'hiding');
    const account = (await house.account()).metadata.name;
    const browser = new Browser(house);
    await rp.signIn(browser, { account });
    const stored = (await house.store.stored(
      Session,
      (
        await house.sessions(account)
      )[0]!.metadata.name,
    ))!;
    const value = browser.jar.get('vestibule-session /')!.value;
    expect(stored.wire().toString()).not.toContain(value);
    expect(JSON.stringify(stored.object)).not.toContain(value);
    expect(stored.object.status).not.toHaveProperty('uid');
  });

  test('beyond fifty of an account ends the least recently used', async () => {
    await house.client('many');
    const rp = await RelyingParty.of(house, 'many');
    const account = (await house.account()).metadata.name;
    const first = new Browser(house);
    await rp.signIn(first, { account }, { scope: 'openid' });
    await new Promise((resolve) => setTimeout(resolve, 1100));
    for (let i = 0; i < 49; i += 1) {
      await rp.signIn(new Browser(house), { account }, { scope: 'openid' });
    }
    await house.identity.settled();
    expect(await house.who(first.cookieFor('/'))).toMatchObject({ account });
    await rp.signIn(new Browser(house), { account }, { scope: 'openid' });
    await house.identity.settled();
    expect(await house.sessions(account)).toHaveLength(50);
    expect(await house.who(first.cookieFor('/'))).toBeUndefined();
  });
});
