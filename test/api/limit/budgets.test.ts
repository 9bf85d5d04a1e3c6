import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { wrongCodes } from '../../../kinds/signin/code-throttle.js';
import { freePorts } from '../../storage/etcd-server.js';
import { clock } from '../../support/clock.js';
import { expectFor } from '../../support/expect-for.js';
import { scrape } from '../../support/network/scrape.js';
import { settles } from '../../support/patience.js';
import { type Begun, begin, mailTo, proceed, signIn, wrong } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const minute = 60_000;

describe.each(stores)('what a stranger can use up of an address, over %s', (store) => {
  let service: TestService;
  let second: TestService;
  const seen: string[] = [];
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: [
        '--trusted-proxies',
        '127.0.0.1',
        '--limits-wrong-codes-per-address',
        '10',
        '--limits-mails-per-address-day',
        '8',
        '--limits-mails-per-known-address',
        '3',
      ],
    });
    second = await service.replica();
    await createClient(service, 'app');
  });
  afterEach(() => {
    clock.release();
  });

  let number = 0;
  /** A browser in a network that no one else is in. */
  function browser(on: TestService = number % 2 ? service : second): Tab {
    number += 1;
    return Object.assign(on.tab(), {
      headers: { 'x-forwarded-for': `198.${18 + (number >> 8)}.${number % 256}.7` },
    });
  }

  const ask = async (tab: Tab, email: string): Promise<{ code: number; begun: Begun }> => {
    const begun = await begin(service, { tab, parameters: { prompt: 'login' } });
    return {
      begun,
      code: (await tab.post(`${begun.I}/emailchallenge`, { spec: { email } })).code,
    };
  };

  const challenged = async (tab: Tab, email: string) => {
    const { begun, code } = await ask(tab, email);
    expect(code).toBe(200);
    const mail = await mailTo(service, email, seen);
    seen.push(mail.name);
    return { begun, mail };
  };

  /** A browser from which someone signed in with the address. */
  async function known(email: string): Promise<Tab> {
    const tab = browser();
    await signIn(service, email, { tab });
    return tab;
  }

  test('mails that strangers ask for leave known browsers alone, up to a budget', async () => {
    const own = await known('ada@example.test');
    const codes: number[] = [];
    for (let i = 0; i < 7; i += 1) {
      codes.push((await ask(browser(), i % 2 ? 'ada@example.test' : 'ADA@example.test')).code);
    }
    expect(codes).toEqual([200, 200, 200, 200, 429, 429, 429]);
    const mine: number[] = [];
    for (let i = 0; i < 4; i += 1) mine.push((await ask(own, 'Ada@example.test')).code);
    expect(mine).toEqual([200, 200, 200, 429]);
  });

  test('strangers have so many mails a day for an address, however slowly they ask', async () => {
    const own = await known('day@example.test');
    clock.own();
    const codes: number[] = [];
    for (let i = 0; i < 10; i += 1) {
      clock.advance(16 * minute);
      codes.push((await ask(browser(), 'day@example.test')).code);
    }
    expect(codes.filter((code) => code === 200)).toHaveLength(7);
    expect((await ask(own, 'day@example.test')).code).toBe(200);
  });

  test('wrong codes of strangers rest no known browser, and decay', async () => {
    const to = 'grace@example.test';
    const own = await known(to);
    for (let i = 0; i < 2; i += 1) {
      const { begun, mail } = await challenged(browser(), to);
      for (let j = 0; j < 5; j += 1) {
        await begun.tab
          .post(`${begun.I}/login`, { spec: { method: 'EmailCode', code: wrong(mail.code) } })
          .fails(422, 'Invalid');
      }
    }
    expect((await challenged(browser(), to)).mail.code).toBeUndefined();
    const mine = await challenged(own, to);
    const { body } = await mine.begun.tab
      .post(`${mine.begun.I}/login`, { spec: { method: 'EmailCode', code: mine.mail.code } })
      .is(200);
    await proceed(own, body.status.returnTo);
    expect((await challenged(browser(), to)).mail.code).toBeUndefined();
    clock.own();
    clock.advance(16 * minute);
    expect((await challenged(browser(), to)).mail.code).toMatch(/^\d{8}$/);
    const held = (
      await service.storage.list({
        start: 'limits/wrongcodes-stranger/',
        end: 'limits/wrongcodes-stranger0',
      })
    ).entries.map(({ value }) => JSON.parse(value.toString()) as { rests: number });
    expect(held.map(({ rests }) => rests)).toContain(1);
  });

  test('wrong codes count on after a right one from a browser that was never seen', async () => {
    const to = 'heidi@example.test';
    const guess = async (
      { begun, mail }: Awaited<ReturnType<typeof challenged>>,
      times: number,
    ): Promise<void> => {
      for (let i = 0; i < times; i += 1) {
        await begun.tab
          .post(`${begun.I}/login`, { spec: { method: 'EmailCode', code: wrong(mail.code) } })
          .fails(422, 'Invalid');
      }
    };
    await guess(await challenged(browser(), to), 5);
    const right = await challenged(browser(), to);
    await guess(right, 3);
    await right.begun.tab
      .post(`${right.begun.I}/login`, { spec: { method: 'EmailCode', code: right.mail.code } })
      .is(200);
    await guess(await challenged(browser(), to), 2);
    expect((await challenged(browser(), to)).mail.code).toBeUndefined();
  });

  test('the proof of a browser is for one address and counts only as it was given', async () => {
    const own = await known('eve@example.test');
    const held = own.cookies.find(({ name }) => name === 'vestibule-known')!;
    expect(decodeURIComponent(held.value)).not.toMatch(/eve|example/);
    const codes = async (cookie: string): Promise<number> => {
      for (let i = 0; i < 5; i += 1) await ask(browser(), 'eve@example.test');
      const tab = browser();
      tab.cookies.push({ ...held, value: cookie });
      return (await ask(tab, 'eve@example.test')).code;
    };
    for (const altered of [
      held.value.replace(/!.*/, `!${'A'.repeat(43)}`),
      held.value.replace(/\.\d+/, '.9999999999'),
      held.value.slice(0, -1),
      '',
      'x!y',
    ]) {
      expectFor(altered, await codes(altered)).toEqual(429);
    }
    const other = (await known('mallory@example.test')).cookies.find(
      ({ name }) => name === 'vestibule-known',
    )!;
    expect(await codes(other.value)).toBe(429);
    expect(await codes(held.value)).toBe(200);
  });
});

describe('what everybody together can do', () => {
  beforeEach(() => {
    clock.own();
    clock.advance(15 * minute - (Date.now() % (15 * minute)) + 1_000); // one window for each test
  });
  afterEach(() => {
    clock.release();
  });

  test.each(stores)(
    'beyond the ceiling of mails only known browsers get one (%s)',
    async (store) => {
      const [metricsPort] = await freePorts(1);
      const limits = { 'mails-in-all': '20', 'wrong-codes-in-all': '10' };
      const service = await startTest({
        store,
        flags: [
          '--trusted-proxies',
          '127.0.0.1',
          '--metrics-port',
          String(metricsPort),
          ...Object.entries(limits).flatMap(([name, value]) => [`--limits-${name}`, value]),
        ],
      });
      await createClient(service, 'app');
      const { tab: own } = await signIn(service, 'own@example.test');
      const spentShares = async (): Promise<number[]> => {
        const seen = await scrape(`http://127.0.0.1:${metricsPort}/metrics`);
        return ['mails', 'wrong_codes'].map((limit) =>
          seen.sum('vestibule_limit_spent_ratio', { limit }),
        );
      };
      for (const share of await spentShares()) expect(share).toBeLessThan(1);
      const codes: number[] = [];
      for (let network = 0; network < 22; network += 1) {
        const headers = { 'x-forwarded-for': `203.0.${network}.1` };
        const tab = Object.assign(service.tab(), { headers });
        const { I } = await begin(service, { tab });
        const spec = { email: `m${network}@example.test` };
        codes.push((await tab.post(`${I}/emailchallenge`, { spec })).code);
        await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code: '12345678' } });
      }
      expect(codes).toEqual([...Array.from({ length: 20 }, () => 200), 429, 429]);
      expect(await settles(spentShares, (shares) => shares.every((share) => share === 1))).toEqual([
        1, 1,
      ]);
      const { I } = await begin(service, { tab: own, parameters: { prompt: 'login' } });
      await own.post(`${I}/emailchallenge`, { spec: { email: 'own@example.test' } }).is(200);
    },
  );

  test.each(stores)(
    'beyond the ceiling of wrong codes no code is sent or taken, links go on (%s)',
    async (store) => {
      const service = await startTest({
        store,
        flags: [
          '--trusted-proxies',
          '127.0.0.1',
          '--limits-wrong-codes-in-all',
          '20',
          '--limits-wrong-codes-per-network',
          '5',
        ],
      });
      await createClient(service, 'app');
      const { tab: own } = await signIn(service, 'own@example.test');
      const replica = await service.replica();
      let guesses = 0;
      for (let network = 0; network < 12; network += 1) {
        const tab = Object.assign((network % 2 ? service : replica).tab(), {
          headers: { 'x-forwarded-for': `203.0.${network}.1` },
        });
        const { I } = await begin(service, { tab });
        await tab
          .post(`${I}/emailchallenge`, { spec: { email: `n${network}@example.test` } })
          .is(200);
        const mail = await mailTo(service, `n${network}@example.test`);
        for (let i = 0; i < 3; i += 1) {
          const { code } = await tab.post(`${I}/login`, {
            spec: { method: 'EmailCode', code: mail.code ? wrong(mail.code) : '12345678' },
          });
          if (code === 422) {
            guesses += 1;
          } else {
            expect(code).toBe(429);
          }
        }
      }
      expect(guesses).toBeLessThanOrEqual(20);
      expect(guesses).toBeGreaterThanOrEqual(14);
      const tab = Object.assign(service.tab(), { headers: { 'x-forwarded-for': '203.0.200.1' } });
      const { I } = await begin(service, { tab });
      await tab.post(`${I}/emailchallenge`, { spec: { email: 'late@example.test' } }).is(200);
      const mail = await mailTo(service, 'late@example.test');
      expect(mail.code).toBeUndefined();
      await tab.post(`${I}/login`, { spec: { method: 'EmailLink', token: mail.token } }).is(200);
      const ratio = await service.store.networkLimits.ratio(
        wrongCodes(service.store.settings.limits),
        Date.now(),
      );
      expect(ratio).toBeGreaterThanOrEqual(1);
      const known = await begin(service, { tab: own, parameters: { prompt: 'login' } });
      await own.post(`${known.I}/emailchallenge`, { spec: { email: 'own@example.test' } }).is(200);
      const mine = await mailTo(service, 'own@example.test');
      expect([mine.code, mine.token]).toEqual([undefined, expect.any(String)]);
      const refused = await own
        .post('accounts/~/emailchallenge', { spec: { email: 'new@example.test' } })
        .fails(429, 'TooManyRequests');
      expect(refused.details!.retryAfterSeconds).toBeLessThanOrEqual(900);
      const { items } = (await service.tab().get('mockmessages').is(200)).body;
      expect(items.filter(({ status }: any) => status.to === 'new@example.test')).toEqual([]);
    },
  );
});
