import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { signIn } from '../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { closeBrowser, leaveAfterEach, Person } from './support/person.js';
import { asPerson } from './support/visitor.js';

let service: TestService;
const people: Person[] = [];
const stays = (person: Person): Person => {
  people.push(person);
  return person;
};

beforeAll(async () => {
  service = await startTest();
  await createClient(service, 'app');
});
leaveAfterEach(people);
afterAll(async () => {
  await closeBrowser();
  await stopAll();
});

const languageOf = ({ page }: Person): Promise<string> =>
  page.evaluate(() => `${document.documentElement.lang} ${document.documentElement.dir}`);
const heading = ({ page }: Person): Promise<string | null> =>
  page.getByRole('heading', { level: 1 }).textContent();

test('a page is in the language of the browser, with one catalog and no fault', async () => {
  const person = stays(await Person.arrive({ locale: 'de-AT' }));
  const catalogs: string[] = [];
  person.page.on('request', (request) => {
    if (request.url().includes('catalog')) catalogs.push(request.url());
  });
  await person.page.goto(`${service.baseURL}/policy`);
  await person.at('policy');
  expect([await languageOf(person), await heading(person)]).toEqual([
    'de-AT ltr',
    'Aktuelle Richtlinie',
  ]);
  expect(catalogs).toHaveLength(1);
  expect(await person.faults()).toEqual([]);
});

test.each([
  ['zh-CN', 'zh-CN ltr'],
  ['pt-PT', 'pt-PT ltr'],
  ['sw', 'en ltr'],
])('a browser in %s gets %s', async (locale, expected) => {
  const person = stays(await Person.arrive({ locale }));
  await person.page.goto(`${service.baseURL}/policy`);
  await person.at('policy');
  expect(await languageOf(person)).toBe(expected);
  expect((await heading(person)) === 'Current policy').toBe(expected.startsWith('en'));
});

test('a page whose script does not arrive says so, in the browser’s language', async () => {
  const person = stays(await Person.arrive({ locale: 'de-AT' }));
  const { page } = person;
  await page.route('**/assets/policy-*.js', () => {}); // never answered
  await page.goto(`${service.baseURL}/policy`, { waitUntil: 'commit' });
  const late = page.getByText('Diese Seite lädt langsam.');
  await late.waitFor({ state: 'attached' });
  expect(await late.isVisible()).toBe(false);
  await late.waitFor({ state: 'visible' });
  await page.getByRole('link', { name: 'Neu laden' }).waitFor();
  await page.unrouteAll();
});

test('the menu changes the language at once, and this browser keeps it', async () => {
  const person = stays(await Person.arrive({ locale: 'en-GB' }));
  const { page } = person;
  await page.goto(`${service.baseURL}/policy`);
  await person.at('policy');
  await page.getByRole('combobox', { name: 'Language' }).selectOption('ar');
  await page.waitForFunction(() => document.documentElement.dir === 'rtl');
  expect(await heading(person)).toBe('السياسة الحالية');
  expect(await person.faults()).toEqual([]);
  await page.reload();
  await person.at('policy');
  expect(await languageOf(person)).toBe('ar rtl');
});

test('the app decides before the account, and the account before the browser', async () => {
  const { tab } = await signIn(service, 'ada@example.test');
  await tab.patch('accounts/~', { spec: { locale: 'fr' } }).is(200);
  const person = stays(await asPerson(service, tab, { locale: 'de-DE' }));
  await person.page.goto(`${service.baseURL}/account`);
  await person.at('account');
  expect([await languageOf(person), await person.page.title()]).toEqual(['fr ltr', 'Votre compte']);
  expect(await person.faults()).toEqual([]);

  const stranger = stays(await Person.arrive({ locale: 'de-DE' }));
  const { page } = stranger;
  await page.goto(
    `${service.baseURL}/oauth2/auth?${new URLSearchParams({
      client_id: 'app',
      response_type: 'code',
      scope: 'openid',
      redirect_uri: 'https://app.example.test/callback',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
      ui_locales: 'xx ja en',
    })}`,
  );
  await page.waitForFunction(() => document.documentElement.lang === 'ja');
  expect(await stranger.faults()).toEqual([]);
});

test('the language and the time zone of a profile are chosen, not typed', async () => {
  const { tab } = await signIn(service, 'chooser@example.test');
  const person = stays(await asPerson(service, tab, { locale: 'en-GB' }));
  const { page } = person;
  await page.goto(`${service.baseURL}/account`);
  await person.at('account');
  await page.getByText('More about you').click();
  await page.locator('#profile-locale').selectOption({ label: 'German (Switzerland)' });
  await page.locator('#profile-timeZone').selectOption({ label: 'America/New York' });
  expect(await person.faults()).toEqual([]);
  await page.getByRole('button', { name: 'Save profile' }).click();
  await page.getByText('Your profile is saved.').waitFor({ state: 'attached' });
  const { body } = await tab.get('accounts/~').is(200);
  expect(body.spec).toMatchObject({ locale: 'de-CH', timeZone: 'America/New_York' });
});

test('one button of the account page signs this browser out', async () => {
  const { tab } = await signIn(service, 'leaver@example.test');
  const person = stays(await asPerson(service, tab, { locale: 'en-GB' }));
  await person.page.goto(`${service.baseURL}/account`);
  await person.at('account');
  await person.page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await person.page.getByRole('heading', { level: 1, name: 'You are signed out' }).waitFor();
  await tab.get('accounts/~').fails(401, 'Unauthorized');
});

test('pages without scripts have the menu too, and share the choice with the others', async () => {
  const person = stays(
    await Person.arrive({ locale: 'en-GB', viewport: { width: 360, height: 800 } }),
  );
  const { page } = person;
  const menu = page.getByRole('combobox');
  const choose = async (language: string): Promise<void> => {
    expect(await person.faults()).toEqual([]);
    await menu.selectOption({ label: language });
    await page.getByRole('button', { name: 'Change' }).click();
  };
  await page.goto(`${service.baseURL}/oauth2/device`);
  await choose('Deutsch');
  await page.waitForURL('**/oauth2/device?language=de');
  expect([await languageOf(person), await menu.inputValue()]).toEqual(['de ltr', 'de']);
  await page.goto(`${service.baseURL}/oauth2/auth?client_id=absent`);
  await page.getByRole('heading', { level: 1, name: 'Diese App ist hier nicht bekannt' }).waitFor();
  expect(await menu.count()).toBe(0);

  await page.goto(`${service.baseURL}/policy`);
  await page.getByRole('heading', { level: 1, name: 'Aktuelle Richtlinie' }).waitFor();
  await menu.selectOption({ label: 'العربية' });
  await page.goto(`${service.baseURL}/oauth2/device`);
  expect(await languageOf(person)).toBe('ar rtl');
  expect(await person.faults()).toEqual([]);

  await page.getByRole('textbox').fill('WRON-GONE');
  await page.getByRole('button', { name: 'متابعة' }).click();
  await page.getByRole('alert').waitFor();
  expect(await languageOf(person)).toBe('ar rtl');
  expect(await menu.count()).toBe(0);
});

test('a choice that is no language changes nothing and is not stored', async () => {
  const tab = service.tab();
  for (const choice of ['xx', 'de%0d%0aSet-Cookie:%20a=b', '']) {
    const { headers, bytes } = await tab
      .navigate(`/oauth2/auth?client_id=absent&language=${choice}`)
      .is(400);
    expect(bytes.toString()).toContain('<html lang="en" dir="ltr">');
    expect(String(headers['set-cookie'] ?? '')).not.toContain('vestibule.language');
  }
});
