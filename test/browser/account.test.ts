import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { signIn } from '../support/signin.js';
import type { Tab } from '../support/tab.js';
import { closeBrowser, Person } from './support/person.js';
import { asPerson } from './support/visitor.js';

jest.setTimeout(90_000);

let service: TestService;
const people: Person[] = [];
const arrive = async (tab?: Tab): Promise<Person> => {
  const person = await (tab ? asPerson(service, tab) : Person.arrive());
  people.push(person);
  return person;
};
const open = async (person: Person, fragment = ''): Promise<void> => {
  await person.page.goto(`${service.baseURL}/account${fragment}`);
  await person.at('account');
};

beforeAll(async () => {
  service = await startTest({ flags: ['--limit-factor', '1000'] });
  await createClient(service, 'app', { displayName: 'Lantern Notes' });
});
afterEach(async () => {
  const all = people.splice(0);
  expect(all.flatMap(({ complaints }) => complaints)).toEqual([]);
  await Promise.all(all.map((one) => one.leave()));
});
afterAll(async () => { await closeBrowser(); await stopAll() });

test('every part is there under its heading, without a fault', async () => {
  const { tab } = await signIn(service, 'ada@example.test');
  const person = await arrive(tab);
  await open(person);
  for (const name of ['Profile', 'Email', 'Passkeys', 'Where you are signed in', 'Services with access', 'Decisions about you', 'Asked of other services', 'Your data']) {
    await person.page.getByRole('heading', { level: 2, name, exact: true }).waitFor();
  }
  await person.page.getByRole('list', { name: 'Services' }).waitFor();
  expect(await person.faults()).toEqual([]);
});
