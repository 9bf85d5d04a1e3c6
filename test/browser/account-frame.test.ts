import { beforeAll, expect, test } from '@jest/globals';
import { signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import type { TestService } from '../support/service.js';
import { overflows } from './support/inspection.js';
import type { Person } from './support/person.js';
import { operatorAddress, startOperated, visitors } from './support/visitors.js';

let service: TestService;
let operator: Tab;
const arriveAs = visitors(() => service);

/** The account page of someone who is signed in. */
async function ownPage(tab: Tab, options?: Parameters<typeof arriveAs>[1]): Promise<Person> {
  const person = await arriveAs(tab, options);
  await person.page.goto(`${service.baseURL}/account`);
  await person.at('account');
  await person.page.getByRole('heading', { name: 'Requests to other services' }).waitFor();
  return person;
}

beforeAll(async () => {
  ({ service, operator } = await startOperated());
});

test('the rail leads to a section, marks it and is behind Menu on a phone', async () => {
  const { page } = await ownPage(operator, { viewport: { width: 360, height: 700 } });
  const rail = page.getByRole('navigation', { name: 'On this page' });
  await rail.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Menu' }).click();
  await rail.getByRole('link', { name: 'Devices' }).click();
  await rail.waitFor({ state: 'hidden' });
  await page.locator('#sessions:focus').waitFor();
  await page.setViewportSize({ width: 1200, height: 700 });
  const current = rail.locator('[aria-current=location]');
  await rail.getByRole('link', { name: 'Your data' }).click();
  await current.filter({ hasText: 'Your data' }).waitFor();
  await page.evaluate(() => scrollTo(0, 0));
  await current.filter({ hasText: 'Profile' }).waitFor();
  expect(await current.count()).toBe(1);
});

test('a change of the profile is marked until it is saved or discarded', async () => {
  const { tab } = await signIn(service, 'marks@example.test');
  const { page } = await ownPage(tab);
  const name = page.getByRole('textbox', { name: 'Name', exact: true });
  await name.fill('Ada');
  await page.getByText('Not saved yet').waitFor();
  await page.locator('.changed').waitFor();
  await page.getByRole('button', { name: 'Discard' }).click();
  expect(await name.inputValue()).toBe('');
  await name.fill('Ada');
  await page.getByRole('button', { name: 'Save profile' }).click();
  await page.getByText('Not saved yet').waitFor({ state: 'detached' });
  await page.getByRole('heading', { level: 1, name: 'Ada' }).waitFor();
  expect((await tab.get('accounts/~').is(200)).body.spec.displayName).toBe('Ada');
});

test('someone sees the groups that policy lets them read, and signs out in the bar', async () => {
  const group = { displayName: 'The staff', members: [operatorAddress.toUpperCase()] };
  await operator.post('groups', { metadata: { name: 'staff' }, spec: group }).is(201);
  await operator
    .post('groups', { metadata: { name: 'guests' }, spec: { displayName: 'The guests' } })
    .is(201);
  const { tab } = await signIn(service, operatorAddress);
  const person = await ownPage(tab);
  const { page } = person;
  const groups = page.getByRole('region', { name: 'Groups' });
  await groups.getByText('The staff').waitFor();
  expect(await groups.getByText('The guests').count()).toBe(0);
  expect(await person.faults()).toEqual([]);
  expect([
    ...(await overflows(page, 320)),
    ...(await overflows(page, 640, 'html { font-size: 200% !important }')),
  ]).toEqual([]);
  const plain = await ownPage((await signIn(service, 'plain@example.test')).tab);
  expect(await plain.page.getByRole('heading', { name: 'Groups', exact: true }).count()).toBe(0);
  await page.getByRole('banner').getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { level: 1, name: 'You are signed out' }).waitFor();
  await tab.get('accounts/~').fails(401, 'Unauthorized');
});
