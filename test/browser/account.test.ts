import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { clock } from '../support/clock.js';
import { mailTo, redeem, signIn, wrong } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { stores } from '../support/stores.js';
import { settle } from './support/gallery.js';
import { confirm, says, typeCode } from './support/own-page.js';
import { closeBrowser, leaveAfterEach, Person } from './support/person.js';
import { asPerson, reach } from './support/visitor.js';

let home: TestService;
const people: Person[] = [];
const kept = (person: Person): Person => {
  people.push(person);
  return person;
};

/** The account page of someone who is signed in here. */
const ownPage = async (service: TestService, tab: Tab): Promise<Person> => {
  const person = kept(await asPerson(service, tab));
  await person.page.goto(`${service.baseURL}/account`);
  await person.at('account');
  return person;
};

async function start(store: 'embedded' | 'etcd'): Promise<TestService> {
  const service = await startTest({ store, flags: ['--limit-factor', '1000'] });
  // Nothing is in its ID tokens, so that a page shows what userinfo adds.
  await createClient(service, 'app', { displayName: 'Lantern Notes', idTokenClaims: [] });
  return service;
}

beforeAll(async () => {
  home = await start('embedded');
});
afterEach(() => clock.release());
leaveAfterEach(people);
afterAll(async () => {
  await closeBrowser();
  await stopAll();
});

test('every part is there under its heading, without a fault', async () => {
  const { tab } = await signIn(home, 'ada@example.test');
  const person = await ownPage(home, tab);
  for (const name of [
    'Profile',
    'Email',
    'Passkeys',
    'Devices',
    'Apps you may use',
    'Connected apps',
    'Decisions about you',
    'Requests to other services',
    'Your data',
  ]) {
    await person.page.getByRole('heading', { level: 2, name, exact: true }).waitFor();
  }
  await person.page.getByRole('list', { name: 'Apps' }).waitFor();
  expect(await person.faults()).toEqual([]);
});

const button = ({ page }: Person, name: string | RegExp) =>
  page.getByRole('button', typeof name === 'string' ? { name, exact: true } : { name });
const press = (person: Person, name: string) => button(person, name).click();
const names = async (tab: Tab, resource: string): Promise<string[]> =>
  (
    (await tab.get(resource).is(200)).body.items as {
      metadata: { name: string; deletionTimestamp?: string };
    }[]
  )
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .map(({ metadata }) => metadata.name);

test('without a session it leads through a sign-in and back', async () => {
  const person = kept(await Person.arrive());
  const { page } = person;
  await page.goto(`${home.baseURL}/account`);
  await person.at('LoginRequired');
  await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
  await press(person, 'Cancel');
  await page.getByRole('heading', { level: 1, name: 'You are not signed in' }).waitFor();
  expect(new URL(page.url()).search).toBe('');
  expect(await person.faults()).toEqual([]);
  await press(person, 'Sign in');
  await person.at('LoginRequired');
  await page.getByRole('textbox', { name: 'Email' }).fill('comes@example.test');
  await press(person, 'Continue with email');
  await typeCode(home, person, 'comes@example.test');
  await person.at('Authenticated');
  await press(person, 'Not now');
  await person.at('account');
  await says(person, 'You are signed in as comes@example.test');
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/account');
});

describe.each(stores)('what a person does on their own page, on %s', (store) => {
  let service: TestService;
  beforeAll(async () => {
    service = store === 'embedded' ? home : await start(store);
  });

  test('the profile is saved, and a change from elsewhere is not overwritten', async () => {
    const { tab } = await signIn(service, 'profile@example.test');
    const person = await ownPage(service, tab);
    const { page } = person;
    const name = page.getByRole('textbox', { name: 'Name', exact: true });
    await name.fill('Ada');
    await press(person, 'Save profile');
    await page
      .getByRole('status')
      .getByText('Your profile is saved.')
      .waitFor({ state: 'attached' });
    await page.getByText('More about you').click();
    await page.getByRole('textbox', { name: 'Website' }).fill('no address');
    await press(person, 'Save profile');
    await says(person, 'This value is not valid.');
    expect(await page.getByRole('textbox', { name: 'Website' }).getAttribute('aria-invalid')).toBe(
      'true',
    );
    expect(await person.faults()).toEqual([]);
    await page.getByRole('textbox', { name: 'Website' }).fill('https://ada.example');
    await tab
      .patch('accounts/~', { spec: { displayName: 'Countess', nickname: 'Enchantress' } })
      .is(200);
    await press(person, 'Save profile');
    await says(person, 'Your profile was changed elsewhere');
    expect(await name.inputValue()).toBe('Countess');
    expect(await page.getByRole('textbox', { name: 'Website' }).inputValue()).toBe(
      'https://ada.example',
    );
    await press(person, 'Save profile');
    await page
      .getByRole('status')
      .getByText('Your profile is saved.')
      .waitFor({ state: 'attached' });
    expect(await page.getByText('Your profile was changed elsewhere').count()).toBe(0);
    await page.getByRole('textbox', { name: 'Nickname' }).fill('');
    await press(person, 'Save profile');
    await expect(
      settle(
        async () => (await tab.get('accounts/~').is(200)).body.spec,
        ({ nickname }) => nickname === undefined,
      ),
    ).resolves.toEqual({ displayName: 'Countess', websiteURI: 'https://ada.example' });
  });

  test('an answer stays announced when progress would be announced', async () => {
    const { tab } = await signIn(service, 'instant@example.test');
    const person = await ownPage(service, tab);
    const { page } = person;
    await page.evaluate(() => {
      const { fetch, setTimeout } = window;
      const shown = Promise.withResolvers<void>();
      window.setTimeout = ((work: () => void, wait: number) =>
        setTimeout(() => {
          work();
          if (wait === 400) shown.resolve();
        }, wait)) as typeof setTimeout;
      window.fetch = async (path, options) => {
        const answer = await fetch(path, options);
        if (options?.method !== 'PATCH') return answer;
        const object: unknown = await answer.json();
        await shown.promise;
        return {
          ok: true,
          headers: answer.headers,
          json: () => Promise.resolve(object),
        } as Response;
      };
    });
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Ada');
    const words = await page.evaluateHandle(() => {
      const heard: string[] = [];
      const region = document.querySelector('[role=status]')!;
      new MutationObserver(() => heard.push(region.textContent ?? '')).observe(region, {
        childList: true,
        characterData: true,
        subtree: true,
      });
      return heard;
    });
    await press(person, 'Save profile');
    await expect(
      settle(
        () => words.jsonValue(),
        (heard) => heard.includes('Your profile is saved.'),
      ),
    ).resolves.toBeDefined();
    await page.evaluate(
      () =>
        new Promise((done) => {
          requestAnimationFrame(() => setTimeout(done, 100));
        }),
    );
    expect((await words.jsonValue()).at(-1)).toBe('Your profile is saved.');
    expect(await button(person, 'Save profile').getAttribute('aria-disabled')).toBeNull();
  });

  test('another sign-in appears by itself and is ended from here', async () => {
    const { tab } = await signIn(service, 'places@example.test');
    const person = await ownPage(service, tab);
    const { page } = person;
    const list = page.getByRole('list', { name: 'Devices' });
    await says(person, 'You are not signed in on any other device.');
    const elsewhere = service.tab();
    elsewhere.headers = {
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    };
    await signIn(service, 'places@example.test', { tab: elsewhere });
    const firefox = list.locator('> li', { hasText: 'Firefox on Linux' });
    await firefox.getByText('Recent activity').click();
    await firefox.getByText(/^Signed in .+ by emailed code in Firefox on Linux$/).waitFor();
    await firefox.getByText(/^Signed in to Lantern Notes /).waitFor();
    await press(person, 'Sign out Firefox on Linux');
    await confirm(person);
    await page
      .getByRole('status')
      .getByText('Firefox on Linux is signed out.')
      .waitFor({ state: 'attached' });
    await elsewhere.get('accounts/~').fails(401, 'Unauthorized');
    const more = [
      await signIn(service, 'places@example.test'),
      await signIn(service, 'places@example.test'),
    ];
    await press(person, 'Sign out on all other devices');
    await says(person, '2 other devices are signed out at once.');
    expect(await person.faults()).toEqual([]);
    await confirm(person);
    await says(person, 'You are not signed in on any other device.');
    for (const one of more) await one.tab.get('accounts/~').fails(401, 'Unauthorized');
    await list
      .getByRole('listitem')
      .filter({ hasText: 'This browser' })
      .getByRole('button', { name: /^Sign out / })
      .click();
    await confirm(person);
    await page.getByRole('heading', { level: 1, name: 'You are signed out' }).waitFor();
    await tab.get('accounts/~').fails(401, 'Unauthorized');
  });

  test('a service gets less, then nothing; what it got is said until it is removed', async () => {
    const signed = await signIn(service, 'grants@example.test', {
      scope: 'openid email profile',
      agree: ['openid', 'email', 'profile'],
    });
    const { tab } = signed;
    const { body: tokens } = await redeem(service, signed);
    const person = await ownPage(service, tab);
    const { page } = person;
    const scopes = page.getByRole('group', { name: 'Lantern Notes' });
    const saidOf = async (name: string): Promise<string | null> => {
      const box = scopes.getByRole('checkbox', { name });
      return page.locator(`[id="${await box.getAttribute('aria-describedby')}"]`).textContent();
    };
    expect(await saidOf('Your identifier')).toMatch(/^Shared Identifier.*, last /);
    for (const name of ['Your email address', 'Your profile']) {
      expect(await saidOf(name)).toBe('Nothing shared yet');
    }
    await service
      .tab()
      .get('/oauth2/userinfo', {
        plain: true,
        headers: { authorization: `Bearer ${tokens.access_token}` },
      })
      .is(200);
    await says(person, /^Shared .*Last change.*, last /);
    expect(await saidOf('Your email address')).toMatch(/^Shared Email address, Verified, last /);
    expect(await scopes.getByRole('checkbox', { name: 'Your identifier' }).isDisabled()).toBe(true);
    await scopes.getByRole('checkbox', { name: 'Your profile' }).uncheck();
    await says(person, '1 item will no longer be shared.');
    expect(await person.faults()).toEqual([]);
    await press(person, 'Cancel');
    expect(await scopes.getByRole('checkbox', { name: 'Your profile' }).isChecked()).toBe(true);
    await scopes.getByRole('checkbox', { name: 'Your profile' }).uncheck();
    await confirm(person);
    await scopes.getByRole('checkbox', { name: 'Your profile' }).waitFor({ state: 'detached' });
    await says(person, /^Your profile: Shared .*Last change.*, last /);
    const [grant] = await names(tab, 'grants');
    expect((await tab.get(`grants/${grant}`).is(200)).body.spec.scopes).toEqual([
      'openid',
      'email',
    ]);
    await press(person, 'Remove Lantern Notes');
    await confirm(person);
    await says(person, 'No app has access to your account.');
    expect(await names(tab, 'grants')).toEqual([]);
  });

  test('what is downloaded is what the API gives', async () => {
    const { tab } = await signIn(service, 'export@example.test');
    const person = await ownPage(service, tab);
    await press(person, 'Show decisions');
    await person.page.getByRole('list', { name: 'Decisions' }).waitFor();
    const coming = person.page.waitForEvent('download');
    await press(person, 'Download your data');
    const file = await coming;
    expect(file.suggestedFilename()).toMatch(/^localhost-\d{4}-\d\d-\d\d\.json$/);
    const saved = JSON.parse(readFileSync(await file.path(), 'utf8')) as {
      kind: string;
      items: { kind: string; metadata: { name: string } }[];
    };
    expect(saved.kind).toBe('List');
    expect(saved.items[0]).toEqual((await tab.get('accounts/~').is(200)).body);
    for (const [resource, kind] of [
      ['grants', 'Grant'],
      ['sessions', 'Session'],
    ]) {
      const { items } = (await tab.get(resource!).is(200)).body as { items: object[] };
      expect(saved.items.filter((item) => item.kind === kind)).toEqual(
        items.map((item) => expect.objectContaining(item)),
      );
    }
    expect(saved.items.filter(({ kind }) => kind === 'PolicyDecision').length).toBeGreaterThan(0);
  });

  test('deleting the account takes two steps and ends in what happens now', async () => {
    const { tab } = await signIn(service, 'gone@example.test');
    const person = await ownPage(service, tab);
    await press(person, 'Delete account');
    await says(person, 'Apps lose access.');
    expect(await person.faults()).toEqual([]);
    await press(person, 'Cancel');
    expect((await tab.get('accounts/~').is(200)).body.metadata.deletionTimestamp).toBeUndefined();
    await press(person, 'Delete account');
    await confirm(person);
    await person.page
      .getByRole('heading', { level: 1, name: 'Your account is being deleted' })
      .waitFor();
    expect(await person.faults()).toEqual([]);
    await tab.get('accounts/~').fails(401, 'Unauthorized');
  });
});

test('the address is changed by a code; a wrong one says the tries left', async () => {
  const { tab } = await signIn(home, 'old@example.test');
  const person = await ownPage(home, tab);
  await press(person, 'Change email address');
  await person.page.getByRole('textbox', { name: 'New email address' }).fill('new@example.test');
  await press(person, 'Send a code');
  const field = person.page.getByRole('textbox', { name: 'Code' });
  const { code: former, name } = await mailTo(home, 'new@example.test');
  await field.fill(wrong(former));
  await says(person, '4 tries left');
  clock.own();
  clock.advance(60_000);
  await tab.post('accounts/~/emailchallenge', { spec: { email: 'new@example.test' } }).is(200);
  clock.release();
  const { code } = await mailTo(home, 'new@example.test', [name]);
  await field.fill(former);
  await says(person, 'We sent a newer code. Type the one from the latest email.');
  expect(await person.faults()).toEqual([]);
  await field.fill(code);
  await says(person, 'You are signed in as new@example.test');
  expect((await tab.get('accounts/~').is(200)).body.status.email.address).toBe('new@example.test');
  await mailTo(home, 'old@example.test');
});

test('what wants a newer sign-in leads through one and back to the same step', async () => {
  const { tab } = await signIn(home, 'stale@example.test');
  clock.own();
  clock.advance(11 * 60_000);
  const person = await ownPage(home, tab);
  const { page } = person;
  await press(person, 'Delete account');
  await confirm(person);
  await person.at('LoginRequired');
  await page.getByRole('textbox', { name: 'Email' }).fill('stale@example.test');
  await press(person, 'Continue with email');
  await typeCode(home, person, 'stale@example.test');
  await person.at('Authenticated');
  await press(person, 'Not now');
  await person.at('account');
  expect(new URL(page.url()).hash).toBe('#delete');
  await says(person, 'Delete your account');
  await confirm(person);
  await page.getByRole('heading', { level: 1, name: 'Your account is being deleted' }).waitFor();
  expect(new URL(page.url()).hash).toBe('');
});

test('keyboard only: a name is given, a service removed', async () => {
  const { tab } = await signIn(home, 'keys@example.test');
  const person = await ownPage(home, tab);
  const { page } = person;
  await page.getByRole('list', { name: 'Apps' }).waitFor();
  await reach(person, 'Name');
  await page.keyboard.type('Ada');
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Your profile is saved.').waitFor({ state: 'attached' });
  await reach(person, 'Remove Lantern Notes');
  await page.keyboard.press('Enter');
  await page.getByRole('group', { name: 'Confirm' }).waitFor();
  await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'group');
  await page.keyboard.press('Tab');
  await page.waitForTimeout(600);
  await page.keyboard.press('Enter');
  await says(person, 'No app has access to your account.');
  await page.waitForFunction(() => document.activeElement?.id === 'grants');
});
