import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { settles } from '../support/patience.js';
import { verificationAddress } from '../support/people/device.js';
import { authorizationPath, begin, mailTo, redeem, signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { closeBrowser, leaveAfterEach, Person } from './support/person.js';
import { asPerson } from './support/visitor.js';

jest.setTimeout(120_000);

let service: TestService;
let operator: Tab;
const people: Person[] = [];

const rules = `
@id("shut") @message("Shut.") @message_de("Zu.")
forbid (principal, action == Action::"signUp", resource) when { context.domain == "shut.test" };
@id("no-games") @message("No games.") @message_de("Keine Spiele.")
forbid (principal, action == Action::"signIn", resource == Client::"game");
@id("no-addresses") @message("No addresses.") @message_de("Keine Adressen.")
forbid (principal, action == Action::"share", resource == Scope::"email")
when { context.client == Client::"photos" };
@id("no-groups") @message("No groups.") @message_de("Keine Gruppen.")
forbid (principal, action == Action::"list", resource is Group);
@id("no-names") @message("No names.") @message_de("Keine Namen.")
forbid (principal, action == Action::"patch", resource is Account);
@id("no-first") @message("No first one.") @message_de("Keine Ersten.")
forbid (principal, action == Action::"invitations/accept", resource);
@id("no-commands") @message("No commands.") @message_de("Keine Befehle.")
forbid (principal, action == Action::"signIn", resource == Client::"vestibule");`;

beforeAll(async () => {
  service = await startTest({
    flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
  });
  for (const name of ['photos', 'game']) {
    await createClient(service, name, {
      appMenu: 'Everyone',
      initiateLoginURI: `${service.baseURL}/start`,
      scopes: ['openid', 'email'].map((scope) => ({ name: scope, required: scope === 'openid' })),
    });
  }
  operator = (await signIn(service, 'op@example.test', { client: 'photos' })).tab;
  const spec = { email: 'invited@example.test' };
  await operator.post('invitations', { metadata: { name: 'first' }, spec }).is(201);
  const { body } = await operator.get('policies/p-1').is(200);
  await operator.post('policies', { spec: { cedar: `${body.spec.cedar}\n${rules}` } }).is(201);
});
leaveAfterEach(people);
afterAll(async () => {
  await closeBrowser();
  await stopAll();
});

async function signedIn(locale: string): Promise<Person> {
  const { tab } = await signIn(service, `${locale.toLowerCase()}@example.test`, {
    client: 'photos',
    scope: 'openid',
  });
  const person = await asPerson(service, tab, { locale });
  people.push(person);
  return person;
}

const authorize = (client: string, scope: string): string =>
  `${service.baseURL}${authorizationPath(client, scope, 'v'.repeat(43), { prompt: 'consent' })}`;

/** The pages where a person reads the message of a rule, each with its base message. */
const roads: Record<string, [message: string, open: (locale: string) => Promise<Person>]> = {
  'a refusal of the address that was just verified': [
    'Shut.',
    async (locale) => {
      const address = `${locale.toLowerCase()}@shut.test`;
      const { tab, I, name } = await begin(service, { client: 'photos' });
      await tab.post(`${I}/emailchallenge`, { spec: { email: address } }).is(200);
      const { code } = await mailTo(service, address, []);
      const person = await asPerson(service, tab, { locale });
      people.push(person);
      await person.page.goto(`${service.baseURL}/interaction/${name}`);
      await person.page.locator('input[autocomplete=one-time-code]').fill(code);
      await person.at('error');
      return person;
    },
  ],
  'a refusal of the session': [
    'No games.',
    async (locale) => {
      const person = await signedIn(locale);
      await person.page.goto(authorize('game', 'openid'));
      return person;
    },
  ],
  'a scope at the consent': [
    'No addresses.',
    async (locale) => {
      const person = await signedIn(locale);
      await person.page.goto(authorize('photos', 'openid email'));
      await person.at('ConsentRequired');
      return person;
    },
  ],
  'an app of the menu': [
    'No games.',
    async (locale) => {
      const person = await signedIn(locale);
      await person.page.goto(`${service.baseURL}/account`);
      await person.at('account');
      return person;
    },
  ],
  'an error of the console': [
    'No groups.',
    async (locale) => {
      const person = await signedIn(locale);
      await person.page.goto(`${service.baseURL}/console/groups`);
      return person;
    },
  ],
  'an error of the account page': [
    'No names.',
    async (locale) => {
      const person = await signedIn(locale);
      await person.page.goto(`${service.baseURL}/account`);
      await person.at('account');
      const form = person.page.locator('section[aria-labelledby=profile] form');
      await form.locator('input').first().fill('Ada');
      await form.locator('button[type=submit]').click();
      return person;
    },
  ],
  'an invitation, for who may see it': [
    'No first one.',
    async (locale) => {
      const person = await asPerson(service, operator, { locale });
      people.push(person);
      await person.page.goto(`${service.baseURL}/invitation#first.${'A'.repeat(43)}`);
      await person.page.locator('main .main').click();
      return person;
    },
  ],
  'a device that is connected': [
    'No commands.',
    async (locale) => {
      const person = await signedIn(locale);
      const { page } = person;
      await page.goto(await verificationAddress(service));
      await page.locator('main .main').click();
      return person;
    },
  ],
  'the rules of the policy': [
    'Shut.',
    async (locale) => {
      const person = await signedIn(locale);
      await person.page.goto(`${service.baseURL}/policy#rule=shut`);
      return person;
    },
  ],
};

const german: Record<string, string> = {
  'Shut.': 'Zu.',
  'No games.': 'Keine Spiele.',
  'No addresses.': 'Keine Adressen.',
  'No groups.': 'Keine Gruppen.',
  'No names.': 'Keine Namen.',
  'No first one.': 'Keine Ersten.',
  'No commands.': 'Keine Befehle.',
};

test.each(Object.keys(roads))(
  'the message of a rule is in the language of its reader: %s',
  async (road) => {
    const [message, open] = roads[road]!;
    for (const [locale, words] of [
      ['de-AT', german[message]!],
      ['fr', message],
    ] as const) {
      const { page } = await open(locale);
      await page.getByText(words, { exact: true }).first().waitFor();
      // The text of the policy has every language.
      const read = page
        .locator('main :is(p:not([role=status]), h3, blockquote, q)')
        .getByText(message, { exact: true });
      expect(await read.count()).toBe(locale === 'fr' ? 1 : 0);
    }
  },
);

test('a refusal of this service itself is in the language of the page', async () => {
  const { tab } = await signIn(service, 'own@example.test', { client: 'photos', scope: 'openid' });
  const refused = await tab.post('groups', { metadata: { name: 'x' }, spec: {} }).is(403);
  expect(refused.body.message).toMatch(/No rule permits it\./);
  expect(refused.body.details.messages?.de).toBe('Keine Regel erlaubt es.');
});

test('a decision shows its rule in the language of the page, as words of it', async () => {
  const person = await signedIn('de');
  const { page } = person;
  await page.goto(authorize('game', 'openid'));
  await page.getByText('Keine Spiele.', { exact: true }).first().waitFor();
  await page.goto(`${service.baseURL}/policy#decisions`);
  const found = page.locator('.decision', { hasText: 'Keine Spiele.' });
  await found.first().waitFor();
  expect(await found.first().textContent()).not.toMatch(/No games/);
  const all = (await page.textContent('main')) ?? '';
  expect(all).not.toMatch(/You may|Anyone|Own |Any scope|Everyone/);
});

test('the default rules are words of the language, on the policy page', async () => {
  const { page } = await signedIn('de');
  await page.goto(`${service.baseURL}/policy`);
  await page.locator('.rule h3').first().waitFor({ state: 'attached' });
  const headings = await page.locator('.rule h3 bdi').allTextContents();
  expect(headings).toContain('Alle dürfen ein Konto anlegen.');
  expect(headings).toContain('Sie dürfen Ihre eigenen Passkeys sehen und ändern.');
  expect(headings.filter((text) => /\b(anyone|own|operators|people)\b/i.test(text))).toEqual([]);
});

test.each([
  ['de', ['Kennung', 'Stärke der Anmeldung', 'Zeit der Anmeldung']],
  ['en', ['Identifier', 'Strength of the sign-in', 'Time of the sign-in']],
])('the claims that an app got are words in the ledger, in %s', async (locale, words) => {
  const signed = await signIn(service, `ledger-${locale}@example.test`, {
    client: 'photos',
    scope: 'openid',
  });
  await redeem(service, signed);
  await settles(
    async () => (await signed.tab.get('grants').is(200)).body.items[0].status.disclosures,
    (all) => all.length > 0,
  );
  const person = await asPerson(service, signed.tab, { locale });
  people.push(person);
  await person.page.goto(`${service.baseURL}/account`);
  const grants = person.page.locator('section[aria-labelledby=grants]');
  await grants.getByText(words[0]!).first().waitFor();
  const text = (await grants.textContent()) ?? '';
  for (const word of words) expect(text).toContain(word);
  expect(text).not.toMatch(/\b(sid|sub|acr|amr|auth_time)\b/);
});
