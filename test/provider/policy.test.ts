import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import * as oidc from 'openid-client';
import { Interaction } from '../../kinds/interaction/interaction.js';
import { Account } from '../../kinds/people/account/account.js';
import { Session } from '../../kinds/people/session/session.js';
import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import { clock } from '../support/clock.js';
import { Browser } from './support/browser.js';
import { House } from './support/fixture.js';
import { RelyingParty } from './support/relyingparty.js';

let house: House;
let rule: (question: AuthorizationAttributes) => boolean = () => true;
beforeAll(async () => {
  house = await House.open({
    authorize: (question) => ({
      allowed: rule(question),
      reasons: rule(question) ? [] : [{ rule: 'r', message: 'Not on <Sundays>.' }],
      name: 'd-1',
    }),
  });
});
beforeEach(() => {
  rule = () => true;
});
afterAll(async () => {
  expect(house.identity.counts.get('server_error') ?? 0).toBe(0);
  await house.close();
});

const nameIn = (path: string): string => /interactions\/([a-z2-7]{32})/.exec(path)![1]!;
async function signedIn(name: string): Promise<{
  rp: RelyingParty;
  browser: Browser;
  account: string;
  tokens: Awaited<ReturnType<RelyingParty['signIn']>>;
}> {
  await house.client(name);
  const rp = await RelyingParty.of(house, name);
  const account = (await house.account()).metadata.name;
  const browser = new Browser(house);
  return { rp, browser, account, tokens: await rp.signIn(browser, { account }) };
}

describe('a live session that policy', () => {
  test('refuses ends in ConsentRequired with the rule’s words', async () => {
    const { rp, browser } = await signedIn('sundays');
    rule = (question) => question.action !== 'signIn';
    const silent = await browser.go((await rp.begin({ prompt: 'none' })).url);
    expect(silent.location!.searchParams.get('error')).toBe('access_denied');
    const shown = await browser.go((await rp.begin()).url);
    const record = (await house.store.reader(Interaction).get(nameIn(shown.url.pathname)))!;
    expect(record.status).toMatchObject({
      phase: 'ConsentRequired',
      refusal: { message: 'Not on <Sundays>.', policyDecision: 'd-1' },
    });
    const back = await browser.authorize((await rp.begin()).url, { cancel: true });
    expect(back.location!.searchParams.get('error')).toBe('access_denied');
  });

  test('wants stronger is asked to sign in again, and a passkey settles it', async () => {
    const { rp, browser, account } = await signedIn('strong');
    rule = ({ action, facts }) => action !== 'signIn' || facts?.assurance === 'phr';
    const silent = await browser.go((await rp.begin({ prompt: 'none' })).url);
    expect(silent.location!.searchParams.get('error')).toBe('login_required');
    const tokens = await rp.signIn(browser, { account, method: 'Passkey' });
    expect(tokens.claims()).toMatchObject({ acr: 'phr' });
    expect(
      (await browser.go((await rp.begin()).url)).location!.searchParams.get('code'),
    ).toBeTruthy();
  });

  test('belongs to an account that is gone asks for a new sign-in instead of failing', async () => {
    const { rp, browser, account } = await signedIn('gone');
    await house.store.change(house.store.systemCall(), (tx) =>
      tx.update(Account, account, ({ status }) => {
        status.disabledTimestamp = '2026-01-01T00:00:00Z';
      }),
    );
    const silent = await browser.go((await rp.begin({ prompt: 'none' })).url);
    expect(silent.location!.searchParams.get('error')).toBe('login_required');
    const shown = await browser.go((await rp.begin()).url);
    expect(
      (await house.store.reader(Interaction).get(nameIn(shown.url.pathname)))!.status.phase,
    ).toBe('LoginRequired');
    expect(await house.who(browser.cookieFor('/'))).toBeUndefined();
  });
});

describe('a scope that policy refuses', () => {
  test('is not released any more, agreed or not', async () => {
    const { rp, account, tokens } = await signedIn('released');
    rule = (question) => question.action !== 'share' || question.facts?.scope !== 'email';
    expect(await oidc.fetchUserInfo(rp.config, tokens.access_token, account)).toEqual({
      sub: account,
      name: 'Ada <Lovelace>',
      given_name: 'Ada',
      updated_at: expect.any(Number),
    });
  });

  test('stays out of a new copy, without a question where it is optional', async () => {
    const { rp, account } = await signedIn('copied');
    rule = (question) => question.action !== 'share' || question.facts?.scope !== 'email';
    const other = new Browser(house);
    const begun = await rp.begin();
    const { returnTo } = await other.act(nameIn((await other.go(begun.url)).url.pathname), {
      account,
    });
    const tokens = await rp.redeem((await other.go(returnTo)).location!, begun);
    expect(tokens.scope).toBe('openid profile');
  });

  test('asks again where the Client requires it', async () => {
    await house.client('requiring', {
      scopes: [
        { name: 'openid', required: true },
        { name: 'email', required: true },
      ],
    });
    const rp = await RelyingParty.of(house, 'requiring');
    const account = (await house.account()).metadata.name;
    await rp.signIn(new Browser(house), { account }, { scope: 'openid email' });
    rule = (question) => question.action !== 'share' || question.facts?.scope !== 'email';
    const other = new Browser(house);
    const { returnTo } = await other.act(
      nameIn((await other.go((await rp.begin({ scope: 'openid email' })).url)).url.pathname),
      { account },
    );
    const shown = await other.go(returnTo);
    expect(
      (await house.store.reader(Interaction).get(nameIn(shown.url.pathname)))!.status.phase,
    ).toBe('ConsentRequired');
  });
});

describe('a refresh', () => {
  const offline = async (name: string) => {
    await house.client(name, { type: 'Public' });
    const [rp, browser, account] = [
      await RelyingParty.of(house, name, { public: true }),
      new Browser(house),
      (await house.account()).metadata.name,
    ];
    return {
      rp,
      browser,
      account,
      tokens: await rp.signIn(
        browser,
        { account, method: 'Passkey' },
        { scope: 'openid email offline_access', prompt: 'consent' },
      ),
    };
  };
  const refusing = (asked: string): void => {
    rule = ({ action, facts }) =>
      !(action === asked || (action === 'share' && facts?.scope === asked));
  };

  test('is refused while policy refuses the sign-in, and the token stays good', async () => {
    const { rp, tokens } = await offline('away');
    for (const asked of ['signIn', 'offline_access']) {
      refusing(asked);
      await expect(oidc.refreshTokenGrant(rp.config, tokens.refresh_token!)).rejects.toMatchObject({
        error: 'invalid_grant',
        status: 400,
      });
    }
    rule = () => true;
    const next = await oidc.refreshTokenGrant(rp.config, tokens.refresh_token!);
    refusing('signIn');
    clock.own();
    clock.advance(31_000);
    await expect(oidc.refreshTokenGrant(rp.config, tokens.refresh_token!)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    rule = () => true;
    clock.release();
    await expect(oidc.refreshTokenGrant(rp.config, next.refresh_token!)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  test('is evaluated as the sign-in that it comes from, even after the session has ended', async () => {
    const { rp, browser, account, tokens } = await offline('behind');
    const session = (await house.store.reader(Session).list(account))[0]!;
    await house.endSession(session.metadata.name);
    expect(await house.who(browser.cookieFor('/'))).toBeUndefined();
    const seen: AuthorizationAttributes[] = [];
    rule = (question) => {
      seen.push(question);
      return true;
    };
    await oidc.refreshTokenGrant(rp.config, tokens.refresh_token!);
    const facts = {
      client: 'behind',
      account,
      methods: ['Passkey'],
      assurance: 'phr',
      authenticated: session.internal.loginSeconds,
    };
    expect(seen.find(({ action }) => action === 'signIn')).toMatchObject({
      facts,
      caller: { type: 'Account', account },
    });
    expect(
      seen.find(
        ({ action, facts: shared }) => action === 'share' && shared?.scope === 'offline_access',
      ),
    ).toMatchObject({ facts });
  });

  test('of a person who has signed in again since is evaluated as the later sign-in', async () => {
    const { rp, browser, account } = await offline('again');
    await rp.signIn(browser, { account, method: 'EmailCode' }, { prompt: 'login' });
    const tokens = await rp.signIn(
      browser,
      { account },
      { scope: 'openid email offline_access', prompt: 'consent' },
    );
    const seen: AuthorizationAttributes[] = [];
    rule = (question) => {
      seen.push(question);
      return true;
    };
    await oidc.refreshTokenGrant(rp.config, tokens.refresh_token!);
    expect(seen.find(({ action }) => action === 'signIn')?.facts).toMatchObject({
      methods: ['EmailCode'],
      assurance: 'urn:vestibule:acr:email',
    });
  });
});

describe('a Client created again under an old name', () => {
  test('starts without consent', async () => {
    const { Client } = await import('../../kinds/apps/client/client.js');
    const { rp, browser } = await signedIn('reborn');
    await house.store.change(house.store.systemCall(), async (tx) => {
      await tx.delete(Client, 'reborn');
    });
    await house.client('reborn');
    const shown = await browser.go((await rp.begin()).url);
    expect(
      (await house.store.reader(Interaction).get(nameIn(shown.url.pathname)))!.status.phase,
    ).toBe('ConsentRequired');
  });
});
