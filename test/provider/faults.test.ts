import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Grant, grantName } from '../../kinds/apps/grant.js';
import { createLog, type Log } from '../../observability/log.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import { type Storage, UnavailableError, UnknownOutcomeError } from '../../storage/storage.js';
import { Browser } from './support/browser.js';
import { House, openStorage } from './support/fixture.js';
import { RelyingParty } from './support/relyingparty.js';

let kept: Awaited<ReturnType<typeof openStorage>>;
let house: House;
let fault: {
  get?: Error;
  commit?: Error;
  loseOnce?: boolean;
  /** Runs once, before the next commit, or after an Interaction was read. */
  before?: () => Promise<unknown>;
  afterRead?: () => Promise<unknown>;
} = {};
const logged: unknown[][] = [];

beforeAll(async () => {
  kept = await openStorage();
  const { storage } = kept;
  const faulty: Storage = {
    get: async (key) => {
      if (fault.get && key.startsWith('oidc/')) throw fault.get;
      const result = await storage.get(key);
      const { afterRead } = fault;
      if (!afterRead || !key.startsWith('objects/interactions/')) return result;
      delete fault.afterRead;
      await afterRead();
      return result;
    },
    commit: async (checks, writes) => {
      if (fault.commit) throw fault.commit;
      const { before } = fault;
      if (before && checks.length > 0) {
        delete fault.before;
        await before();
      }
      if (fault.loseOnce && checks.length > 0) {
        fault.loseOnce = false;
        return {
          committed: false,
          revision: 1,
          winners: new Map([[checks[0]!.key, undefined]]),
        };
      }
      return storage.commit(checks, writes);
    },
    list: storage.list.bind(storage),
    count: storage.count.bind(storage),
    watch: storage.watch.bind(storage),
    compact: storage.compact.bind(storage),
    close: async () => {},
  };
  const log = {
    ...createLog('silent'),
    error: (...line: unknown[]) => {
      logged.push(line);
    },
  } as unknown as Log;
  house = await House.open({ storage: faulty, deps: { log } });
  await house.client('shop');
});
afterEach(() => {
  fault = {};
  logged.length = 0;
});
afterAll(async () => {
  await house.close();
  await kept.close();
});

describe('when the store fails', () => {
  test.each([
    ['cannot be reached', new UnavailableError('down'), 503],
    ['does not say what it did', new UnknownOutcomeError('lost'), 504],
  ] as const)(
    'and %s: a page for people, no cookie, nothing said of it',
    async (_, error, status) => {
      const rp = await RelyingParty.of(house, 'shop');
      fault = { commit: error };
      const answer = await new Browser(house).request((await rp.begin()).url);
      expect(answer.status).toBe(status);
      expect(answer.headers.get('retry-after')).toBe(status === 503 ? '1' : null);
      expect(answer.cookies).toEqual([]);
      expect(answer.text).toContain('The service is not available just now');
      expect(answer.text).not.toMatch(/down|lost/);
      expect(answer.text).toContain('audit-id-of-tests');
    },
  );

  test.each(['/oauth2/auth?client_id=shop', '/oauth2/device', '/oauth2/logout'])(
    'a page at %s names the reference',
    async (path) => {
      fault = { commit: new UnavailableError('down') };
      const answer = await fetch(house.address + path, { headers: { accept: 'text/html' } });
      expect([answer.status, await answer.text()]).toEqual([
        503,
        expect.stringContaining('audit-id-of-tests'),
      ]);
    },
  );

  test.each(['/oauth2/device/auth', '/oauth2/par'])(
    'a program at %s gets the error as JSON',
    async (path) => {
      fault = { commit: new UnavailableError('down') };
      const answer = await fetch(house.address + path, { method: 'POST' });
      expect([answer.status, await answer.json()]).toEqual([
        503,
        expect.objectContaining({ error: 'temporarily_unavailable' }),
      ]);
    },
  );

  test('programs get the same as JSON', async () => {
    fault = { get: new UnavailableError('down') };
    const answer = await fetch(`${house.address}/oauth2/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa('shop:secret-of-shop')}`,
        accept: 'application/json',
      },
      body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'x' }),
    });
    expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([
      503,
      'temporarily_unavailable',
    ]);
    expect(answer.headers.get('retry-after')).toBe('1');
  });

  /** Signs in to the shop, and returns the browser and the address of another sign-in. */
  const signedIn = async (): Promise<{ browser: Browser; account: string; url: URL }> => {
    const rp = await RelyingParty.of(house, 'shop');
    const browser = new Browser(house);
    const account = (await house.account()).metadata.name;
    await rp.signIn(browser, { account }, { scope: 'openid' });
    return { browser, account, url: (await rp.begin({ scope: 'openid' })).url };
  };

  test('a page whose commit lost a race is asked for again and then succeeds', async () => {
    const { browser, account, url } = await signedIn();
    fault = {
      before: () =>
        house.store.change(house.store.systemCall(), (tx) =>
          tx.update(Grant, grantName(account, 'shop'), ({ status }) => {
            status.lastUsedTimestamp = toTimestamp(Date.now() + 60_000);
          }),
        ),
    };
    const first = await browser.request(url);
    expect([first.status, first.location!.href]).toEqual([303, url.href]);
    expect((await browser.go(first.location!)).location!.searchParams.get('code')).toBeTruthy();
  });

  test('a page whose commit lost a race without a change of what it read goes on', async () => {
    const { browser, url } = await signedIn();
    fault = { loseOnce: true };
    const { location } = await browser.request(url);
    expect([fault.loseOnce, location!.searchParams.has('code')]).toEqual([false, true]);
  });

  test('a fault of ours is a 500 without detail, counted once', async () => {
    const rp = await RelyingParty.of(house, 'shop');
    const before = house.identity.counts.get('server_error') ?? 0;
    fault = { commit: new TypeError('secret detail') };
    const answer = await new Browser(house).request((await rp.begin()).url);
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain('secret detail');
    expect(house.identity.counts.get('server_error')).toBe(before + 1);
  });

  /** Signs in up to the page that leads to returnTo. */
  const upToReturn = async (): Promise<{ browser: Browser; page: string; returnTo: string }> => {
    const rp = await RelyingParty.of(house, 'shop');
    const account = (await house.account()).metadata.name;
    const browser = new Browser(house);
    const page = (await browser.go((await rp.begin({ scope: 'openid' })).url)).url.pathname;
    const { text } = await browser.request(`${page}/login?account=${account}`);
    return { browser, page, returnTo: (JSON.parse(text) as { returnTo: string }).returnTo };
  };

  test.each(['before', 'afterRead'] as const)(
    'a sign-in that is cancelled while returnTo is followed is not a sign-in (%s)',
    async (moment) => {
      const { browser, page, returnTo } = await upToReturn();
      fault = { [moment]: () => browser.request(`${page}/cancel`) };
      const lost = await browser.request(returnTo);
      expect([fault[moment], lost.status, lost.location!.href]).toEqual([undefined, 303, returnTo]);
      const answer = await browser.request(returnTo);
      expect(answer.location!.searchParams.get('error')).toBe('access_denied');
    },
  );

  test('of two requests that follow returnTo only the first to commit goes on', async () => {
    const { browser, returnTo } = await upToReturn();
    const cookie = browser.cookieFor(new URL(returnTo).pathname)!;
    const visit = () => new Browser(house).request(returnTo, { headers: { cookie } });
    let first: Awaited<ReturnType<typeof visit>> | undefined;
    fault = {
      afterRead: async () => {
        first = await visit();
      },
    };
    const second = await visit();
    expect(first!.location!.pathname).toMatch('/api/v1beta1/interactions/');
    expect([second.status, second.location!.href]).toEqual([303, returnTo]);
    expect((await visit()).status).toBe(400);
  });

  test('of ten requests that follow returnTo at once one ends the interaction', async () => {
    const { browser, returnTo } = await upToReturn();
    const cookie = browser.cookieFor(new URL(returnTo).pathname)!;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        new Browser(house).request(returnTo, { headers: { cookie } }),
      ),
    );
    const next = answers.filter(({ location }) => location && location.href !== returnTo);
    expect(next).toHaveLength(1);
  });
});
