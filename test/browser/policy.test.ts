import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { stopAll, type TestService } from '../support/service.js';
import { closeBrowser, leaveAfterEach, Person } from './support/person.js';
import { asPerson, reach } from './support/visitor.js';
import { startOperated } from './support/visitors.js';

let service: TestService;
let operator: Tab;
let ada: Tab;
let original: string;
const people: Person[] = [];
const arrive = async (tab?: Tab): Promise<Person> => {
  const person = await (tab ? asPerson(service, tab) : Person.arrive());
  people.push(person);
  await person.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  return person;
};
const open = async (person: Person, fragment = ''): Promise<void> => {
  await person.page.goto(`${service.baseURL}/policy${fragment}`);
  await person.at('policy');
};
const showAll = (person: Person): Promise<void> =>
  person.page.getByRole('button', { name: 'Show all rules' }).click();
const enact = async (cedar: string, description: string): Promise<string> =>
  (await operator.post('policies', { spec: { cedar, description } }).is(201)).body.metadata.name;

const closed =
  '\n@id("no-names-for-app")\n@message("The app works without your name.")\nforbid (principal, action == Action::"share", resource == Scope::"profile")\nwhen { context.client == Client::"app" };\n';

beforeAll(async () => {
  ({ service, operator } = await startOperated());
  ada = (await signIn(service, 'ada@example.test')).tab;
  original = (await service.tab().get('policies/p-1').is(200)).body.spec.cedar;
});
leaveAfterEach(people);
afterAll(async () => {
  await closeBrowser();
  await stopAll();
});

test('a visitor reads the text that is in force and every rule in words', async () => {
  const person = await arrive();
  const { page } = person;
  await open(person);
  await page.getByRole('heading', { level: 1, name: 'Current policy', exact: true }).waitFor();
  await page.getByText('In force since').first().waitFor();
  expect(await page.getByText('Activated by').count()).toBe(0);
  await page.getByText('What operators may do').waitFor();
  expect(await page.getByRole('heading', { level: 3 }).count()).toBe(0);
  await page.getByRole('link', { name: 'Policy text', exact: true }).click();
  const text = page.getByRole('group', { name: 'Text of policy p-1' });
  await text.waitFor();
  expect(
    await text
      .locator('.line')
      .evaluateAll((all) => all.map((line) => line.textContent!.replace(/^\n$/, '')).join('\n')),
  ).toBe(original.replace(/\n$/, ''));
  await page.getByRole('link', { name: 'Rules in words', exact: true }).click();
  await showAll(person);
  const rule = page
    .getByRole('listitem')
    .filter({ has: page.getByRole('heading', { name: 'Anyone reads policies' }) });
  await rule.getByText('Permits').waitFor();
  await rule.getByText('reading, listing, watching').waitFor();
  expect(await page.getByRole('heading', { level: 3 }).count()).toBe(
    (original.match(/^@id/gm) ?? []).length,
  );
  await rule.getByRole('link', { name: /of the policy text/ }).click();
  await page.waitForFunction(
    () => document.activeElement?.textContent === '@id("anyone-reads-policies")',
  );
  expect(await person.faults()).toEqual([]);
});

test('a rule is found by words of its title, message, comment or condition', async () => {
  const person = await arrive();
  const { page } = person;
  await open(person);
  const search = page.getByRole('textbox', { name: 'Find a rule' });
  await search.fill('garbage collector');
  await page.getByText('1 rule found.').waitFor();
  await page.getByRole('heading', { level: 3, name: 'Cluster garbage collector' }).waitFor();
  expect(await page.getByRole('heading', { level: 3 }).count()).toBe(1);
  await search.fill('no rule has this');
  await page.getByText('0 rules found.').waitFor();
  expect(await person.faults()).toEqual([]);
});

test('an operator reads where it comes from', async () => {
  const person = await arrive(operator);
  await open(person);
  await person.page.getByText('Activated by').waitFor();
  await person.page.getByText('Default policy of the service').waitFor();
  expect(await person.faults()).toEqual([]);
});

test('what is copied of the text has no line numbers', async () => {
  const person = await arrive();
  await open(person, '#at=text');
  const copied = await person.page.evaluate(() => {
    getSelection()!.selectAllChildren(document.querySelector('pre[aria-label]')!);
    return getSelection()!.toString();
  });
  expect(copied.trimEnd()).toBe(original.trimEnd());
});

test('an open page changes when another policy comes into force, and says so', async () => {
  const person = await arrive();
  const { page } = person;
  await open(person);
  await showAll(person);
  const name = await enact(original + closed, 'Names stay here.');
  const words = `${name} came into force while this page was open. You now see the new policy.`;
  await page.getByRole('status').getByText(words).waitFor({ state: 'attached' });
  await page.getByText('Names stay here.').first().waitFor();
  const rule = page
    .getByRole('listitem')
    .filter({ has: page.getByRole('heading', { name: 'No names for app' }) });
  await rule.getByRole('blockquote').getByText('The app works without your name.').waitFor();
  await rule.getByText('Refuses').waitFor();
  await page.getByRole('link', { name: 'Earlier policies', exact: true }).click();
  await page
    .getByRole('list', { name: 'Earlier policies' })
    .getByRole('link', { name: 'p-1', exact: true })
    .click();
  await page.getByRole('heading', { level: 1, name: 'Earlier policy p-1' }).waitFor();
  expect(await page.getByRole('heading', { name: 'No names for app' }).count()).toBe(0);
  expect(await person.faults()).toEqual([]);
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Current policy' }).waitFor();
  await page.getByRole('heading', { level: 2, name: 'Earlier policies' }).waitFor();
});

test('two policies are compared line by line, and what is chosen is in the address', async () => {
  const person = await arrive();
  const { page } = person;
  await open(person);
  await page.getByRole('link', { name: 'What changed with p-2' }).first().click();
  await page.getByText('5 lines added, 0 lines removed.').first().waitFor();
  const differences = page.getByRole('group', { name: 'Differences from p-1 to p-2' });
  expect(
    await differences
      .locator('ins')
      .evaluateAll((all) => all.map((line) => line.lastElementChild!.textContent)),
  ).toEqual(
    closed
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => line || '\n'),
  );
  await differences.getByText('Added:').first().waitFor({ state: 'attached' });
  const folded = await differences.locator('.line').count();
  await differences.getByRole('button', { name: /unchanged lines$/ }).click();
  expect(await differences.locator('.line').count()).toBeGreaterThan(folded + 50);
  expect(await person.faults()).toEqual([]);
  await page.getByRole('combobox', { name: 'Before' }).selectOption('p-2');
  await page.getByText('Both texts are the same.').first().waitFor();
  await page.getByRole('combobox', { name: 'After' }).selectOption('p-1');
  await page.getByText('0 lines added, 5 lines removed.').first().waitFor();
  await page.reload();
  await person.at('policy');
  await page.getByText('0 lines added, 5 lines removed.').first().waitFor();
});

test('a person follows a rule to what it decided about them, and back', async () => {
  const person = await arrive(ada);
  const { page } = person;
  await open(person);
  await showAll(person);
  await page.getByRole('link', { name: 'Your decisions by this rule Own account' }).click();
  await page
    .getByRole('heading', { level: 1, name: 'Your decisions by the rule Own account' })
    .waitFor();
  await ada.patch('accounts/~', { spec: { displayName: 'Ada' } }).is(200);
  const list = page.getByRole('list', { name: 'Decisions' });
  const changed = list.getByRole('listitem').filter({ hasText: 'Changing: accounts' });
  await changed.getByText('Allowed').waitFor();
  expect(await person.faults()).toEqual([]);
  await changed.getByRole('link', { name: 'Own account' }).click();
  await page.waitForFunction(
    () => (document.activeElement as HTMLElement | null)?.dataset.rule === 'own-account',
  );
  await open(person, '#decisions');
  await list.getByText('Share with app app: Your email address').first().waitFor();
  await ada.post('policies', { spec: { cedar: 'x' } }).fails(403, 'Forbidden');
  const refused = list.getByRole('listitem').filter({ hasText: 'Creating: policies' });
  await refused.getByText('Refused').waitFor();
  await refused.getByText('No rule permits this.').waitFor();
});

test('decisions of others are not shown, not even to operators', async () => {
  const one = await arrive(operator);
  await open(one, '#decisions');
  await one.page
    .getByRole('list', { name: 'Decisions' })
    .getByText('Creating: policies')
    .first()
    .waitFor();
  expect(await one.page.getByText('Changing: accounts').count()).toBe(0);
  const visitor = await arrive();
  await open(visitor, '#decisions=own-account');
  await visitor.page.getByText('You are not signed in.').waitFor();
  expect(await visitor.faults()).toEqual([]);
});

test('keyboard only: to the text of a rule, to a comparison, unfolding it, and back', async () => {
  const person = await arrive();
  const { page } = person;
  await open(person);
  await reach(person, 'Rules in words');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement?.id === 'rules');
  await reach(person, 'Show all rules');
  await page.keyboard.press('Enter');
  await reach(person, 'Show text');
  await page.keyboard.press('Enter');
  await page.locator('details:not(.group)[open] pre').waitFor();
  await reach(person, 'of the policy text');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement?.classList.contains('line'));
  await reach(person, 'What changed with');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement?.textContent === 'Compare two policies');
  await reach(person, 'unchanged line');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() =>
    /unchanged line/.test(document.activeElement?.getAttribute('aria-label') ?? ''),
  );
  await reach(person, 'Current policy');
  await page.keyboard.press('Enter');
  await page.waitForFunction(
    () =>
      document.activeElement?.tagName === 'H1' &&
      document.activeElement.textContent === 'Current policy',
  );
});
