import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { begin, mailTo, signIn } from '../support/signin.js';
import { stores } from '../support/stores.js';
import type { Tab } from '../support/tab.js';

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

  test('newcomers, imported and invited people all sign in, and those who never do run into the limit', async () => {
    const office = '192.0.2.1';
    const addressOf = (i: number): string => `p${i}@${store}.example.test`;
    const arrive = async (i: number): Promise<void> => {
      if (i % 3 === 1) await operator.post('accounts', { spec: { email: addressOf(i) } }).is(201);
      if (i % 3 === 2)
        await operator
          .post('invitations', {
            metadata: { generateName: 'i-' },
            spec: { email: addressOf(i) },
          })
          .is(201);
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

  test('two hundred mails of a stranger to strangers do not go out, to known addresses neither', async () => {
    const codes: number[] = [];
    for (let i = 0; i < 200; i += 1)
      codes.push(await mailCode('198.51.100.1', `s${i % 2 === 0 ? i : `x${i}`}@example.test`));
    expect(codes.filter((code) => code === 200)).toHaveLength(20);
    expect(new Set(codes.slice(20))).toEqual(new Set([429]));
  });

  test('a mail that is proven in another network gives nothing to that network', async () => {
    const [from, to] = ['203.0.113.9', '192.0.2.200'];
    for (let i = 0; i < 20; i += 1) {
      const email = `r${i}@${store}.example.test`;
      const { tab, I } = await begin(service, { tab: tabIn(from) });
      await tab.post(`${I}/emailchallenge`, { spec: { email } }).is(200);
      const { code } = await mailTo(service, email, [], (one) => one.code !== undefined);
      tab.headers = { 'x-forwarded-for': to };
      await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code } }).is(200);
    }
    expect(await mailCode(from, 'one@example.test')).toBe(429);
    const codes: number[] = [];
    for (let i = 0; i < 25; i += 1) codes.push(await mailCode(to, `q${i}@example.test`));
    expect(codes.filter((code) => code === 200)).toHaveLength(20);
  });
});
