import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { stores } from '../support/stores.js';
import { openConsole } from './support/console.js';
import { overflows } from './support/inspection.js';
import { closeBrowser, leaveAfterEach, type Person } from './support/person.js';
import { asPerson } from './support/visitor.js';

const people: Person[] = [];
leaveAfterEach(people);
afterAll(async () => {
  await closeBrowser();
  await stopAll();
});

const rule = `
@id("staff-only") @message("Only staff may sign in here.")
forbid (principal, action == Action::"signIn", resource == Client::"wiki")
unless { principal in Group::"staff" };`;

describe.each(stores)('requests for access in the browser, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  const arrive = async (tab: Tab): Promise<Person> => {
    const person = await asPerson(service, tab, { locale: 'en-GB' });
    people.push(person);
    return person;
  };
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
    });
    await createClient(service, 'app');
    await createClient(service, 'wiki', {
      displayName: 'Wiki of the staff',
      homepageURI: 'https://wiki.example.test/',
      appMenu: 'Everyone',
    });
    operator = (await signIn(service, 'op@example.test')).tab;
    const { spec } = (await operator.get('policies/p-1').is(200)).body;
    await operator.post('policies', { spec: { cedar: spec.cedar + rule } }).is(201);
    await operator
      .post('groups', { metadata: { name: 'staff' }, spec: { displayName: 'Staff' } })
      .is(201);
  });

  /** Opens the account page and asks for access to the wiki. */
  async function ask(address: string): Promise<Person> {
    const person = await arrive((await signIn(service, address)).tab);
    const { page } = person;
    await page.goto(`${service.baseURL}/account`);
    await page.getByRole('button', { name: 'Ask for access Wiki of the staff' }).press('Enter');
    await page.getByLabel('Why do you need it?').fill('I write the minutes.');
    await page.getByLabel('For how long?').selectOption('30 days');
    expect(await person.faults()).toEqual([]);
    await page.getByRole('button', { name: 'Send the request' }).press('Enter');
    await page.getByText('waiting for a decision').first().waitFor();
    return person;
  }

  async function decide(address: string, name: 'Approve' | 'Deny', message: string): Promise<void> {
    const console = await arrive(operator);
    const { page } = console;
    await openConsole(service, console, '/people');
    await page.getByRole('heading', { name: 'Requests for access' }).waitFor();
    expect(await overflows(page, 320)).toEqual([]);
    await page
      .getByRole('listitem')
      .filter({ hasText: address })
      .getByRole('link', { name: 'Decide' })
      .click();
    await page.getByLabel('Message to the person (optional)').fill(message);
    await page.getByRole('button', { name, exact: true }).click();
    const question = page.getByRole('group', { name, exact: true });
    expect(await console.faults()).toEqual([]);
    await page.waitForTimeout(600); // earlier clicks are not meant for the question
    await question.getByRole('button', { name, exact: true }).click();
    await question.waitFor({ state: 'detached' });
  }

  test('one is made on the account page, approved, and opens the app', async () => {
    const { page } = await ask('ada@example.test');
    await decide('ada@example.test', 'Approve', 'Welcome.');
    await page.getByText('you are a member until').first().waitFor();
    await page.getByText('Answer: Welcome.').first().waitFor();
    await page.getByRole('link', { name: 'Wiki of the staff' }).waitFor();
    await page.getByRole('button', { name: 'End staff' }).press('Enter');
    await page.waitForTimeout(600); // earlier clicks are not meant for the question
    await page.getByRole('button', { name: 'Confirm' }).press('Enter');
    await page.getByRole('button', { name: 'Ask for access Wiki of the staff' }).waitFor();
  });

  test('one that is denied shows the answer, and another can be made', async () => {
    const { page } = await ask('eve@example.test');
    await decide('eve@example.test', 'Deny', 'Ask Bob first.');
    await page.getByText('Answer: Ask Bob first.').first().waitFor();
    await page.getByRole('button', { name: 'Ask for access Wiki of the staff' }).waitFor();
  });

  test('one that waits can be taken back', async () => {
    const { page } = await ask('kim@example.test');
    await page.getByRole('button', { name: 'Take back staff' }).press('Enter');
    await page.waitForTimeout(600); // earlier clicks are not meant for the question
    await page.getByRole('button', { name: 'Confirm' }).press('Enter');
    await page.getByText('waiting for a decision').waitFor({ state: 'detached' });
  });
});
