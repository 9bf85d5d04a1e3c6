import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { authorizationPath, signIn } from '../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { closeBrowser, leaveAfterEach, Person } from './support/person.js';
import { asPerson } from './support/visitor.js';

jest.setTimeout(120_000);

let service: TestService;
const people: Person[] = [];

beforeAll(async () => {
  service = await startTest({ flags: ['--limit-factor', '1000'] });
  await createClient(service, 'app');
});
leaveAfterEach(people);
afterAll(async () => {
  await closeBrowser();
  await stopAll();
});

const authorize = (parameters: Record<string, string>): string =>
  authorizationPath('app', 'openid email', 'v'.repeat(43), parameters);

/** The first pages: the path, the phase it comes to, and what is there at last. */
const pages: Record<string, [path: string, phase: string, last: string]> = {
  'sign-in': [authorize({ prompt: 'login' }), 'LoginRequired', '#email'],
  consent: [authorize({ prompt: 'consent' }), 'ConsentRequired', 'main button'],
  account: ['/account', 'account', 'section[aria-labelledby=data]'],
  policy: ['/policy', 'policy', 'main ul li'],
  error: ['/oauth2/auth?client_id=no-such-app', 'error', 'main h1'],
};

test.each(Object.keys(pages))(
  'what is on the page moves not when its script arrives late: %s',
  async (name) => {
    const [path, phase, last] = pages[name]!;
    const { tab } = await signIn(service, `${name}@example.test`);
    const person = await asPerson(service, tab, { viewport: { width: 1000, height: 700 } });
    people.push(person);
    const { page } = person;
    await page.route('**/assets/*.js', async (route) => {
      // The shell is painted before its script runs.
      await page.waitForFunction(() => performance.getEntriesByName('first-paint').length > 0);
      await route.continue();
    });
    await page.goto(`${service.baseURL}${path}`);
    await person.at(phase);
    await page.locator(last).first().waitFor();
    const shift = await page.evaluate(() => {
      const observer = new PerformanceObserver(() => {});
      observer.observe({ type: 'layout-shift', buffered: true });
      return observer.takeRecords().reduce((sum, entry) => sum + (entry as any).value, 0);
    });
    expect(shift).toBeLessThan(0.1);
  },
);
