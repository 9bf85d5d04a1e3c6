import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createLog, type Log } from '../../observability/log.js';
import { UnavailableError, UnknownOutcomeError, type Storage } from '../../storage/storage.js';
import { Browser } from './browser.js';
import { House, openStorage } from './fixture.js';
import { RelyingParty } from './relyingparty.js';

let kept: Awaited<ReturnType<typeof openStorage>>;
let house: House;
let fault: { get?: Error; commit?: Error; loseOnce?: boolean; loseResults?: number } = {};
const logged: unknown[][] = [];

beforeAll(async () => {
  kept = await openStorage();
  const { storage } = kept;
  const faulty: Storage = {
    get: (key) =>
      fault.get && key.startsWith('oidc/') ? Promise.reject(fault.get) : storage.get(key),
    commit: (checks, writes) => {
      if (fault.commit) return Promise.reject(fault.commit);
      if (fault.loseOnce && checks.length > 0) {
        fault.loseOnce = false;
        return Promise.resolve({
          committed: false,
          revision: 1,
          winners: new Map([[checks[0]!.key, undefined]]),
        });
      }
      const result = checks.find(({ key }) => key.startsWith('oidc/Interaction/'));
      if (fault.loseResults && result) {
        fault.loseResults -= 1;
        return Promise.resolve({
          committed: false,
          revision: 1,
          winners: new Map([[result.key, undefined]]),
        });
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

  test('a page whose commit lost a race is asked for again and then succeeds', async () => {
    const rp = await RelyingParty.of(house, 'shop');
    const browser = new Browser(house);
    await rp.signIn(
      browser,
      { account: (await house.account()).metadata.name },
      { scope: 'openid' },
    );
    fault = { loseOnce: true };
    const url = (await rp.begin({ scope: 'openid' })).url;
    const first = await browser.request(url);
    expect([first.status, first.location!.href]).toEqual([303, url.href]);
    expect((await browser.go(first.location!)).location!.searchParams.get('code')).toBeTruthy();
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

  test('a result that loses some races is still handed over; one that loses all is reported and logged, and the next look hands it over', async () => {
    const rp = await RelyingParty.of(house, 'shop');
    const account = (await house.account()).metadata.name;
    const begin = async (browser: Browser): Promise<string> =>
      (await browser.go((await rp.begin({ scope: 'openid' })).url)).url.pathname;
    const some = new Browser(house);
    const first = await begin(some);
    fault = { loseResults: 7 };
    const { returnTo } = JSON.parse(
      (await some.request(`${first}/login?account=${account}`)).text,
    ) as { returnTo: string };
    expect([fault.loseResults, logged]).toEqual([0, []]);
    expect((await some.go(returnTo)).url.pathname).not.toBe(first);
    const all = new Browser(house);
    const second = await begin(all);
    fault = { loseResults: 1_000 };
    const failed = await all.request(`${second}/login?account=${account}`);
    expect([failed.status, failed.text]).toEqual([
      500,
      expect.stringContaining('could not be handed over yet'),
    ]);
    expect(logged).toEqual([
      [
        { interaction: second.split('/').at(-1) },
        expect.stringContaining('could not be handed over'),
      ],
    ]);
    fault = {};
    const healed = JSON.parse((await all.request(`${second}/look`)).text) as { returnTo: string };
    expect((await all.go(healed.returnTo)).url.pathname).not.toBe(second);
  });
});
