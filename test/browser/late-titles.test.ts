import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { signIn } from '../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { closeBrowser, leaveAfterEach, Person } from './support/person.js';
import { asPerson } from './support/visitor.js';

jest.setTimeout(120_000);

let service: TestService;
const people: Person[] = [];
beforeAll(async () => {
  service = await startTest({ flags: ['--limit-factor', '1000'] });
  await createClient(service, 'app', { displayName: 'The App' });
});
leaveAfterEach(people);
afterAll(async () => {
  await closeBrowser();
  await stopAll();
});

test.each([
  ['are late', false],
  ['cannot be read', true],
])('lists of the account page wait for titles that %s', async (_, isRefused) => {
  const { tab } = await signIn(service, 'ada@example.test', { scope: 'openid email' });
  const person = await asPerson(service, tab);
  people.push(person);
  const { page } = person;
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/claimsproviders*', async (route) => {
    await released;
    await (isRefused ? route.abort() : route.continue());
  });
  const granted = page.waitForResponse((answer) => answer.url().includes('/grants?'));
  await page.goto(`${service.baseURL}/account`);
  await person.at('account');
  await granted;
  await page.locator('section[aria-labelledby=sessions] li').first().waitFor();
  const grants = page.locator('section[aria-labelledby=grants]');
  expect(await grants.locator('[aria-busy=true]').count()).toBe(1);
  for (const word of ['openid', 'email']) {
    expect(await page.getByText(word, { exact: true }).count()).toBe(0);
  }
  release();
  await grants.locator('.scope').first().waitFor();
  expect(await page.getByText('openid', { exact: true }).count()).toBe(isRefused ? 1 : 0);
});
