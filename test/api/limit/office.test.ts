import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { refusalsOf } from '../../../cmd/vestibule/serve/replicas/open-replica.js';
import { mailLimits } from '../../../kinds/interaction/email-challenge.js';
import type { Limit } from '../../../registry/limits/rate-limit.js';
import { begin, mailTo, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const people = 200;
const atATime = 5;

describe.each(stores)('an office behind one address, on %s', (store) => {
  let service: TestService;
  let operator: Tab;

  beforeAll(async () => {
    service = await startTest({
      store,
      flags: [
        '--operators',
        'op@example.test',
        '--trusted-proxies',
        '127.0.0.1',
        // The people of ten minutes come at once.
        '--limits-requests-per-network',
        '2000',
        '--limits-proofs-per-network',
        '2000',
        '--limits-invitations-per-account-day',
        '1000',
      ],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
  });

  /** A browser in a network. */
  const tabIn = (network: string): Tab => {
    const tab = service.tab();
    tab.headers = { 'x-forwarded-for': network };
    return tab;
  };
  const mailCode = async (network: string, email: string): Promise<number> => {
    const { tab, I } = await begin(service, { tab: tabIn(network) });
    return (await tab.post(`${I}/emailchallenge`, { spec: { email } })).code;
  };

  test('newcomers, imported and invited people sign in; others reach the limit', async () => {
    const office = '192.0.2.1';
    const addressOf = (i: number): string => `p${i}@${store}.example.test`;
    const arrive = async (i: number): Promise<void> => {
      if (i % 3 === 1) await operator.post('accounts', { spec: { email: addressOf(i) } }).is(201);
      if (i % 3 === 2) {
        await operator
          .post('invitations', {
            metadata: { generateName: 'i-' },
            spec: { email: addressOf(i) },
          })
          .is(201);
      }
      const { tab, I } = await begin(service, { tab: tabIn(office) });
      await tab.post(`${I}/emailchallenge`, { spec: { email: addressOf(i) } }).is(200);
      const { code } = await mailTo(service, addressOf(i), [], (one) => one.code !== undefined);
      await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code } }).is(200);
    };
    for (let from = 0; from < people; from += atATime) {
      await Promise.all(Array.from({ length: atATime }, (_, i) => arrive(from + i)));
      await service.tab().delete('mockmessages').is(200);
    }
    const codes: number[] = [];
    for (let i = 0; i < 25; i += 1) codes.push(await mailCode(office, `none${i}@example.test`));
    expect(codes.filter((code) => code === 200).length).toBeLessThanOrEqual(20);
    expect(codes.at(-1)).toBe(429);
  });

  test('two hundred mails of a stranger to strangers do not go out', async () => {
    const codes: number[] = [];
    for (let i = 0; i < 200; i += 1) {
      codes.push(await mailCode('198.51.100.1', `s${i % 2 === 0 ? i : `x${i}`}@example.test`));
    }
    expect(codes.filter((code) => code === 200)).toHaveLength(20);
    expect(new Set(codes.slice(20))).toEqual(new Set([429]));
    const { tab, I } = await begin(service, { tab: tabIn('198.51.100.1') });
    const { message } = await tab
      .post(`${I}/emailchallenge`, { spec: { email: 'one-more@example.test' } })
      .fails(429, 'TooManyRequests');
    expect(message).toBe('too many requests from this network, please try again later');
  });

  test('a limit says what it refused, with its setting', async () => {
    const other = await service.replica();
    const { limits } = other.store.settings;
    const { network } = mailLimits(limits, 'stranger');
    const refused = (limit: Limit, subject: string): Promise<unknown> =>
      other.store.networkLimits.spend(limit, subject, Date.now(), 1e12).then(
        () => 'spent',
        ({ message }: Error) => message,
      );
    expect(await refused(network, '198.18.0.1')).toContain('from this network,');
    expect(await refused(network, '198.18.1.1')).toContain('from this network,');
    expect(await refused({ ...network, max: 1e12 }, '198.18.2.1')).toContain('from all networks');
    const { address } = mailLimits(limits, 'stranger');
    for (let i = 0; i <= limits.mailsPerAddress; i += 1) {
      await other.store
        .change(other.store.systemCall(), (tx) => tx.spend(address[0]!, `counted-${store}`))
        .catch(() => undefined);
    }
    const displayed = {
      'limits-mails-per-network': '20',
      'limits-mails-per-address': '5',
      'limits-mails-in-all': '2000',
    };
    expect(refusalsOf({ displayed }, other.store)).toEqual([
      {
        limit: 'mailnetwork',
        setting: 'limits-mails-per-network',
        value: '20',
        count: 2,
      },
      { limit: 'mailaddress', setting: 'limits-mails-per-address', value: '5', count: 1 },
      {
        limit: 'mailnetwork-all',
        setting: 'limits-mails-in-all',
        value: '2000',
        count: 1,
      },
    ]);
    const now = Date.now();
    const { refusals } = other.store.networkLimits;
    expect(refusals.lastHour(now + 3_600_000)).toEqual([]);
    refusals.count(network, now + 3_600_000);
    expect(refusals.lastHour(now + 3_600_000).map(({ count }) => count)).toEqual([1]);
    expect(refusals.totals().get('mailnetwork')).toBe(3);
  });

  test('what another replica sees proven comes back everywhere', async () => {
    const office = '192.0.2.77';
    const other = await service.replica();
    const elsewhere = (tab: Tab): Tab => {
      const moved = other.tab();
      moved.cookies = [...tab.cookies];
      moved.headers = tab.headers;
      return moved;
    };
    // Twice as many as the limit, and no mail is asked for where another is proven.
    for (let i = 0; i < 45; i += 1) {
      const email = `m${i}@${store}.example.test`;
      const { tab, I } = await begin(service, { tab: tabIn(office) });
      await tab.post(`${I}/emailchallenge`, { spec: { email } }).is(200);
      const { code } = await mailTo(service, email, [], (one) => one.code !== undefined);
      await elsewhere(tab)
        .post(`${I}/login`, { spec: { method: 'EmailCode', code } })
        .is(200);
    }
    // All of the limit is there for the first replica, and no more.
    const codes: number[] = [];
    for (let i = 0; i < 25; i += 1) codes.push(await mailCode(office, `u${i}@example.test`));
    // A few stay with the replica that saw the proofs, so that not each one is a commit.
    const sent = codes.filter((code) => code === 200).length;
    expect(sent).toBeGreaterThanOrEqual(16);
    expect(sent).toBeLessThanOrEqual(20);
  });

  test('a mail for a change of address comes back when its code is entered', async () => {
    const office = '192.0.2.78';
    for (let i = 0; i < 13; i += 1) {
      const [before, after] = [`c${i}@${store}.example.test`, `d${i}@${store}.example.test`];
      const { tab } = await signIn(service, before, { tab: tabIn(office) });
      await tab.post('accounts/~/emailchallenge', { spec: { email: after } }).is(200);
      const { code } = await mailTo(service, after, [], (one) => one.code !== undefined);
      await tab.post('accounts/~/email', { spec: { code } }).is(200);
    }
    const codes: number[] = [];
    for (let i = 0; i < 25; i += 1) codes.push(await mailCode(office, `v${i}@example.test`));
    expect(codes.filter((code) => code === 200)).toHaveLength(20);
  });

  test('a mail that is proven in another network gives nothing to that network', async () => {
    const [from, to] = ['203.0.113.9', '192.0.2.200'];
    for (let i = 0; i < 20; i += 1) await mailCode(to, `q${i}@example.test`);
    expect(await mailCode(to, 'one@example.test')).toBe(429);
    for (let i = 0; i < 20; i += 1) {
      const email = `r${i}@${store}.example.test`;
      const { tab, I } = await begin(service, { tab: tabIn(from) });
      await tab.post(`${I}/emailchallenge`, { spec: { email } }).is(200);
      const { code } = await mailTo(service, email, [], (one) => one.code !== undefined);
      tab.headers = { 'x-forwarded-for': to };
      await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code } }).is(200);
    }
    for (const network of [from, to]) expect(await mailCode(network, 'one@example.test')).toBe(429);
  });
});
