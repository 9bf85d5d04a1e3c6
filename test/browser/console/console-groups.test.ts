import { beforeAll, expect, test } from '@jest/globals';
import { until } from '../../support/patience.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, type TestService } from '../../support/service.js';
import { changesOf, openConsole } from '../support/console.js';
import { overflows } from '../support/inspection.js';
import type { Person } from '../support/person.js';
import { reach } from '../support/visitor.js';
import { startOperated, visitors } from '../support/visitors.js';

let service: TestService;
let operator: Tab;
const arriveAs = visitors(() => service);
const arrive = (options?: Parameters<typeof arriveAs>[1]): Promise<Person> =>
  arriveAs(operator, options);
const path = '/apis/id.vestibule.org/v1beta1/groups';
const inDays = (days: number): string =>
  `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 19)}Z`;
const specOf = async (group: string) => (await operator.get(`groups/${group}`).is(200)).body.spec;
const createGroup = (name: string, spec: object) =>
  operator.post('groups', { metadata: { name }, spec: { displayName: `The ${name}`, ...spec } });

beforeAll(async () => {
  ({ service, operator } = await startOperated());
  await createClient(service, 'ledger', { displayName: 'Ledger' });
  for (const [name, email] of [
    ['Grace Hopper', 'grace@navy.test'],
    ['Ada Lovelace', 'ada@engine.test'],
    ['Alan Turing', 'alan@bletchley.test'],
  ]) {
    await operator.post('accounts', { spec: { email, displayName: name } }).is(201);
  }
});

test('members show who, until when and why, and many leave by one request', async () => {
  await createGroup('crew', {
    members: ['grace@navy.test', 'absent@example.test'],
    temporaryMembers: [
      { email: 'ada@engine.test', until: inDays(2), reason: 'Covers for Grace' },
      { email: 'alan@bletchley.test', until: inDays(90) },
      { email: 'old@example.test', until: inDays(-2) },
    ],
  }).is(201);
  const person = await arrive();
  const { page } = person;
  await openConsole(service, person, '/groups/crew');
  await page.getByText('4 people', { exact: true }).waitFor();
  await page.getByText('2 with an end').waitFor();
  const row = (words: string) => page.getByRole('row').filter({ hasText: words });
  await row('Grace Hopper').getByText('No end').waitFor();
  await row('Ada Lovelace').getByText('Covers for Grace').waitFor();
  await row('Ada Lovelace').locator('.state.warn').waitFor();
  await row('old@example.test').getByText('Ended').waitFor();
  const changes = changesOf(page);
  await page.getByRole('checkbox', { name: 'Select Ada Lovelace' }).check();
  await page.getByRole('checkbox', { name: 'Select absent@example.test' }).check();
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  const question = page.getByRole('group', { name: 'Remove', exact: true });
  await question.getByText('2 people leave The crew.').waitFor();
  await page.waitForTimeout(600); // earlier clicks are not meant for the question
  await question.getByRole('button', { name: 'Remove', exact: true }).click();
  await row('Ada Lovelace').waitFor({ state: 'detached' });
  expect((await specOf('crew')).members).toEqual(['grace@navy.test']);
  expect(changes).toEqual([
    {
      method: 'PATCH',
      path: `${path}/crew`,
      type: 'application/merge-patch+json',
      body: expect.objectContaining({ spec: expect.anything() }),
    },
  ]);
});

test('pasted names and addresses are found; what is not found is named and stays', async () => {
  await createGroup('desk', { members: ['grace@navy.test'] }).is(201);
  const person = await arrive();
  const { page } = person;
  const changes = changesOf(page);
  await openConsole(service, person, '/groups/desk');
  const field = page.getByRole('textbox', { name: 'Add people' });
  await field.fill('GRACE@navy.test; Ada L <ada@engine.test>\ntur\ntemp@contractor.test, nonsense');
  await page.getByText('1 found · 1 in the group already').first().waitFor();
  await page.getByText('Has no account').waitFor();
  await page.getByRole('button', { name: 'Take Alan Turing' }).click();
  await page.getByText('2 found · 1 in the group already').first().waitFor();
  await page.getByRole('button', { name: 'Add 2 people' }).click();
  await page.getByRole('row').filter({ hasText: 'Alan Turing' }).waitFor();
  expect(await field.inputValue()).toBe('temp@contractor.test\nnonsense');
  await page.getByRole('checkbox', { name: /^Also add addresses/ }).check();
  await page.locator('#until').fill('2099-12-31');
  await page.getByRole('textbox', { name: 'Reason' }).fill('Year end');
  await page.getByRole('button', { name: 'Add 1 person' }).click();
  await until(async () => (await field.inputValue()) === 'nonsense');
  const { members, temporaryMembers } = await specOf('desk');
  expect(members).toEqual(['grace@navy.test', 'ada@engine.test', 'alan@bletchley.test']);
  expect(temporaryMembers).toEqual([
    {
      email: 'temp@contractor.test',
      until: expect.stringMatching(/^2099-12-31T|^2100-01-01T/),
      reason: 'Year end',
    },
  ]);
  expect(changes.map((change) => `${change.method} ${change.path}`)).toEqual([
    `PATCH ${path}/desk`,
    `PATCH ${path}/desk`,
  ]);
});

test('what the group opens are the rules that name it, with their apps', async () => {
  await createGroup('readers', {}).is(201);
  const [policy] = (await operator.get('policies').is(200)).body.items;
  const cedar = `${policy.spec.cedar}
@id("app-ledger-members") @message("Ledger is for readers.")
forbid (principal, action == Action::"signIn", resource == Client::"ledger")
unless { principal in Group::"readers" };
`;
  await operator.post('policies', { spec: { cedar } }).is(201);
  const person = await arrive();
  const { page } = person;
  await openConsole(service, person, '/groups/readers');
  await page.getByText('No one is in this group yet.').waitFor();
  const pane = page.getByRole('complementary');
  await pane.getByRole('link', { name: /Rule app-ledger-members/ }).waitFor();
  await pane.getByRole('link', { name: 'Ledger', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'ledger' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'The readers' }).waitFor();
});

test('by the keyboard alone someone is added, and a search can be shared', async () => {
  await createGroup('keys', { members: ['grace@navy.test', 'alan@bletchley.test'] }).is(201);
  const person = await arrive();
  const { page } = person;
  await openConsole(service, person, '/groups/keys?find=grace');
  await page.getByText('1 of 2').first().waitFor();
  await page.locator('#pasted').focus();
  await page.keyboard.type('ada@engine.test');
  await page.getByRole('button', { name: 'Add 1 person' }).waitFor();
  await reach(person, 'Add 1 person');
  await page.keyboard.press('Enter');
  await until(async () => (await specOf('keys')).members.length === 3);
});

test.each([
  ['light', { colorScheme: 'light' as const, locale: 'en-GB' }],
  ['dark', { colorScheme: 'dark' as const, locale: 'en-GB' }],
  ['Arabic', { colorScheme: 'light' as const, locale: 'ar' }],
])('axe finds nothing in %s, and nothing is too wide at 320 px or 200 %%', async (name, look) => {
  await createGroup(`look-${name.toLowerCase()}`, {
    members: ['grace@navy.test'],
    temporaryMembers: [{ email: 'ada@engine.test', until: inDays(2), reason: 'Covers for Grace' }],
  }).is(201);
  const person = await arrive(look);
  const { page } = person;
  await openConsole(service, person, `/groups/look-${name.toLowerCase()}`);
  await page.locator('#pasted').fill('tur\ntemp@contractor.test\n');
  await page.locator('.pane .rows li').nth(1).waitFor();
  await page.waitForFunction(() => !document.querySelector('main [aria-busy]'));
  expect([
    ...(await person.faults()),
    ...(await overflows(page, 320)),
    ...(await overflows(page, 640, 'html { font-size: 200% !important }')),
  ]).toEqual([]);
});
