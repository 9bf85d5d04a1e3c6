import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Appearance } from '../../kinds/appearance/appearance.js';
import { ClaimsProvider } from '../../kinds/apps/claims/claims-provider.js';
import { Supplier, says } from '../provider/support/supplier.js';
import { settles } from '../support/patience.js';
import { authorizationPath, begin, mailTo, signIn } from '../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { closeBrowser, leaveAfterEach, Person } from './support/person.js';
import { asPerson } from './support/visitor.js';

jest.setTimeout(120_000);

let service: TestService;
const people: Person[] = [];
const stays = (person: Person): Person => {
  people.push(person);
  return person;
};

const cards = {
  displayName: 'Cards',
  displayNames: { en: 'Card office', de: 'Kartenstelle' },
  timeoutMilliseconds: 400,
  failurePolicy: 'Omit' as const,
  scopes: [
    {
      name: 'card',
      title: 'A card',
      titles: { en: 'Loyalty card', de: 'Kundenkarte' },
      description: 'A card.',
      descriptions: { en: 'Collect points.', de: 'Punkte sammeln.' },
      sensitive: false,
      claims: [
        {
          name: 'card_number',
          title: 'Number',
          titles: { en: 'Card number', de: 'Kartennummer' },
          type: 'string' as const,
        },
      ],
    },
  ],
};

let supplier: Supplier;

beforeAll(async () => {
  service = await startTest({ flags: ['--operators', 'op@example.test'] });
  supplier = await Supplier.open();
  supplier.answer = says({ card_number: '4711' });
  await service.store.change(service.store.systemCall(), (tx) =>
    tx.create(ClaimsProvider, {
      metadata: { name: 'cards' },
      spec: { ...cards, reviewURI: supplier.url },
    }),
  );
  await createClient(service, 'photos', {
    displayName: 'Pics',
    displayNames: { en: 'Holiday photos', de: 'Urlaubsfotos' },
    scopes: ['openid', 'email', 'profile', 'offline_access', 'card'].map((name) => ({
      name,
      required: name === 'openid',
    })),
  });
  const operator = (await signIn(service, 'op@example.test', { client: 'photos' })).tab;
  const { body } = await operator.get('policies/p-1').is(200);
  const shut =
    '@id("shut") @message("Shut.") forbid (principal, action == Action::"signUp", resource) when { context.domain == "shut.test" };';
  await operator.post('policies', { spec: { cedar: `${body.spec.cedar}\n${shut}` } }).is(201);
});
leaveAfterEach(people);
afterAll(async () => {
  await closeBrowser();
  await supplier.close();
  await stopAll();
});

/** Opens the consent page of a new sign-in that continues a session. */
async function openConsent(locale: string): Promise<Person> {
  const { tab } = await signIn(service, `${locale.toLowerCase()}@example.test`, {
    client: 'photos',
    scope: 'openid email card',
  });
  const person = stays(await asPerson(service, tab, { locale }));
  await person.page.goto(
    `${service.baseURL}${authorizationPath('photos', 'openid email profile offline_access card', 'v'.repeat(43), { prompt: 'consent' })}`,
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
  {
    locale: 'de-AT',
    app: 'Urlaubsfotos',
    lang: 'de-AT',
    title: 'Ihr Profil',
    claim: 'Letzte Änderung',
    supplied: ['Kartenstelle', 'Kundenkarte', 'Punkte sammeln.', 'Kartennummer'],
  },
  {
    locale: 'ar',
    app: 'Holiday photos',
    lang: 'en',
    title: 'ملفك الشخصي',
    claim: 'آخر تغيير',
    supplied: ['Card office', 'Loyalty card', 'Collect points.', 'Card number'],
  },
])('consent and account page in $locale name apps and scopes', async (row) => {
  const { locale, app, lang, title, claim, supplied } = row;
  const person = await openConsent(locale);
  const { page } = person;
  const languages = await languagesOf(person, app);
  expect(languages.length).toBeGreaterThan(1);
  expect(new Set(languages)).toEqual(new Set([lang]));
  expect(await page.getByRole('checkbox', { name: title }).count()).toBe(1);
  for (const text of supplied) {
    expect(new Set(await languagesOf(person, text))).toEqual(new Set([lang]));
  }
  const text = (await page.textContent('main')) ?? '';
  expect(text).toContain(claim);
  expect(text).not.toMatch(/Your |Last change|scope\.|claim\.|Pics|Cards|A card|\bNumber\b/);
  expect(await person.faults()).toEqual([]);

  await page.goto(`${service.baseURL}/account`);
  await person.at('account');
  const grants = page.locator('section[aria-labelledby=grants]');
  await grants.getByRole('heading', { name: app }).waitFor();
  expect(new Set(await languagesOf(person, app))).toEqual(new Set([lang]));
  await page.waitForFunction(
    () =>
      !/\bopenid\b/.test(
        document.querySelector('section[aria-labelledby=grants]')?.textContent ?? '',
      ),
  );
  await grants.getByText(supplied[1]!).first().waitFor();
  expect(new Set(await languagesOf(person, supplied[1]!))).toEqual(new Set([lang]));
  expect(await page.textContent('main')).not.toMatch(/Your |scope\.|Pics|A card/);
  expect(await person.faults()).toEqual([]);
});

test.each([
  ['de-AT', 'Urlaubsfotos', 'de-AT'],
  ['ar', 'Holiday photos', 'en'],
])('a refusal in %s names the app', async (locale, app, lang) => {
  const address = `${locale.toLowerCase()}@shut.test`;
  const { tab, I, name } = await begin(service, { client: 'photos' });
  await tab.post(`${I}/emailchallenge`, { spec: { email: address } }).is(200);
  const { code } = await mailTo(service, address, []);
  const person = stays(await asPerson(service, tab, { locale }));
  await person.page.goto(`${service.baseURL}/interaction/${name}`);
  await person.page.locator('input[autocomplete=one-time-code]').fill(code);
  await person.at('error');
  await person.page.locator('dl dd').first().waitFor();
  expect(new Set(await languagesOf(person, app))).toEqual(new Set([lang]));
  expect((await languagesOf(person, app)).length).toBeGreaterThan(1);
  expect(await person.page.textContent('main')).not.toContain('Pics');
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

test('what this service supplies comes from its own name', async () => {
  await service.store.change(service.store.systemCall(), (tx) =>
    tx.update(Appearance, 'default', ({ spec }) => {
      Object.assign(spec, { displayName: 'Harbour', accentColor: '#0c6b62' });
    }),
  );
  await settles(
    async () => (await service.tab().navigate('/account').is(200)).bytes,
    (bytes) => bytes.includes('/assets/appearance-'),
  );
  const { page } = await openConsent('en');
  await page.getByText('From Harbour').first().waitFor();
  expect(await page.getByText('From Vestibule').count()).toBe(0);
  expect(await page.getByText('From Card office').count()).toBe(1);
});
