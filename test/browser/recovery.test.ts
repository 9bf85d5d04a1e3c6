import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { clock } from '../support/clock.js';
import { until } from '../support/patience.js';
import { mailTo } from '../support/people/signin.js';
import { startTest, stopAll, type TestService } from '../support/service.js';
import { stores } from '../support/stores.js';
import { axeFindings } from './support/inspection.js';
import { comeByEmail, confirm, join, says } from './support/own-page.js';
import { closeBrowser, leaveAfterEach, Person } from './support/person.js';
import { VirtualAuthenticator } from './support/virtual-authenticator.js';

jest.setTimeout(180_000);

const hour = 3_600_000;

describe.each(stores)('a recovery, by the links of its pages and mails, on %s', (store) => {
  let service: TestService;
  const people: Person[] = [];
  beforeAll(async () => {
    clock.own();
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
  });
  afterEach(async () => {
    await service.tab().delete('mockmessages').is(200);
  });
  leaveAfterEach(people);
  afterAll(async () => {
    clock.release();
    await closeBrowser();
    await stopAll();
  });

  const arrive = async (): Promise<Person> => {
    const person = await Person.arrive();
    people.push(person);
    return person;
  };
  const press = ({ page }: Person, name: string): Promise<void> =>
    page.getByRole('button', { name, exact: true }).click();

  /** A person with a passkey, on their account page. */
  async function owner(address: string): Promise<Person> {
    const person = await arrive();
    await VirtualAuthenticator.plugInto(person.page);
    await join(service, person, address);
    return person;
  }

  /** Reports all passkeys lost in a browser that has none; stands on the account page afterwards. */
  async function reportLost(address: string): Promise<Person> {
    const person = await arrive();
    await comeByEmail(service, person, address);
    await person.at('account');
    await press(person, 'I lost all my passkeys');
    await confirm(person);
    await says(person, 'Your passkeys will be removed');
    return person;
  }

  /** Follows the link of the newest mail in a browser without a session. */
  async function followMail(address: string): Promise<Person> {
    const { html } = await mailTo(service, address, [], ({ subject }) =>
      subject.includes('will be removed'),
    );
    const [, link] = /href="([^"]*\/recovery#[^"]*)"/.exec(html)!;
    const person = await arrive();
    await person.page.goto(link!);
    return person;
  }

  test('the link of the mail stops it without a sign-in, once, and the open pages say so', async () => {
    const address = `stopped-${store}@example.test`;
    const keeper = await owner(address);
    const other = await reportLost(address);
    await keeper.page.locator('[data-recovery]').waitFor();

    const reader = await followMail(address);
    await reader.page.getByRole('heading', { level: 1, name: 'Keep your passkeys?' }).waitFor();
    expect(new URL(reader.page.url()).hash).toBe('');
    expect(await axeFindings(reader.page)).toEqual([]);
    await press(reader, 'Keep my passkeys');
    await reader.page.getByRole('heading', { level: 1, name: 'You keep your passkeys' }).waitFor();
    for (const { page } of [keeper, other]) {
      await page.locator('[data-recovery]').waitFor({ state: 'detached' });
    }

    const again = await followMail(address);
    await press(again, 'Keep my passkeys');
    await again.page.getByRole('heading', { level: 1, name: 'There is nothing to stop' }).waitFor();
    await again.page.getByRole('link', { name: 'Open your account' }).click();
    await again.at('LoginRequired');
    await again.page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
  });

  test('after the wait the passkeys are gone, and an emailed code leads to a new one', async () => {
    const address = `ended-${store}@example.test`;
    await owner(address);
    await reportLost(address);
    await service.tab().delete('mockmessages').is(200);
    clock.advance(48 * hour + 1_000);
    const replica = await service.replica();
    await until(async () =>
      (await service.tab().get('mockmessages').is(200)).body.items.some(
        ({ status }: any) => status.to === address && status.subject.includes('were removed'),
      ),
    );
    await replica.stop();
    clock.advance(2_000); // a sign-in in the second of the end is ended with the others
    await service.tab().delete('mockmessages').is(200);
    const person = await arrive();
    await VirtualAuthenticator.plugInto(person.page);
    await comeByEmail(service, person, address);
    await person.at('Authenticated');
    await press(person, 'Add a passkey');
    await person.at('account');
    await person.page.getByRole('list', { name: 'Passkeys' }).getByText('Not used yet').waitFor();
  });
});
