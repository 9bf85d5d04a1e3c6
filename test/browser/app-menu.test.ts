import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { stores } from '../support/stores.js';
import { closeBrowser, leaveAfterEach, Person } from './support/person.js';
import { asPerson } from './support/visitor.js';

const people: Person[] = [];
leaveAfterEach(people);
afterAll(async () => {
  await closeBrowser();
  await stopAll();
});

const rules = `
@id("bank-by-passkey") @message("Sign in with a passkey.")
forbid (principal, action == Action::"signIn", resource == Client::"bank")
unless { context.assurance == "phr" };
@id("staff-only") @message("Only staff may sign in here.")
forbid (principal, action == Action::"signIn", resource)
when { resource == Client::"secret" || resource == Client::"wiki" };`;

describe.each(stores)('the app menu of the account page, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let first: string;

  const open = async (address: string, locale = 'en-GB'): Promise<Person> => {
    const { tab } = await signIn(service, address);
    const person = await asPerson(service, tab, { locale });
    people.push(person);
    await person.page.goto(`${service.baseURL}/account`);
    await person.at('account');
    return person;
  };
  const policy = (cedar: string) => operator.post('policies', { spec: { cedar } }).is(201);

  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
    });
    await createClient(service, 'app');
    await createClient(service, 'notes', {
      displayName: 'Lantern Notes',
      displayNames: { en: 'Lantern Notes', de: 'Laternennotizen' },
      homepageURI: `${service.baseURL}/policy`,
    });
    await createClient(service, 'secret', {
      displayName: 'Secret',
      homepageURI: 'https://secret.example.test/',
    });
    for (const [name, displayName] of [
      ['bank', 'Meridian Bank'],
      ['wiki', 'Wiki of the staff'],
    ] as const) {
      await createClient(service, name, {
        displayName,
        homepageURI: `https://${name}.example.test/`,
        appMenu: 'Everyone',
      });
    }
    operator = (await signIn(service, 'op@example.test')).tab;
    first = (await operator.get('policies/p-1').is(200)).body.spec.cedar as string;
    await operator
      .patch('appearances/default', { spec: { supportURI: 'https://help.example.test/' } })
      .is(200);
    await policy(first + rules);
  });

  test('starts apps, and says of those refused why and what to do', async () => {
    const person = await open('ada@example.test');
    const { page } = person;
    const section = page.getByRole('region', { name: 'Apps you may use' });
    const names = (list: string) =>
      section.getByRole('list', { name: list, exact: true }).getByRole('listitem').allInnerTexts();
    await section.getByRole('link', { name: 'Lantern Notes' }).waitFor();
    expect(await names('Apps you may use')).toEqual([expect.stringContaining('Lantern Notes')]);
    const [bank, wiki, ...others] = await names('Apps you may not use');
    expect(bank).toMatch(/Meridian Bank[^]*Sign in with a passkey\.[^]*Add a passkey to use it/);
    expect(wiki).toMatch(/Wiki of the staff[^]*Only staff may sign in here\./);
    expect(others).toEqual([]);
    expect(await section.innerText()).not.toContain('Secret');
    expect(await section.getByRole('link', { name: 'Help' }).getAttribute('href')).toBe(
      'https://help.example.test/',
    );
    expect(await person.faults()).toEqual([]);
    await section.getByRole('link', { name: 'Add a passkey to use it' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('#passkeys:focus').waitFor();
    await page
      .getByRole('navigation', { name: 'On this page' })
      .getByRole('link', { name: 'Apps you may use' })
      .click();
    await page.locator('#apps:focus').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${service.baseURL}/policy`);
  });

  test('has names in the language of the page, and marks others', async () => {
    const { page } = await open('de@example.test', 'de-DE');
    const section = page.getByRole('region', { name: 'Apps, die Sie nutzen dürfen' });
    await section.getByRole('link', { name: 'Laternennotizen' }).waitFor();
    const french = await open('fr@example.test', 'fr-FR');
    const name = french.page.getByRole('link', { name: 'Lantern Notes' }).locator('bdi');
    await name.waitFor();
    expect(await name.getAttribute('lang')).toBe('en');
  });

  test('is left out under a policy that does not permit it', async () => {
    await policy(first.replace('Action::"accounts/apps", ', ''));
    const person = await open('old@example.test');
    const { page } = person;
    await page.getByRole('heading', { name: 'Connected apps' }).waitFor();
    const [refused] = await Promise.all([
      page.waitForResponse((response) => response.url().endsWith('/accounts/~/apps')),
      page.reload(),
    ]);
    expect(refused.status()).toBe(403);
    await page.getByRole('list', { name: 'Apps' }).waitFor();
    expect(await page.getByText('Apps you may use').count()).toBe(0);
    person.complaints.length = 0; // the browser reports the refusal
  });
});
