import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { clock } from '../support/clock.js';
import { mailTo, wrong } from '../support/people/signin.js';
import { startTest, stopAll, type TestService } from '../support/service.js';
import { type Notes, startNotes } from './support/notes.js';
import { closeBrowser, leaveAfterEach, Person } from './support/person.js';

describe.each(['embedded', 'etcd'] as const)('a person in a browser, on %s', (store) => {
  let service: TestService;
  let notes: Notes;
  const people: Person[] = [];
  const arrive = async (options = {}): Promise<Person> => {
    const person = await Person.arrive(options);
    people.push(person);
    return person;
  };
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    notes = await startNotes(service);
  });
  afterEach(() => clock.release());
  leaveAfterEach(people);
  afterAll(async () => {
    notes?.stop();
    await closeBrowser();
    await stopAll();
  });

  const begin = async (
    person: Person,
    address: string,
  ): Promise<{ code: string; link: string; name: string }> => {
    const { page } = person;
    await page.goto(`${notes.url}/login`);
    await person.at('LoginRequired');
    await page.getByRole('textbox', { name: 'Email' }).fill(address);
    await page.getByRole('button', { name: 'Continue with email' }).click();
    await page.getByRole('textbox', { name: 'Code' }).waitFor();
    return mailTo(service, address);
  };
  const agree = async (person: Person): Promise<void> => {
    await person.at('ConsentRequired');
    await person.page.waitForTimeout(600);
    await person.page.getByRole('button', { name: 'Allow' }).click();
    await person.page.waitForURL(`${notes.url}/`);
  };
  const skipSetup = async (person: Person): Promise<void> => {
    await person.at('Authenticated');
    await person.page.getByRole('button', { name: 'Not now' }).click();
  };
  const signIn = async (person: Person, address: string): Promise<void> => {
    const { code } = await begin(person, address);
    await person.page.getByRole('textbox', { name: 'Code' }).fill(code);
    await skipSetup(person);
    await agree(person);
  };

  test('first sign-in: every view without a fault, verified claims at the end', async () => {
    const person = await arrive();
    const { page } = person;
    const faults: string[] = [];
    await page.goto(`${notes.url}/login`);
    await person.at('LoginRequired');
    await page.getByRole('heading', { name: 'Sign in to Notes' }).waitFor();
    faults.push(...(await person.faults()));
    await page.getByRole('textbox', { name: 'Email' }).fill('not an address');
    await page.getByRole('button', { name: 'Continue with email' }).click();
    await page
      .getByRole('alert')
      .filter({ hasText: /./ })
      .or(page.locator('[aria-invalid=true]'))
      .first()
      .waitFor();
    faults.push(...(await person.faults()));
    const { code } = await begin(person, `first${store}@example.test`);
    faults.push(...(await person.faults()));
    await page.getByRole('textbox', { name: 'Code' }).fill(wrong(code));
    await page.getByText('4 tries left').first().waitFor();
    faults.push(...(await person.faults()));
    await page.getByRole('textbox', { name: 'Code' }).fill(`${code.slice(0, 3)} ${code.slice(3)}`);
    await person.at('Authenticated');
    await page.getByRole('heading', { name: 'Finish your account' }).waitFor();
    faults.push(...(await person.faults()));
    await page.getByRole('textbox', { name: 'Your name' }).fill('Ada Lovelace');
    await page.getByRole('button', { name: 'Continue' }).click();
    await person.at('ConsentRequired');
    await page.getByRole('heading', { name: 'Notes asks for access' }).waitFor();
    await page.getByText(`first${store}@example.test`).first().waitFor();
    await page.getByText('Ada Lovelace').first().waitFor();
    expect(await page.getByRole('checkbox', { name: 'Your profile' }).isChecked()).toBe(false);
    expect(await page.getByRole('checkbox', { name: 'Your email address' }).isChecked()).toBe(true);
    faults.push(...(await person.faults()));
    await page.getByRole('checkbox', { name: 'Your profile' }).check();
    await agree(person);
    await page.getByRole('heading', { name: 'Hello Ada Lovelace' }).waitFor();
    await page
      .getByRole('cell', { name: `first${store}@example.test` })
      .first()
      .waitFor();
    expect(faults).toEqual([]);
  });

  test('arriving: one call for the interaction, and later views are fetched later', async () => {
    const person = await arrive();
    const { page } = person;
    const asked: string[] = [];
    page.on('request', (request) => {
      asked.push(request.url());
    });
    const before = service.logs.length;
    await page.goto(`${notes.url}/login`);
    await person.at('LoginRequired');
    expect(asked.filter((url) => /\/(proof|consent)-chunk-/.test(url))).toEqual([]);
    await Promise.all([
      page.waitForRequest(/\/proof-chunk-/),
      page.waitForRequest(/\/consent-chunk-/),
      page.getByRole('textbox', { name: 'Email' }).press('a'),
    ]);
    const read = service.logs
      .slice(before)
      .filter(
        (line) => /"verb":"get","resource":"interactions"/.test(line) && /"code":200/.test(line),
      );
    expect(read.length).toBe(1);
  });

  test('returning: a live session goes on without a question', async () => {
    const person = await arrive();
    const { page } = person;
    await signIn(person, `return${store}@example.test`);
    await page.goto(`${notes.url}/login`);
    await page.waitForURL(`${notes.url}/`);
    await page.getByRole('heading', { name: /^Hello/ }).waitFor();
    await page.getByRole('button', { name: /^Sign out/ }).click();
    await page
      .getByRole('button', { name: /sign out/i })
      .first()
      .click();
    await page.waitForURL(`${notes.url}/`);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await person.at('LoginRequired');
  });

  test('cancelling leads back and the app is notified', async () => {
    const person = await arrive();
    await person.page.goto(`${notes.url}/login`);
    await person.at('LoginRequired');
    await person.page.getByRole('button', { name: 'Cancel and go back to Notes' }).click();
    await person.page.getByText('access_denied').waitFor();
  });

  test('wrong codes until there are none left; a new code is the way on', async () => {
    const person = await arrive();
    const { page } = person;
    const { code } = await begin(person, `wrong${store}@example.test`);
    for (let left = 4; left >= 0; left -= 1) {
      await page.getByRole('textbox', { name: 'Code' }).fill('');
      await page
        .getByRole('textbox', { name: 'Code' })
        .fill(String((Number(code) + 1 + left) % 10 ** code.length).padStart(code.length, '0'));
      if (left > 0) {
        await page
          .getByText(new RegExp(`${left} (tries|try) left`))
          .first()
          .waitFor();
      }
    }
    await page.waitForFunction(() =>
      (globalThis as any).document.activeElement?.textContent?.includes('Send a new code'),
    );
    expect(await person.faults()).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('A new code is on its way.').waitFor();
  });

  test('the link in another tab of the same browser moves the waiting tab on', async () => {
    const person = await arrive();
    const { link } = await begin(person, `tabs${store}@example.test`);
    const other = await person.tab();
    await other.goto(link);
    await person.at('LoginRequired', other);
    expect(new URL(other.url()).hash).toBe('');
    await other.getByRole('button', { name: 'Continue signing in' }).waitFor();
    expect(await person.faults(other)).toEqual([]);
    await other.getByRole('button', { name: 'Continue signing in' }).click();
    await person.at('Authenticated');
    await skipSetup(person);
    await agree(person);
  });

  test('the link in another browser does nothing and says where to go', async () => {
    const [person, stranger] = [await arrive(), await arrive()];
    const { link, code } = await begin(person, `other${store}@example.test`);
    await stranger.page.goto(link);
    await stranger.at('error').catch(() => undefined);
    const button = stranger.page.getByRole('button', { name: 'Continue signing in' });
    if (await button.isVisible()) await button.click();
    await stranger.page
      .getByText(/window where you started/)
      .first()
      .waitFor();
    expect(await stranger.faults()).toEqual([]);
    await person.page.getByRole('textbox', { name: 'Code' }).fill(code);
    await skipSetup(person);
    await agree(person);
  });

  test('an expired link says so and offers to start again', async () => {
    const person = await arrive();
    const { link } = await begin(person, `late${store}@example.test`);
    clock.own();
    clock.advance(6 * 60_000);
    await person.page.reload(); // a sign-in that its browser leaves alone for ten minutes is over itself
    await person.page.getByRole('textbox', { name: 'Code' }).waitFor();
    clock.advance(5 * 60_000);
    const other = await person.tab();
    await other.goto(link);
    await other.getByRole('button', { name: 'Continue signing in' }).click();
    await other
      .getByText(/expired/i)
      .first()
      .waitFor();
    expect(await person.faults(other)).toEqual([]);
  });

  test('keyboard only', async () => {
    const person = await arrive();
    const { page } = person;
    const address = `keys${store}@example.test`;
    const reach = async (name: string): Promise<void> => {
      for (let i = 0; i < 40; i += 1) {
        const held = await page.evaluate(() => {
          const { activeElement } = (globalThis as any).document;
          return [
            activeElement?.textContent,
            activeElement?.labels?.[0]?.textContent,
            activeElement?.getAttribute?.('aria-label'),
          ]
            .filter(Boolean)
            .join('|');
        });
        if (held.includes(name)) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`${name} cannot be reached by Tab`);
    };
    await page.goto(`${notes.url}/login`);
    await person.at('LoginRequired');
    await reach('Email');
    await page.keyboard.type(address);
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'Code' }).waitFor();
    const { code } = await mailTo(service, address);
    await reach('Code');
    await page.keyboard.type(code);
    await person.at('Authenticated');
    await reach('Not now');
    await page.keyboard.press('Enter');
    await person.at('ConsentRequired');
    await page.waitForTimeout(600);
    await reach('Allow');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${notes.url}/`);
  });

  test('reload in every phase, and the back button after the end', async () => {
    const person = await arrive();
    const { page } = person;
    const { code } = await begin(person, `reload${store}@example.test`);
    await page.reload();
    await page.getByRole('textbox', { name: 'Code' }).fill(code);
    await person.at('Authenticated');
    await page.reload();
    await skipSetup(person);
    await person.at('ConsentRequired');
    await page.reload();
    const consent = page.url();
    await agree(person);
    await page.goto(consent);
    await page.waitForFunction(
      () => (globalThis as any).document.querySelector('main')?.dataset.phase !== undefined,
    );
    expect(await page.getByRole('button', { name: 'Allow' }).count()).toBe(0);
    expect(await person.faults()).toEqual([]);
  });
});
