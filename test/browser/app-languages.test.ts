import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { authorizationPath, begin, mailTo, signIn } from '../support/signin.js';
import { closeBrowser, leaveAfterEach, Person } from './support/person.js';
import { asPerson } from './support/visitor.js';

jest.setTimeout(120_000);

let service: TestService;
const people: Person[] = [];
const stays = (person: Person): Person => {
  people.push(person);
  return person;
};

beforeAll(async () => {
  service = await startTest();
  await createClient(service, 'photos', {
    displayName: 'Pics',
    displayNames: { en: 'Holiday photos', de: 'Urlaubsfotos' },
  });
});
leaveAfterEach(people);
afterAll(async () => {
  await closeBrowser();
  await stopAll();
});

/** Opens the consent page of a new sign-in that continues a session. */
async function openConsent(locale: string): Promise<Person> {
  const { tab } = await signIn(service, `${locale.toLowerCase()}@example.test`, {
    client: 'photos',
    agree: ['openid', 'email'],
  });
  const person = stays(await asPerson(service, tab, { locale }));
  await person.page.goto(
    `${service.baseURL}${authorizationPath('photos', 'openid email profile offline_access', 'v'.repeat(43), { prompt: 'consent' })}`,
  );
  await person.at('ConsentRequired');
  return person;
}

/** The language of the innermost element that has one, for each element with this text. */
const languagesOf = ({ page }: Person, text: string): Promise<(string | undefined)[]> =>
  page.evaluate(
    (words) =>
      [...document.querySelectorAll('bdi')]
        .filter((one) => one.textContent === words)
        .map((one) => one.closest<HTMLElement>('[lang]')?.lang),
    text,
  );

test.each([
  ['de-AT', 'Urlaubsfotos', 'de-AT', 'Ihr Profil', 'Letzte Änderung'],
  ['ar', 'Holiday photos', 'en', 'ملفك الشخصي', 'آخر تغيير'],
])('a consent in %s names the app and the scopes', async (locale, app, lang, title, claim) => {
  const person = await openConsent(locale);
  const { page } = person;
  const languages = await languagesOf(person, app);
  expect(languages.length).toBeGreaterThan(1);
  expect(new Set(languages)).toEqual(new Set([lang]));
  expect(await page.getByRole('checkbox', { name: title }).count()).toBe(1);
  const text = (await page.textContent('main')) ?? '';
  expect(text).toContain(claim);
  expect(text).not.toMatch(/Your |Last change|scope\.|claim\.|Pics/);
  expect(await person.faults()).toEqual([]);

  await page.goto(`${service.baseURL}/account`);
  await person.at('account');
  const grants = page.locator('section[aria-labelledby=grants]');
  await grants.getByRole('heading', { name: app }).waitFor();
  expect(new Set(await languagesOf(person, app))).toEqual(new Set([lang]));
  await page.waitForFunction(
    () =>
      !/\b(openid|offline_access)\b/.test(
        document.querySelector('section[aria-labelledby=grants]')?.textContent ?? '',
      ),
  );
  expect(await grants.textContent()).not.toMatch(/Your |scope\.|Pics/);
  expect(await person.faults()).toEqual([]);
});

test.each([
  ['de', 'Urlaubsfotos'],
  ['fr', 'Holiday photos'],
])('a mail in %s names the app in its language or in English', async (language, app) => {
  const { tab, I } = await begin(service, {
    client: 'photos',
    parameters: { ui_locales: language },
  });
  const address = `mail-${language}@example.test`;
  await tab.post(`${I}/emailchallenge`, { spec: { email: address } }).is(200);
  const { subject } = await mailTo(service, address, []);
  expect(subject).toContain(app);
});
