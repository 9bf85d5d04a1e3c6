import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { clock } from '../support/clock.js';
import { authorizationPath, mailTo, signIn } from '../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { stores } from '../support/stores.js';
import { closeBrowser, Person } from './support/person.js';

jest.setTimeout(90_000);

describe.each(stores)('a person who is refused at sign-up, on %s', (store) => {
  let service: TestService;
  let person: Person;
  beforeAll(async () => {
    clock.own();
    service = await startTest({
      store,
      flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
    });
    await createClient(service, 'app');
    const { tab } = await signIn(service, 'op@example.test');
    const { body } = await tab.get('policies/p-1').is(200);
    const closed =
      '@id("closed-until-may")\n@message("We are full. Come back in May.")\nforbid (principal, action == Action::"signUp", resource) when { context.domain == "full.test" };';
    await signIn(service, 'old@shut.test');
    const shut =
      '@id("shut")\n@message("Shut.")\nforbid (principal, action == Action::"signIn", resource) when { context.domain == "shut.test" };';
    await tab
      .post('policies', { spec: { cedar: `${body.spec.cedar}\n${closed}\n${shut}` } })
      .is(201);
  });
  afterEach(() => {
    expect(person.complaints).toEqual([]);
  });
  afterAll(async () => {
    clock.release();
    await closeBrowser();
    await stopAll();
  });

  test('reads the rule\u2019s words, what was decided, and finds the rule there', async () => {
    person = await Person.arrive({ locale: 'en-GB', viewport: { width: 320, height: 800 } });
    const { page } = person;
    await page.goto(
      service.baseURL +
        authorizationPath('app', 'openid email', randomBytes(32).toString('base64url')),
    );
    await page.getByRole('textbox', { name: 'Email' }).fill('new@full.test');
    await page.getByRole('button', { name: 'Continue with email' }).click();
    const { code } = await mailTo(service, 'new@full.test');
    const answered = page.waitForResponse(
      (response) => response.request().method() === 'POST' && response.url().endsWith('/login'),
    );
    await page.getByRole('textbox', { name: 'Code' }).fill(code);
    const { details } = (await (await answered).json()) as {
      details: { policyDecision: string };
    };
    await person.at('error');
    expect(await page.getByRole('blockquote').textContent()).toBe('We are full. Come back in May.');
    const facts = page.locator('dl');
    await facts.getByText('Create an account').waitFor();
    expect(await facts.locator('dt').allTextContents()).toEqual([
      'Request',
      'Answer',
      'Rule',
      'Policy',
      'Would be allowed with',
      'Decision',
    ]);
    const [, answer, rule, policy, alternative, decision] = await facts
      .locator('dd')
      .allTextContents();
    expect([answer, rule, policy, alternative, decision]).toEqual([
      expect.stringMatching(/^Refused, .*\d{4}/),
      expect.stringContaining('Closed until may'),
      'p-2',
      'an address at another domain',
      details.policyDecision,
    ]);
    expect(await person.faults()).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(
      true,
    );
    const [other] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('link', { name: 'Closed until may' }).click(),
    ]);
    await other.getByText('We are full. Come back in May.').first().waitFor();
  });

  test('reads nothing of an earlier refusal beside the name of a later one', async () => {
    person = await Person.arrive();
    const { page } = person;
    const refused = async (email: string): Promise<string> => {
      await service.tab().delete('mockmessages').is(200);
      await page.getByRole('textbox', { name: 'Email' }).fill(email);
      await page.getByRole('button', { name: 'Continue with email' }).click();
      const { code } = await mailTo(service, email);
      const [answered, read] = ['POST /login', 'GET /decision'].map((wanted) =>
        page.waitForResponse((response) => {
          const [method, end] = wanted.split(' ');
          return response.request().method() === method && response.url().endsWith(end!);
        }),
      );
      await page.getByRole('textbox', { name: 'Code' }).fill(code);
      const { details } = (await (await answered!).json()) as {
        details: { policyDecision: string };
      };
      expect((await read!).status()).toBe(200);
      await person.at('error');
      return details.policyDecision;
    };
    await page.goto(
      service.baseURL +
        authorizationPath('app', 'openid email', randomBytes(32).toString('base64url')),
    );
    await refused('other@full.test');
    await page.locator('dl').getByText('Create an account').waitFor();
    clock.advance(61_000); // the wait for another mail
    await page.reload();
    const later = await refused('old@shut.test');
    await page.locator('dl').getByText(later).waitFor();
    expect(await page.locator('dl').locator('dt').allTextContents()).toEqual(['Decision']);
  });
});
