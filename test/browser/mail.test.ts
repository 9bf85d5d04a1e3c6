import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { settles } from '../support/patience.js';
import { codeIn, Inbox, textOf } from '../support/people/inbox.js';
import { authorizationPath, begin, mailTo, proceed } from '../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { stores } from '../support/stores.js';
import { closeBrowser, leaveAfterEach, Person } from './support/person.js';
import { asPerson } from './support/visitor.js';

jest.setTimeout(90_000);

const address = 'ada.hidden@example.test';

/**
 * A mail server that answers each recipient, when it is permitted to, by the next of these codes;
 * 250 from then on.
 */
class Refusing {
  readonly #codes: number[];
  readonly inbox: Inbox;
  #permit!: () => void;
  #permitted = new Promise<void>((resolve) => {
    this.#permit = resolve;
  });

  constructor(...codes: number[]) {
    this.#codes = codes;
    this.inbox = new Inbox({
      onRcptTo: (_to, _session, callback) => {
        void this.#permitted.then(() => {
          const code = this.#codes.shift();
          callback(
            code === undefined
              ? null
              : Object.assign(new Error(`${address} is not here`), { responseCode: code }),
          );
        });
      },
    });
  }

  answer(): void {
    this.#permit();
  }
}

describe.each(stores)('a person whose mail is refused by the mail server, on %s', (store) => {
  const inboxes: Inbox[] = [];
  let person: Person | undefined;
  afterEach(async () => {
    expect(person?.complaints).toEqual([]);
    await person?.leave();
  });
  afterAll(async () => {
    await closeBrowser();
    await stopAll();
    for (const inbox of inboxes) await inbox.close();
  });

  /** Asks for a code on the page, with a mail server that has not answered yet. */
  async function waiting(
    server: Refusing,
  ): Promise<{ service: TestService; host: string; person: Person }> {
    inboxes.push(server.inbox);
    const url = await server.inbox.listen();
    const service = await startTest({ store, mail: url, flags: ['--limit-factor', '100'] });
    await createClient(service, 'app');
    person = await Person.arrive({ locale: 'en-GB', viewport: { width: 320, height: 800 } });
    const { page } = person;
    await page.goto(
      service.baseURL +
        authorizationPath('app', 'openid email', randomBytes(32).toString('base64url')),
    );
    await page.getByRole('textbox', { name: 'Email' }).fill(address);
    await page.getByRole('button', { name: 'Continue with email' }).click();
    await page.getByText('We sent a code').waitFor();
    await page.evaluate(() => {
      document.documentElement.dataset.loadedOnce = 'yes';
    });
    return { service, host: new URL(url).host, person };
  }

  const isSameDocument = ({ page }: Person): Promise<boolean> =>
    page.evaluate(() => document.documentElement.dataset.loadedOnce === 'yes');
  const refusals = ({ logs }: TestService) =>
    logs.map((line) => JSON.parse(line)).filter(({ message }) => message === 'a mail was not sent');

  test('for good: the page says so by itself, and the log has one line', async () => {
    const server = new Refusing(550);
    const {
      service,
      host,
      person: { page },
      person: one,
    } = await waiting(server);
    server.answer();
    await page.getByText('could not be sent. Check the address.').waitFor();
    expect(await page.getByText('We sent a code').count()).toBe(0);
    expect(await isSameDocument(one)).toBe(true);
    expect(await one.faults()).toEqual([]);
    await page.getByRole('button', { name: 'Use another address' }).waitFor();
    expect(refusals(service)).toEqual([
      expect.objectContaining({ level: 'warn', host, cause: '550 to RCPT TO', again: false }),
    ]);
    expect(service.logs.join('')).not.toContain('ada.hidden');
  });

  test('for now: the page says that it is tried again, and where it was sent once it was', async () => {
    const server = new Refusing(451);
    const {
      service,
      host,
      person: { page },
      person: one,
    } = await waiting(server);
    server.answer();
    await page.getByText('could not be sent yet. We keep trying.').waitFor();
    expect(refusals(service)).toEqual([
      expect.objectContaining({ host, cause: '451 to RCPT TO', again: true }),
    ]);
    await settles(
      async () => server.inbox.received,
      ({ length }) => length === 1,
    );
    await page.getByText('We sent a code').waitFor();
    expect(await isSameDocument(one)).toBe(true);
    expect(refusals(service)).toHaveLength(1);
  });

  test('at a new address: the account page says so without being loaded again', async () => {
    const inbox = new Inbox({
      onRcptTo: (to, _session, callback) =>
        callback(
          to.address === address
            ? Object.assign(new Error('not here'), { responseCode: 550 })
            : null,
        ),
    });
    inboxes.push(inbox);
    const service = await startTest({
      store,
      mail: await inbox.listen(),
      flags: ['--limit-factor', '100'],
    });
    await createClient(service, 'app');
    const { tab, I } = await begin(service);
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'old@example.test' } }).is(200);
    await settles(
      async () => inbox.received,
      ({ length }) => length === 1,
    );
    const login = { method: 'EmailCode', code: codeIn(textOf(inbox.received[0]!.raw)) };
    const { body } = await tab.post(`${I}/login`, { spec: login }).is(200);
    await proceed(tab, body.status.returnTo);
    person = await asPerson(service, tab);
    const { page } = person;
    await page.goto(`${service.baseURL}/account`);
    await page.getByRole('button', { name: 'Change email address' }).click();
    await page.getByRole('textbox', { name: 'New email address' }).fill(address);
    await page.getByRole('button', { name: 'Send a code' }).click();
    await page.getByText('could not be sent. Check the address.').waitFor();
    await page.getByText('We sent a code').first().waitFor({ state: 'detached' });
    expect(await person.faults()).toEqual([]);
  });
});

describe('a mail that a person asks for on the page', () => {
  const people: Person[] = [];
  let service: TestService;
  beforeAll(async () => {
    service = await startTest({ flags: ['--limit-factor', '100'] });
    await createClient(service, 'app');
  });
  leaveAfterEach(people);
  afterAll(async () => {
    await closeBrowser();
    await stopAll();
  });

  test.each([
    ['en-GB', 'Asia/Kolkata', 'GMT+5:30'],
    ['de-DE', 'Pacific/Chatham', /GMT\+1[23]:45/],
  ])('has the times of the browser: %s, %s', async (locale, timezoneId, zone) => {
    const person = await Person.arrive({ locale, timezoneId });
    people.push(person);
    const { page } = person;
    const verifier = randomBytes(32).toString('base64url');
    await page.goto(service.baseURL + authorizationPath('app', 'openid email', verifier));
    await person.at('LoginRequired');
    const email = `${locale}@example.test`.toLowerCase();
    await page.locator('#email').fill(email);
    const askedAt = Date.now();
    await page.keyboard.press('Enter');
    const { text } = await mailTo(service, email);
    const format = new Intl.DateTimeFormat(locale, {
      hour: '2-digit',
      minute: '2-digit',
      timeZone: timezoneId,
    });
    const times: string[] = [];
    for (let at = askedAt; at < Date.now() + 60_000; at += 60_000) times.push(format.format(at));
    const [, time, shown] = /(\d\d:\d\d) (UTC|GMT[+\d:]*)/.exec(text)!;
    expect(times).toContain(time);
    expect(shown).toMatch(zone);
  });
});
