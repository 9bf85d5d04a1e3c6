import { beforeAll, expect, test } from '@jest/globals';
import { until } from '../../support/patience.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import type { TestService } from '../../support/service.js';
import { changesOf, openConsole } from '../support/console.js';
import type { Person } from '../support/person.js';
import { startOperated, visitors } from '../support/visitors.js';

let service: TestService;
let operator: Tab;
const arriveAs = visitors(() => service);
const root = '/apis/id.vestibule.org/v1beta1';

/** The list of people, in which those of a test are ticked. */
async function select(words: string): Promise<Person> {
  const person = await arriveAs(operator);
  await openConsole(service, person, `/people?find=${words}`);
  await person.page.getByText('2 rows.').first().waitFor();
  await person.page.getByRole('checkbox', { name: 'Select all rows' }).check();
  await person.page.getByText('2 selected').first().waitFor();
  return person;
}

/** Carries out one act on those that are ticked. */
async function act({ page }: Person, name: string, question: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click();
  const group = page.getByRole('group', { name, exact: true });
  await group.getByText(question).waitFor();
  await page.waitForTimeout(600); // earlier clicks are not meant for the question
  await group.getByRole('button', { name, exact: true }).click();
}

/** Creates two accounts with a word in their addresses, and returns their names. */
const createTwo = (word: string): Promise<string[]> =>
  Promise.all(
    ['ann', 'bob'].map(async (name) => {
      const spec = { email: `${name}.${word}@example.test` };
      return (await operator.post('accounts', { spec }).is(201)).body.metadata.name as string;
    }),
  );

beforeAll(async () => {
  ({ service, operator } = await startOperated());
  for (const [name, members] of [
    ['staff', ['ANN.joins@example.test']],
    ['leads', ['ann.joins@example.test']],
    ['crew', ['ann.joins@example.test']],
  ] as const) {
    await operator
      .post('groups', { metadata: { name }, spec: { displayName: `The ${name}`, members } })
      .is(201);
  }
});

test('people show their groups, and join another by one request', async () => {
  await createTwo('joins');
  const person = await select('joins');
  const { page } = person;
  const changes = changesOf(page);
  const row = (words: string) => page.getByRole('row').filter({ hasText: words });
  await row('ann.joins').getByText('The crew').waitFor();
  await row('ann.joins').getByText('+1').waitFor();
  expect(await row('bob.joins').locator('.tag').count()).toBe(0);
  await page.getByRole('button', { name: 'Add to group…' }).click();
  await page.getByRole('combobox', { name: 'Add to a group' }).selectOption('The staff');
  await page.getByRole('button', { name: 'Add 1 person' }).click();
  await row('bob.joins').getByText('The staff').waitFor();
  expect(changes).toEqual([
    {
      method: 'PATCH',
      path: `${root}/groups/staff`,
      type: 'application/merge-patch+json',
      body: {
        metadata: { resourceVersion: expect.any(String) },
        spec: { members: ['ANN.joins@example.test', 'bob.joins@example.test'] },
      },
    },
  ]);
});

test('people are signed out together, on every device', async () => {
  const tabs: Tab[] = [];
  for (const name of ['ann', 'bob']) {
    tabs.push((await signIn(service, `${name}.leaves@example.test`)).tab);
  }
  const person = await select('leaves');
  await act(person, 'Sign out', '2 people are signed out on all devices at once.');
  for (const tab of tabs) await until(async () => (await tab.get('accounts/~')).code === 401);
});

test('people are disabled together, and each that was refused is named', async () => {
  const [ann, bob] = await createTwo('stops');
  const person = await select('stops');
  const { page } = person;
  const isDisabled = async (name: string): Promise<boolean> =>
    (await operator.get(`accounts/${name}`).is(200)).body.status.disabledTimestamp !== undefined;
  await page.route(`**/accounts/${ann}/disable`, (route) =>
    route.fulfill({
      status: 422,
      json: {
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        message: 'not this one',
        code: 422,
      },
    }),
  );
  await act(person, 'Disable', '2 people are signed out everywhere at once');
  await page.getByText('ann.stops@example.test: not this one').waitFor();
  expect([await isDisabled(ann!), await isDisabled(bob!)]).toEqual([false, true]);
  expect(await person.faults()).toEqual([]);
  await page.unroute(`**/accounts/${ann}/disable`);
  await page.waitForTimeout(600); // the click guard of the question
  const question = page.getByRole('group', { name: 'Disable', exact: true });
  await question.getByRole('button', { name: 'Disable', exact: true }).click();
  await until(() => isDisabled(ann!));
});

test('the page of a person has sign-ins and changes as one timeline', async () => {
  const { tab } = await signIn(service, 'time@example.test');
  await tab.patch('accounts/~', { spec: { displayName: 'Tim Time' } }).is(200);
  const { name } = (await tab.get('accounts/~').is(200)).body.metadata;
  const person = await arriveAs(operator);
  const { page } = person;
  await openConsole(service, person, `/people/${name}`);
  const timeline = page.getByRole('region', { name: 'What happened' });
  await timeline.getByRole('listitem').filter({ hasText: '127.0.0.' }).first().waitFor();
  await timeline.getByText('today').waitFor();
  await timeline
    .getByRole('link', { name: /sign-in/i })
    .first()
    .click();
  await page.getByRole('heading', { level: 1, name: 'Activity' }).waitFor();
  expect(new URL(page.url()).searchParams.get('find')).toBe('time@example.test');
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Tim Time' }).waitFor();
});
