import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { clock } from '../support/clock.js';
import { signIn } from '../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { type Notes, startNotes } from './support/notes.js';
import { confirm, says, typeCode } from './support/own-page.js';
import { closeBrowser, leaveAfterEach, Person } from './support/person.js';
import { asPerson } from './support/visitor.js';

jest.setTimeout(120_000);

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
let service: TestService;
let notes: Notes;
const down: Server = createServer((_, response) => {
  response.writeHead(500).end();
});
const people: Person[] = [];
const kept = (person: Person): Person => {
  people.push(person);
  return person;
};

/** The account page of someone who is signed in here. */
async function ownPage(address: string): Promise<Person> {
  const person = kept(await asPerson(service, (await signIn(service, address)).tab));
  await person.page.goto(`${service.baseURL}/account`);
  await person.at('account');
  return person;
}

const rowOf = ({ page }: Person, device: string) =>
  page
    .getByRole('list', { name: 'Devices' })
    .getByRole('listitem')
    .filter({ has: page.getByRole('heading', { name: device }) });
const end = async (person: Person, device: string): Promise<void> => {
  await person.page.getByRole('button', { name: `Sign out ${device}`, exact: true }).click();
  await confirm(person);
};

beforeAll(async () => {
  clock.own();
  service = await startTest({ flags: ['--limit-factor', '1000'] });
  await createClient(service, 'app');
  notes = await startNotes(service);
});
leaveAfterEach(people);
afterAll(async () => {
  clock.release();
  notes?.stop();
  down.closeAllConnections();
  down.close();
  await closeBrowser();
  await stopAll();
});

test('a service that does not answer is notified later, as its row says', async () => {
  const address = 'notified@example.test';
  const other = kept(await Person.arrive({ userAgent: firefox }));
  await other.page.goto(`${notes.url}/login`);
  await other.at('LoginRequired');
  await other.page.getByRole('textbox', { name: 'Email' }).fill(address);
  await other.page.getByRole('button', { name: 'Continue with email' }).click();
  await typeCode(service, other, address);
  await other.at('Authenticated');
  await other.page.getByRole('button', { name: 'Not now' }).click();
  await other.at('ConsentRequired');
  await other.page.waitForTimeout(600);
  await other.page.getByRole('button', { name: 'Allow' }).click();
  await other.page.getByRole('heading', { name: /^Hello / }).waitFor();
  const person = await ownPage(address);
  const row = rowOf(person, 'Firefox on Linux');
  await row.getByText('Used for Notes').waitFor();
  notes.pause();
  await end(person, 'Firefox on Linux');
  await row.getByText('Signing out').waitFor();
  await row.getByText('Notes is being notified. It has not answered yet.').waitFor();
  expect(await row.getByRole('button').count()).toBe(0);
  expect(await person.faults()).toEqual([]);
  await other.page.goto(`${service.baseURL}/account`);
  await other.at('LoginRequired');
  await person.page.reload();
  await row.getByText('Notes is being notified. It has not answered yet.').waitFor();
  notes.resume();
  await row.waitFor({ state: 'detached' });
  await other.page.goto(notes.url);
  await other.page.getByRole('heading', { name: 'Keep your notes' }).waitFor();
});

test('a service that is down for a day is given up; its row says so', async () => {
  await new Promise<void>((done) => {
    down.listen(0, '127.0.0.1', done);
  });
  await createClient(service, 'mill', {
    displayName: 'The Mill',
    backchannelLogoutURI: `http://localhost:${(down.address() as AddressInfo).port}/`,
  });
  const address = 'given-up@example.test';
  for (const client of ['mill', 'app']) {
    const tab = service.tab();
    tab.headers = {
      'user-agent':
        client === 'mill'
          ? firefox
          : firefox.replace('X11; Linux x86_64', 'Windows NT 10.0; Win64; x64'),
    };
    await signIn(service, address, { tab, client });
  }
  const person = await ownPage(address);
  await end(person, 'Firefox on Windows');
  const [silent, mill] = [rowOf(person, 'Firefox on Windows'), rowOf(person, 'Firefox on Linux')];
  await silent.getByText('Signed out', { exact: true }).waitFor();
  await silent.getByText('app app cannot be notified. Sign out there yourself.').waitFor();
  await end(person, 'Firefox on Linux');
  await mill.getByText('The Mill is being notified. It has not answered yet.').waitFor();
  clock.advance(86_400_000 - 20_000);
  await mill
    .getByText('The Mill could not be notified. Sign out there yourself.')
    .waitFor({ timeout: 30_000 });
  await mill.getByText('Signed out', { exact: true }).waitFor();
  await person.page
    .getByRole('status')
    .getByText('The Mill could not be notified.')
    .waitFor({ state: 'attached' });
  await says(person, 'You are not signed in on any other device.');
  expect(await person.faults()).toEqual([]);
  await person.page.reload();
  await person.at('account');
  await rowOf(person, 'Firefox').first().waitFor({ state: 'detached' });
});

test('after the last sign-out the back button shows nothing of the account', async () => {
  const person = await ownPage('back@example.test');
  const { page } = person;
  await says(person, 'You are signed in as back@example.test');
  await page
    .getByRole('listitem')
    .filter({ hasText: 'This browser' })
    .getByRole('button', { name: /^Sign out / })
    .click();
  await confirm(person);
  await page.getByRole('heading', { level: 1, name: 'You are signed out' }).waitFor();
  await page.goto(`${service.baseURL}/policy`);
  await page.goBack();
  await page.waitForFunction(() =>
    /LoginRequired|signedout|problem/.test(document.querySelector('main')?.dataset.phase ?? ''),
  );
  expect(await page.getByText('back@example.test').count()).toBe(0);
});
