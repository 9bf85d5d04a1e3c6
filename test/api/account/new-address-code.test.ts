import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { clock } from '../../support/clock.js';
import { codeSpellings } from '../../support/code-spellings.js';
import { mailTo, signIn, wrong } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

beforeAll(() => clock.own());
afterAll(async () => {
  await stopAll();
  clock.release();
});

describe.each(stores)('the code of a new address, on %s', (store) => {
  let service: TestService;
  let tab: Tab;
  let count = 0;
  let next: string;
  const sent: string[] = [];
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app');
  });
  beforeEach(async () => {
    tab = (await signIn(service, `old${(count += 1)}@example.test`)).tab;
    next = `new${count}@example.test`;
  });

  /** Asks for a code and returns the one that is mailed. */
  const ask = async (email = next): Promise<string> => {
    clock.advance(60_000);
    const { body } = await tab.post('accounts/~/emailchallenge', { spec: { email } }).is(200);
    expect(body.status.triesLeft).toBe(5);
    const { code, name } = await mailTo(service, email, sent);
    sent.push(name);
    return code;
  };
  const use = (code: string) => tab.post('accounts/~/email', { spec: { code } });

  test.each(codeSpellings)('%s is taken', async (_, between) => {
    const code = await ask();
    const { body } = await use(`${code.slice(0, 4)}${between}${code.slice(4)} `).is(200);
    expect(body.status.email.address).toBe(next);
  });

  test('that is malformed names the tries that are left, and spends none', async () => {
    const code = await ask();
    await use(wrong(code)).fails(422, 'Invalid', 'spec.code');
    for (const typed of ['', 'x', code.slice(1), `${code}0`, `a${code.slice(1)}`]) {
      const { details, message } = await use(typed).fails(422, 'Invalid', 'spec.code');
      expect(details!.triesLeft).toBe(4);
      expect(message).toContain('must be 8 digits; 4 tries left');
    }
    await use(code).is(200);
  });

  test.each([
    ['by one for the same address', () => next],
    ['by one for another address', () => `other-${next}`],
  ])('that was replaced %s says so and costs no try', async (_, email) => {
    const first = await ask();
    await use(wrong(first)).fails(422, 'Invalid', 'spec.code');
    const second = await ask();
    const latest = await ask(email());
    for (const former of [first, second].filter((code) => code !== latest)) {
      for (let i = 0; i < 6; i += 1) {
        const { details, message } = await use(former).fails(410, 'Expired');
        expect(message).toContain('a newer one was sent; this cost no try');
        expect(details!.triesLeft).toBe(5);
      }
    }
    const { details } = await use(wrong(latest)).fails(422, 'Invalid', 'spec.code');
    expect(details!.triesLeft).toBe(4);
    expect((await use(latest).is(200)).body.status.email.address).toBe(email());
    expect((await use(first).fails(410, 'Expired')).message).toContain('no code was requested');
  });
});
