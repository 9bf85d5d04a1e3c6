import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { authorizationPath, mailTo, wrong } from '../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { axeFindings, buttonFaults, worded } from './support/inspection.js';
import { closeBrowser, leaveAfterEach, Person } from './support/person.js';
import { languages, message, textsOf, Words } from './support/words.js';

jest.setTimeout(240_000);

const scopes = 'openid profile email offline_access';
let service: TestService;
const people: Person[] = [];

beforeAll(async () => {
  service = await startTest({ flags: ['--limit-factor', '1000'] });
  await createClient(service, 'lantern', {
    displayName: 'Lantern',
    homepageURI: 'https://lantern.example.test',
    redirectURIs: [`${service.baseURL}/none`],
    scopes: scopes.split(' ').map((name) => ({ name, required: name === 'openid' })),
  });
});
leaveAfterEach(people);
afterAll(async () => {
  await closeBrowser();
  await stopAll();
});

/** Names of people, apps and programs, addresses and hosts: the same in every language. */
const data =
  /^(Lantern|Vestibule|Ada Lovelace|AL|[ALV]|Firefox|Linux|\d+:\d+ UTC|UTC \d+:\d+|walk-[\w-]+|[a-z0-9]{20}|[0-9a-f-]{36}|[\w.@-]+@([\w.]+\.test|localhost)|localhost:\d+|https?:\S+|lantern\.example\.test|client_id:|absent|@media .*)$/;

/** A walk through the service in one language; `found` has what is of another. */
class Walk {
  readonly found: string[] = [];
  readonly words: Words;
  readonly person: Person;

  constructor(language: string, person: Person) {
    this.words = new Words(language, data);
    this.person = person;
  }

  /** Reads the page as it stands. */
  async look(step: string): Promise<void> {
    const { page } = this.person;
    this.read(step, await textsOf(page));
    const faults = [...(await axeFindings(page, worded)), ...(await buttonFaults(page))];
    this.found.push(...faults.map((fault) => `${step}: ${fault}`));
  }

  read(step: string, texts: readonly string[]): void {
    const foreign = texts.filter(
      (text) => !this.words.has(text) && !this.words.has(text.replace(/:$/, '')),
    );
    this.found.push(...foreign.map((text) => `${step}: ${text}`));
  }
}

/** Signs in from the app; looks at every page on the way and at the mail. */
async function signInFromApp(walk: Walk, address: string): Promise<void> {
  const { person } = walk;
  const { page } = person;
  const main = page.locator('main');
  await page.goto(
    `${service.baseURL}${authorizationPath('lantern', scopes, 'v'.repeat(43), {
      prompt: 'consent',
      redirect_uri: `${service.baseURL}/none`,
    })}`,
  );
  await person.at('LoginRequired');
  await walk.look('address');
  await main.locator('input[type=email]').fill(address);
  await main.locator('form button').click();
  const field = main.locator('input[autocomplete=one-time-code]');
  await field.waitFor();
  await walk.look('code');
  const mail = await mailTo(service, address, [], ({ code }) => code !== undefined);
  walk.read('mail', [mail.subject, ...mail.text.split('\n'), ...mail.html.split(/<[^>]*>/)]);
  await field.fill(wrong(mail.code));
  await main.locator('#code-error').waitFor();
  await walk.look('wrong code');
  await field.fill(mail.code);
  await person.at('Authenticated');
  await walk.look('setup');
  await main.locator('input[autocomplete=name]').fill('Ada Lovelace');
  await main.locator('form button.main').click();
  await person.at('ConsentRequired');
  await walk.look('consent');
  await page.waitForTimeout(600); // the buttons ignore clicks at first
  await main.locator('.pair button').first().click();
  await page.waitForURL('**/none?**');
  await walk.look('an absent page');
}

test.each(languages)(
  'no word of another language is on a page or in a mail: %s',
  async (language) => {
    const person = await Person.arrive({
      locale: language,
      viewport: { width: 320, height: 640 },
      userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    });
    people.push(person);
    const { page } = person;
    const walk = new Walk(language, person);
    await signInFromApp(walk, `walk-${language.toLowerCase()}@example.test`);
    await page.goto(`${service.baseURL}/account`);
    await person.at('account');
    await page.locator('section[aria-labelledby=grants] .scope').first().waitFor();
    await walk.look('account');
    await page
      .getByRole('button', { name: message(language, 'account', 'account.signout'), exact: true })
      .click();
    await page.locator('section').first().waitFor({ state: 'detached' });
    await walk.look('signed out');
    for (const path of ['oauth2/logout', 'oauth2/device', 'oauth2/auth?client_id=absent']) {
      await page.goto(`${service.baseURL}/${path}`);
      await walk.look(path);
    }
    expect(walk.found).toEqual([]);
  },
);
