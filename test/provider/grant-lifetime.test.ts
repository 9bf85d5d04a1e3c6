import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import * as oidc from 'openid-client';
import { Grant, grantName } from '../../kinds/apps/grant.js';
import { openEtcd } from '../../storage/etcd/etcd.js';
import { type Entry, prefixRange, type Storage, type Write } from '../../storage/storage.js';
import { startEtcd } from '../storage/etcd-server.js';
import { expectFor } from '../support/expect-for.js';
import { scaled } from '../support/patience.js';
import { stores } from '../support/stores.js';
import { Browser } from './support/browser.js';
import { House, openStorage } from './support/fixture.js';
import { outcome, RelyingParty } from './support/relyingparty.js';

const realNow = Date.now;
const day = 86_400_000;
/** Moves the clock that this process and the library read, in days from the real one. */
const at = (days: number): void => {
  Date.now = () => realNow() + days * day;
};

async function onEtcd() {
  const etcd = await startEtcd();
  const storage = await openEtcd({
    servers: [etcd.endpoint],
    prefix: '/grants/',
    requestTimeoutMs: scaled(2_500),
  });
  return { storage, close: () => storage.close().then(() => etcd.stop()) };
}

/** A storage whose commits wait for `before`. */
const withCommit = (
  storage: Storage,
  before: (writes: readonly Write[]) => Promise<void>,
): Storage =>
  new Proxy(storage, {
    get(target, name) {
      const commit: Storage['commit'] = async (checks, writes) => {
        await before(writes);
        return target.commit(checks, writes);
      };
      const member = name === 'commit' ? commit : Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });

describe.each(stores)('how long a copy of a consent lives, on %s', (store) => {
  let house: House;
  /** Runs before the next commit that writes a copy. */
  let first: (() => Promise<unknown>) | undefined;
  const closers: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    const opened = store === 'etcd' ? await onEtcd() : await openStorage();
    house = await House.open({ storage: withCommit(opened.storage, beforeCommit) });
    closers.push(
      () => house.close(),
      () => opened.close(),
    );
  });
  async function beforeCommit(writes: readonly Write[]): Promise<void> {
    if (!writes.some((write) => 'put' in write && write.put.startsWith('oidc/Grant/'))) return;
    const before = first;
    first = undefined;
    await before?.();
  }
  afterEach(() => {
    Date.now = realNow;
  });
  afterAll(async () => {
    for (const close of closers) await close();
  });

  const list = async (prefix: string): Promise<readonly Entry[]> =>
    (await house.storage.list(prefixRange(prefix))).entries;
  const live = async (prefix: string): Promise<readonly Entry[]> =>
    (await list(prefix)).filter(({ expires }) => expires! > Date.now());

  /** Signs a new person in; `use` asks for a code again, in the same browser and without a page. */
  async function signedIn(name: string, spec = {}, parameters: Record<string, string> = {}) {
    await house.client(name, spec);
    const rp = await RelyingParty.of(house, name);
    const account = (await house.account()).metadata.name;
    const browser = new Browser(house);
    const scope = 'openid offline_access';
    const tokens = await rp.signIn(browser, { account }, { scope, ...parameters });
    const use = async (asked: Record<string, string> = {}) => {
      const begun = await rp.begin({ scope: 'openid', prompt: 'none', ...asked });
      return rp.redeem((await browser.go(begun.url)).location!, begun);
    };
    const copies = `oidc/copy/${grantName(account, name)}/`;
    return { rp, account, browser, tokens, use, copies };
  }

  /** Every copy that lives is found by its index, and by nothing that it outlives. */
  async function isConsistent(): Promise<void> {
    const indexes = new Map(
      (await list('oidc/copy/')).map(({ key, expires }) => [key.split('/').at(-1), expires!]),
    );
    for (const { key, expires } of await live('oidc/Grant/')) {
      expect(indexes.get(key.split('/').at(-1))).toBeGreaterThanOrEqual(expires!);
    }
    const grants = new Map(
      (await list('oidc/Grant/')).map(({ key, expires }) => [key.split('/').at(-1), expires!]),
    );
    for (const { key, expires } of await live('oidc/grant/')) {
      expect(grants.get(key.split('/')[2])).toBeGreaterThanOrEqual(expires!);
    }
  }

  test('that no refresh token needs ends a day after its session', async () => {
    const { copies } = await signedIn('once', {}, { scope: 'openid' });
    at(14.9);
    expect(await live(copies)).toHaveLength(1);
    at(15.1);
    expect(await live(copies)).toHaveLength(0);
    expect(await live('oidc/Grant/')).toHaveLength(0);
  });

  test('lasts as long as a session that is used, and its tokens work', async () => {
    const { copies, use, rp, account } = await signedIn('daily', {}, { scope: 'openid' });
    const [first] = await live(copies);
    for (let days = 6; days < 90; days += 6) {
      at(days);
      const { access_token: token } = await use();
      const { sub } = await oidc.fetchUserInfo(rp.config, token, oidc.skipSubjectCheck);
      expect(sub).toBe(account);
      await isConsistent();
    }
    expect((await live(copies)).map(({ key }) => key)).toEqual([first!.key]);
  });

  test.each([
    ['the usual lifetime', '336h', 13],
    ['a lifetime of its Client', '2160h', 80],
  ])('lasts as long as a refresh token, of %s', async (what, refreshToken, step) => {
    const { rp, tokens, browser, account } = await signedIn(
      `refreshed-${refreshToken}`,
      { lifetimes: { refreshToken } },
      { prompt: 'consent' },
    );
    let token = tokens.refresh_token!;
    for (let days = step; days < 360; days += step) {
      at(days);
      const answer = await oidc.refreshTokenGrant(rp.config, token);
      token = answer.refresh_token ?? token;
      await isConsistent();
    }
    expectFor(what, await house.who(browser.cookieFor('/'))).toEqual(undefined);
    await house.store.change(house.store.systemCall(), (tx) =>
      tx.delete(Grant, grantName(account, rp.config.clientMetadata().client_id)),
    );
    expect((await outcome(oidc.refreshTokenGrant(rp.config, token))).error).toBe('invalid_grant');
  });

  test('two refreshes at once let it live on, and both are answered', async () => {
    const { rp, tokens, use } = await signedIn('twice', {}, { prompt: 'consent' });
    let held = [tokens, await use({ scope: 'openid offline_access' })];
    for (const days of [13, 26]) {
      at(days);
      held = await Promise.all(
        held.map((each) => oidc.refreshTokenGrant(rp.config, each.refresh_token!)),
      );
      await isConsistent();
    }
  });

  test('is found by its index after a new sign-in in the same session', async () => {
    const { rp, browser, account, copies } = await signedIn('again', {}, { scope: 'openid' });
    at(5);
    await rp.signIn(browser, { account }, { scope: 'openid', prompt: 'login' });
    expect(await live(copies)).toHaveLength(1);
    await isConsistent();
  });

  test('a sign-in after its end asks for no consent', async () => {
    const { rp, account } = await signedIn('remembered', {}, { scope: 'openid' });
    at(40);
    const browser = new Browser(house);
    const shown = await browser.go((await rp.begin({ scope: 'openid' })).url);
    const name = /interactions\/(\w+)/.exec(shown.url.pathname)![1]!;
    const { returnTo } = await browser.act(name, { account });
    expect((await browser.go(returnTo)).location!.searchParams.get('code')).toEqual(
      expect.any(String),
    );
  });

  test('one that was revoked is not written again by what needed it', async () => {
    const { rp, copies, use, account } = await signedIn('revoked', {}, { scope: 'openid' });
    at(10);
    await house.store.change(house.store.systemCall(), (tx) =>
      tx.delete(Grant, grantName(account, rp.config.clientMetadata().client_id)),
    );
    expect(await outcome(use())).toMatchObject({ error: 'consent_required' });
    expect(await live(copies)).toEqual([]);
    await isConsistent();
  });
  test.each([
    ['with all of its consent', true],
    ['alone, by a second use of its code', false],
  ])(
    'one that is revoked while another app lets it live on stays revoked: %s',
    async (_how, all) => {
      const name = `raced-${all}`;
      const { rp, copies, account, browser } = await signedIn(name, {}, { scope: 'openid' });
      const grant = `oidc/Grant/${(await live(copies))[0]!.key.split('/').at(-1)}`;
      await house.client(`beside-${name}`);
      const other = await RelyingParty.of(house, `beside-${name}`);
      await other.signIn(browser, { account }, { scope: 'openid' });
      at(10);
      first = () =>
        all
          ? house.store.change(house.store.systemCall(), (tx) =>
              tx.delete(Grant, grantName(account, rp.config.clientMetadata().client_id)),
            )
          : house.storage.commit([], [{ delete: grant }]);
      const begun = await other.begin({ scope: 'openid', prompt: 'none' });
      const { location } = await browser.go(begun.url);
      expect([first, location!.searchParams.has('code')]).toEqual([undefined, true]);
      expect(await live(grant)).toEqual([]);
    },
  );
});
