import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { mailTo, signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { closeBrowser, leaveAfterEach, Person } from './support/person.js';
import { asPerson } from './support/visitor.js';

jest.setTimeout(120_000);

let service: TestService;
const people: Person[] = [];

beforeAll(async () => {
  service = await startTest({ flags: ['--limit-factor', '1000'] });
  await createClient(service, 'app');
});
leaveAfterEach(people);
afterAll(async () => {
  await closeBrowser();
  await stopAll();
});

/** How another browser of the person ends the session of an open account page. */
const ends: Record<string, (other: Tab, address: string) => Promise<unknown>> = {
  'the address was changed': async (other, address) => {
    const next = `new-${address}`;
    await other.post('accounts/~/emailchallenge', { spec: { email: next } }).is(200);
    const { code } = await mailTo(service, next, [], (status) => status.code !== undefined);
    return other.post('accounts/~/email', { spec: { code } }).is(200);
  },
  'it was signed out': async (other) => {
    const { body } = await other.get('sessions').is(200);
    const { metadata } = body.items.find(({ status }: any) => !status.current);
    return other.delete(`sessions/${metadata.name}`);
  },
};

test.each(Object.keys(ends))(
  'an open account page says by itself that its session is over: %s',
  async (how) => {
    const address = `${how.replaceAll(' ', '-')}@example.test`;
    const person = await asPerson(service, (await signIn(service, address)).tab);
    people.push(person);
    const { page } = person;
    await page.goto(`${service.baseURL}/account`);
    await page.getByRole('list', { name: 'Devices' }).getByText('This browser').waitFor();
    await ends[how]!((await signIn(service, address)).tab, address);
    await page.getByRole('heading', { level: 1, name: 'You are signed out' }).waitFor();
    await page.getByText(/^Your session in this browser has ended: /).waitFor();
    expect(await page.getByRole('main').getByRole('button').allTextContents()).toEqual(['Sign in']);
    expect(await person.faults()).toEqual([]);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await person.at('LoginRequired');
  },
);
