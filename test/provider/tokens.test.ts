import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as jose from 'jose';
import * as oidc from 'openid-client';
import type { ClientSpec } from '../../kinds/apps/client/client.js';
import { clock } from '../support/clock.js';
import { expectFor } from '../support/expect-for.js';
import { newAssertionKey } from '../support/people/assertion-key.js';
import { Browser } from './support/browser.js';
import { House, openStorage } from './support/fixture.js';
import { outcome, RelyingParty } from './support/relyingparty.js';

let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterAll(async () => {
  expect(house.identity.counts.get('server_error') ?? 0).toBe(0);
  await house.close();
});

const offline = { scope: 'openid email offline_access', prompt: 'consent' };

async function signedIn(
  name: string,
  parameters: Record<string, string> = offline,
  type: 'Public' | 'Confidential' = 'Confidential',
) {
  await house.client(name, { type });
  const rp = await RelyingParty.of(house, name, { public: type === 'Public' });
  const account = (await house.account()).metadata.name;
  const browser = new Browser(house);
  return { rp, account, browser, tokens: await rp.signIn(browser, { account }, parameters) };
}

describe('refresh tokens', () => {
  test('rotate, and the use of an old one ends the whole family (J2, in turn)', async () => {
    const { rp, tokens, account } = await signedIn('rotating', offline, 'Public');
    const second = await oidc.refreshTokenGrant(rp.config, tokens.refresh_token!);
    expect(second.refresh_token).not.toBe(tokens.refresh_token);
    clock.own();
    clock.advance(31_000);
    expect((await outcome(oidc.refreshTokenGrant(rp.config, tokens.refresh_token!))).error).toBe(
      'invalid_grant',
    );
    expect((await outcome(oidc.refreshTokenGrant(rp.config, second.refresh_token!))).error).toBe(
      'invalid_grant',
    );
    await expect(oidc.fetchUserInfo(rp.config, second.access_token, account)).rejects.toThrow();
  });

  test('of a Client that authenticates stay until the last third of their life', async () => {
    clock.own();
    const { rp, tokens } = await signedIn('steady');
    for (let i = 0; i < 3; i += 1) {
      expect(await oidc.refreshTokenGrant(rp.config, tokens.refresh_token!)).toMatchObject({
        refresh_token: tokens.refresh_token,
      });
    }
    const life = house.settings.limits.refreshTokenLifetime;
    clock.advance(0.6 * life);
    expect(await oidc.refreshTokenGrant(rp.config, tokens.refresh_token!)).toMatchObject({
      refresh_token: tokens.refresh_token,
    });
    clock.advance(0.2 * life);
    const renewed = await oidc.refreshTokenGrant(rp.config, tokens.refresh_token!);
    expect(renewed.refresh_token).not.toBe(tokens.refresh_token);
    clock.advance(0.6 * life);
    expect(await oidc.refreshTokenGrant(rp.config, renewed.refresh_token!)).toMatchObject({
      refresh_token: renewed.refresh_token,
    });
    clock.release();
  });

  const listed = ['openid', 'offline_access'].map((name) => ({ name, required: false }));
  const unlisted = [{ name: 'openid', required: true }];
  const grantTypes = ['authorization_code' as const];
  test.each<[string, Partial<ClientSpec>, Record<string, string>, string[] | undefined, boolean]>([
    ['agreed', { scopes: listed }, {}, undefined, true],
    ['agreed with prompt=consent', { scopes: listed }, { prompt: 'consent' }, undefined, true],
    ['of an app of the operator', { scopes: listed, firstParty: true }, {}, undefined, true],
    ['left out by the person', { scopes: listed }, {}, ['openid'], false],
    ['not in the scopes of the Client', { scopes: unlisted }, {}, undefined, false],
    ['not used by the Client', { scopes: listed, grantTypes }, {}, undefined, false],
    ['of a public Client', { scopes: listed, type: 'Public' }, {}, undefined, false],
    [
      'of a public Client with prompt=consent',
      { scopes: listed, type: 'Public' },
      { prompt: 'consent' },
      undefined,
      true,
    ],
  ])(
    'come with offline_access %s, also by a pushed request',
    async (what, spec, more, scopes, comes) => {
      const name = what.replaceAll(/[^a-z]/g, '-');
      await house.client(name, spec);
      const rp = await RelyingParty.of(house, name, { public: spec.type === 'Public' });
      const parameters = { scope: 'openid offline_access', ...more };
      for (const isPushed of [false, true]) {
        const account = (await house.account()).metadata.name;
        const begun = await rp.begin(parameters);
        const url = isPushed
          ? await oidc.buildAuthorizationUrlWithPAR(rp.config, begun.url.searchParams)
          : begun.url;
        const person = { account, ...(scopes && { scopes }) };
        const back = await new Browser(house).authorize(url, person);
        const tokens = await rp.redeem(back.location!, begun);
        expectFor(isPushed, [tokens.scope, tokens.refresh_token !== undefined]).toEqual([
          comes ? 'openid offline_access' : 'openid',
          comes,
        ]);
      }
    },
  );

  test('survive the sign-out of the session; access tokens bound to it do not', async () => {
    const { rp, tokens, account } = await signedIn('outliving');
    const bound = await signedIn('bound', { scope: 'openid email' });
    for (const name of [account, bound.account]) {
      for (const session of await house.sessions(name)) {
        await house.endSession(session.metadata.name);
      }
    }
    expect(
      (await oidc.refreshTokenGrant(rp.config, tokens.refresh_token!)).access_token,
    ).toBeTruthy();
    await expect(
      oidc.fetchUserInfo(bound.rp.config, bound.tokens.access_token, bound.account),
    ).rejects.toThrow();
  });

  test('of a disabled account are refused at once', async () => {
    const { rp, tokens, account } = await signedIn('disabled');
    const { Account } = await import('../../kinds/people/account/account.js');
    await house.store.change(house.store.systemCall(), (tx) =>
      tx.update(Account, account, ({ status }) => {
        status.disabledTimestamp = '2026-01-01T00:00:00Z';
      }),
    );
    expect((await outcome(oidc.refreshTokenGrant(rp.config, tokens.refresh_token!))).error).toBe(
      'invalid_grant',
    );
    await expect(oidc.fetchUserInfo(rp.config, tokens.access_token, account)).rejects.toThrow();
  });
});

describe('an authorization code', () => {
  test('used twice brings down the tokens of its first use', async () => {
    await house.client('reused');
    const rp = await RelyingParty.of(house, 'reused');
    const account = (await house.account()).metadata.name;
    const begun = await rp.begin();
    const back = await new Browser(house).authorize(begun.url, { account });
    const tokens = await rp.redeem(back.location!, begun);
    expect((await outcome(rp.redeem(back.location!, begun))).error).toBe('invalid_grant');
    await expect(oidc.fetchUserInfo(rp.config, tokens.access_token, account)).rejects.toThrow();
  });

  test('is of no use to another Client or without its verifier', async () => {
    await house.client('mine');
    await house.client('theirs');
    const [mine, theirs] = [
      await RelyingParty.of(house, 'mine'),
      await RelyingParty.of(house, 'theirs'),
    ];
    const account = (await house.account()).metadata.name;
    const browser = new Browser(house);
    const begun = await mine.begin();
    const back = await browser.authorize(begun.url, { account });
    expect((await outcome(theirs.redeem(back.location!, begun))).error).toBe('invalid_grant');
    const again = await mine.begin();
    const code = await browser.authorize(again.url, {});
    expect(
      (
        await outcome(
          mine.redeem(code.location!, { ...again, verifier: oidc.randomPKCECodeVerifier() }),
        )
      ).error,
    ).toBe('invalid_grant');
  });
});

describe('userinfo, revocation and introspection', () => {
  test('a revoked refresh token takes its access token along', async () => {
    const { rp, tokens, account } = await signedIn('revoking');
    await oidc.tokenRevocation(rp.config, tokens.refresh_token!);
    expect((await outcome(oidc.refreshTokenGrant(rp.config, tokens.refresh_token!))).error).toBe(
      'invalid_grant',
    );
    await expect(oidc.fetchUserInfo(rp.config, tokens.access_token, account)).rejects.toThrow();
  });

  test('introspection reports to a Client on its own tokens alone', async () => {
    const { rp, tokens, account } = await signedIn('asking');
    expect(await oidc.tokenIntrospection(rp.config, tokens.access_token)).toMatchObject({
      active: true,
      client_id: 'asking',
      sub: account,
    });
    await house.client('nosy');
    const nosy = await RelyingParty.of(house, 'nosy');
    expect(await oidc.tokenIntrospection(nosy.config, tokens.access_token)).toEqual({
      active: false,
    });
    await house.client('open', { type: 'Public' });
    const open = await RelyingParty.of(house, 'open', { public: true });
    expect(await oidc.tokenIntrospection(open.config, tokens.access_token)).toEqual({
      active: false,
    });
  });

  test('no Client revokes what was issued to another Client', async () => {
    const { rp, tokens, account } = await signedIn('victim');
    await house.client('vandal');
    await oidc.tokenRevocation(
      (await RelyingParty.of(house, 'vandal')).config,
      tokens.access_token,
    );
    expect(await oidc.fetchUserInfo(rp.config, tokens.access_token, account)).toMatchObject({
      sub: account,
    });
  });
});

describe('how Clients prove who they are', () => {
  const post = (name: string, secret: string) =>
    fetch(`${house.address}/oauth2/token`, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams({
        client_id: name,
        client_secret: secret,
        grant_type: 'refresh_token',
        refresh_token: 'x',
      }),
    });

  test('by the secret, never by its hash', async () => {
    await house.client('hashed');
    const hash = createHash('sha256').update('secret-of-hashed').digest('hex');
    const answers = [];
    for (const secret of [
      `hashed:sha256:${hash}`,
      `sha256:${hash}`,
      hash,
      'wrong',
      'secret-of-hashed',
    ]) {
      answers.push(((await (await post('hashed', secret)).json()) as { error: string }).error);
    }
    expect(answers).toEqual([
      'invalid_client',
      'invalid_client',
      'invalid_client',
      'invalid_client',
      'invalid_grant',
    ]);
  });

  test('wrong secrets are counted: the twenty-first in a quarter of an hour is 429', async () => {
    await house.client('guessed');
    for (let i = 0; i < 20; i += 1) expect((await post('guessed', `wrong ${i}`)).status).toBe(401);
    clock.own();
    clock.advance(600_000);
    const over = await post('guessed', 'wrong again');
    clock.release();
    expect(over.status).toBe(429);
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(270);
    expect(Number(over.headers.get('retry-after'))).toBeLessThanOrEqual(300);
  });

  test('by a signed assertion, for the issuer alone, once', async () => {
    const { privateKey, authentication } = newAssertionKey();
    await house.client('asserting', authentication);
    const assertion = (aud: string | string[]): Promise<string> =>
      new jose.SignJWT({})
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .setIssuer('asserting')
        .setSubject('asserting')
        .setAudience(aud)
        .setJti(oidc.randomState())
        .setIssuedAt()
        .setExpirationTime('1m')
        .sign(privateKey);
    const send = async (jwt: string): Promise<string> => {
      const body = new URLSearchParams({
        client_assertion: jwt,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        grant_type: 'refresh_token',
        refresh_token: 'x',
      });
      return (
        (await (
          await fetch(`${house.address}/oauth2/token`, {
            method: 'POST',
            body,
            headers: { accept: 'application/json' },
          })
        ).json()) as { error: string }
      ).error;
    };
    const good = await assertion(house.baseURL);
    expect(await send(good)).toBe('invalid_grant');
    expect(await send(good)).toBe('invalid_client');
    const audiences = [
      `${house.baseURL}/oauth2/token`,
      `${house.baseURL}/oauth2/introspect`,
      'https://evil.test',
      `${house.baseURL}/`,
      [house.baseURL],
      [house.baseURL, 'https://evil.test'],
    ];
    for (const audience of audiences) {
      expectFor(audience, await send(await assertion(audience))).toEqual('invalid_client');
    }
    const racing = await assertion(house.baseURL);
    const errors = await Promise.all(Array.from({ length: 10 }, () => send(racing)));
    expect(errors.filter((error) => error === 'invalid_grant')).toHaveLength(1);
  });
});

describe('DPoP and pushed requests', () => {
  test('a token bound to a key is nothing without it, and a proof counts once', async () => {
    await house.client('proving', { type: 'Public' });
    const rp = await RelyingParty.of(house, 'proving', { public: true });
    const account = (await house.account()).metadata.name;
    const handle = oidc.getDPoPHandle(rp.config, await oidc.randomDPoPKeyPair('ES256'));
    const begun = await rp.begin(offline);
    const back = await new Browser(house).authorize(begun.url, { account });
    const tokens = await rp.redeem(back.location!, begun, { DPoP: handle });
    expect(tokens.token_type).toBe('dpop');
    expect(
      await oidc.fetchUserInfo(rp.config, tokens.access_token, account, { DPoP: handle }),
    ).toMatchObject({ sub: account });
    await expect(oidc.fetchUserInfo(rp.config, tokens.access_token, account)).rejects.toThrow();
    const other = oidc.getDPoPHandle(rp.config, await oidc.randomDPoPKeyPair('ES256'));
    expect(
      (
        await outcome(
          oidc.refreshTokenGrant(rp.config, tokens.refresh_token!, undefined, { DPoP: other }),
        )
      ).error,
    ).toBe('invalid_grant');
    const next = await oidc.refreshTokenGrant(rp.config, tokens.refresh_token!, undefined, {
      DPoP: handle,
    });
    expect(next.refresh_token).toBe(tokens.refresh_token);
  });

  test('a pushed request is good once', async () => {
    await house.client('pushing');
    const rp = await RelyingParty.of(house, 'pushing');
    const account = (await house.account()).metadata.name;
    const browser = new Browser(house);
    await rp.signIn(browser, { account }, { scope: 'openid' });
    const begun = await rp.begin({ scope: 'openid' });
    const pushed = await oidc.buildAuthorizationUrlWithPAR(rp.config, begun.url.searchParams);
    expect([...pushed.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri']);
    const back = await browser.go(pushed);
    expect((await rp.redeem(back.location!, begun)).access_token).toBeTruthy();
    const again = await browser.go(pushed);
    expect(again.text).not.toContain('code=');
    expect(
      again.status === 400 || again.location?.searchParams.get('error') === 'invalid_request_uri',
    ).toBe(true);
  });
});

describe('a restart', () => {
  test('keeps sessions, grants and tokens; a raised epoch ends them', async () => {
    const kept = await openStorage();
    const first = await House.open({ storage: kept.storage });
    await first.client('lasting', { type: 'Public' });
    const rp = await RelyingParty.of(first, 'lasting', { public: true });
    const account = (await first.account()).metadata.name;
    const browser = new Browser(first);
    const tokens = await rp.signIn(browser, { account }, offline);
    const used = await oidc.refreshTokenGrant(rp.config, tokens.refresh_token!);
    const open = await rp.begin({ prompt: 'login' });
    await browser.go(open.url);
    await first.close();

    const second = await House.open({ storage: await kept.reopen(), baseURL: first.baseURL });
    browser.via = second.address;
    expect(await second.who(browser.cookieFor('/'))).toMatchObject({ type: 'Account', account });
    const back = await browser.go((await rp.begin({ scope: 'openid email' })).url);
    expect(back.location?.searchParams.get('code')).toBeTruthy();
    const refresh = (token: string) =>
      fetch(`${second.address}/oauth2/token`, {
        method: 'POST',
        headers: { accept: 'application/json' },
        body: new URLSearchParams({
          client_id: 'lasting',
          grant_type: 'refresh_token',
          refresh_token: token,
        }),
      });
    const third = await refresh(used.refresh_token!);
    expect(third.status).toBe(200);
    const { refresh_token: latest } = (await third.json()) as { refresh_token: string };
    expect((await refresh(tokens.refresh_token!)).status).toBe(400);
    expect((await refresh(latest)).status).toBe(400);
    await second.storage.commit([], [{ put: 'meta/epoch', value: Buffer.from('1') }]);
    await second.close();

    const revived = await House.open({ storage: await kept.reopen(), baseURL: first.baseURL });
    browser.via = revived.address;
    expect(await revived.who(browser.cookieFor('/'))).toBeUndefined();
    expect((await browser.go((await rp.begin()).url)).url.pathname).toMatch(
      /^\/api\/v1beta1\/interactions\//,
    );
    await revived.close();
    await kept.close();
  });
});
