import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join as pathOf } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePorts } from '../storage/etcd-server.js';
import { clock } from '../support/clock.js';
import { authorizationPath } from '../support/people/signin.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../support/service.js';
import { stores } from '../support/stores.js';
import { settle } from './support/gallery.js';
import { axeFindings } from './support/inspection.js';
import { comeByEmail, confirm, join, says } from './support/own-page.js';
import { closeBrowser, leaveAfterEach, Person } from './support/person.js';
import {
  type AuthenticatorOptions,
  VirtualAuthenticator,
} from './support/virtual-authenticator.js';
import { focused, go } from './support/visitor.js';

let home: TestService;
const people: Person[] = [];
const arrive = async (
  options?: AuthenticatorOptions,
): Promise<{ person: Person; authenticator: VirtualAuthenticator }> => {
  const person = await Person.arrive();
  people.push(person);
  return { person, authenticator: await VirtualAuthenticator.plugInto(person.page, options) };
};
const press = ({ page }: Person, name: string) =>
  page.getByRole('button', { name, exact: true }).click();
const signOut = async (person: Person): Promise<void> => {
  await person.page
    .getByRole('listitem')
    .filter({ hasText: 'This browser' })
    .getByRole('button', { name: /^Sign out / })
    .click();
  await confirm(person);
  await person.page.getByRole('heading', { level: 1, name: 'You are signed out' }).waitFor();
};
/** Signs in by passkey where the page leads for it; stands on the account page afterwards. */
const byPasskey = async (person: Person): Promise<void> => {
  await person.at('LoginRequired');
  await person.page.getByRole('link', { name: 'I lost all my passkeys' }).waitFor();
  expect(await person.page.getByRole('textbox').count()).toBe(0);
  await press(person, 'Sign in with a passkey');
  await person.at('account');
};

/** Signs out, and in by mail: a session in which changes of passkeys need a sign-in by passkey. */
async function againByEmail(
  service: TestService,
  { person, authenticator }: Awaited<ReturnType<typeof arrive>>,
  address: string,
): Promise<void> {
  await authenticator.present(false);
  await signOut(person);
  await comeByEmail(service, person, address);
  await person.at('account');
  await authenticator.present(true);
}

/** A service whose policy lets no one in to one of its Clients but by a passkey. */
async function start(store: 'embedded' | 'etcd'): Promise<TestService> {
  const manifests = pathOf(temporary(), 'manifests');
  mkdirSync(manifests);
  const policy = execFileSync(pathOf(import.meta.dirname, '../../bin/vestibule'), ['policy'], {
    encoding: 'utf8',
  });
  const rule =
    'forbid (principal, action == Action::"signIn", resource == Client::"bank") unless { context.assurance == "phr" };';
  writeFileSync(
    pathOf(manifests, 'policy.yaml'),
    `apiVersion: id.vestibule.org/v1beta1\nkind: Policy\nspec:\n  cedar: |\n${`${policy}\n${rule}\n`.replaceAll(/^(?=.)/gm, '    ')}`,
  );
  const service = await startTest({
    store,
    flags: ['--limit-factor', '1000', '--manifests', manifests],
  });
  for (const client of ['app', 'bank']) await createClient(service, client);
  return service;
}

beforeAll(async () => {
  clock.own();
  home = await start('embedded');
});
leaveAfterEach(people);
afterAll(async () => {
  clock.release();
  await closeBrowser();
  await stopAll();
});

describe.each(stores)('a passkey from its first day to its last, on %s', (store) => {
  let service: TestService;
  beforeAll(async () => {
    service = store === 'embedded' ? home : await start(store);
  });

  test('registered in setup, signed out, signed in by the button: no address, no code', async () => {
    const { person, authenticator } = await arrive();
    const { page } = person;
    await join(service, person, 'button@example.test');
    expect(await authenticator.count()).toBe(1);
    await says(person, 'You are signed in as button@example.test');
    await page.getByRole('list', { name: 'Passkeys' }).getByText('Not used yet').waitFor();
    await authenticator.present(false);
    await signOut(person);
    await press(person, 'Sign in');
    await person.at('LoginRequired');
    expect(await axeFindings(person.page)).toEqual([]);
    await authenticator.present(true);
    await press(person, 'Sign in with a passkey');
    await person.at('account');
    await page
      .getByRole('list', { name: 'Passkeys' })
      .getByText(/Last used/)
      .waitFor();
    await page.getByText(/by passkey, last used/).waitFor();
  });

  test('signed in by autofill: the address is not typed, nothing is pressed', async () => {
    const { person, authenticator } = await arrive();
    await join(service, person, 'autofill@example.test');
    await authenticator.present(false);
    await signOut(person);
    await authenticator.present(true);
    await press(person, 'Sign in');
    await person.at('account');
    await says(person, 'You are signed in as autofill@example.test');
  });

  test('a second passkey is added, named and deleted, each shown at once', async () => {
    const { person, authenticator } = await arrive();
    const { page } = person;
    await join(service, person, 'second@example.test');
    await againByEmail(service, { person, authenticator }, 'second@example.test');
    const list = page.getByRole('list', { name: 'Passkeys' });
    await press(person, 'Add a passkey');
    await byPasskey(person);
    await says(person, 'You have signed in again.');
    await press(person, 'Add a passkey');
    await says(person, 'This device already has a passkey for your account.');
    await VirtualAuthenticator.plugInto(page, { transport: 'usb' });
    await press(person, 'Add a passkey');
    await page.getByRole('textbox', { name: 'Name of the passkey' }).fill('Key on my ring');
    expect(await axeFindings(person.page)).toEqual([]);
    await press(person, 'Save name');
    await list.getByRole('heading', { name: 'Key on my ring' }).waitFor();
    await press(person, 'Rename Passkey');
    await page.getByRole('textbox', { name: 'Name of the passkey' }).fill('');
    await press(person, 'Save name');
    await says(person, 'Use 1 to 64 characters');
    await page.getByRole('textbox', { name: 'Name of the passkey' }).fill('Laptop');
    await press(person, 'Save name');
    await list.getByRole('heading', { name: 'Laptop' }).waitFor();
    await press(person, 'Delete Key on my ring');
    await confirm(person);
    await list.getByRole('heading', { name: 'Key on my ring' }).waitFor({ state: 'detached' });
    await page.waitForFunction(() => document.activeElement?.id === 'passkeys');
    await press(person, 'Delete Laptop');
    await says(person, 'This is your only passkey.');
    expect(await axeFindings(person.page)).toEqual([]);
    await press(person, 'Cancel');
    expect(await list.getByRole('listitem').count()).toBe(1);
    expect(await authenticator.count()).toBe(1);
  });

  test('a deleted passkey that the authenticator keeps is refused, with a way on', async () => {
    const { person, authenticator } = await arrive();
    const { page } = person;
    await page.addInitScript(() => {
      Object.assign(PublicKeyCredential, { signalAllAcceptedCredentials: undefined });
    });
    await join(service, person, 'ghost@example.test');
    await againByEmail(service, { person, authenticator }, 'ghost@example.test');
    await press(person, 'Delete Passkey');
    await confirm(person);
    await byPasskey(person);
    await confirm(person);
    await says(person, 'You have no passkey yet.');
    expect(await authenticator.count()).toBe(1);
    await authenticator.present(false);
    await signOut(person);
    await press(person, 'Sign in');
    await person.at('LoginRequired');
    await authenticator.present(true);
    await press(person, 'Sign in with a passkey');
    await page
      .getByRole('alert')
      .getByText('This passkey was not accepted. It may have been removed from your account')
      .waitFor();
    await authenticator.present(false);
    expect(await axeFindings(person.page)).toEqual([]);
    await page.getByRole('textbox', { name: 'Email' }).fill('ghost@example.test');
    await press(person, 'Continue with email');
    await page.getByRole('textbox', { name: 'Code' }).waitFor();
  });
});

test('an authenticator that does not know its person makes no passkey', async () => {
  const { person, authenticator } = await arrive();
  const { page } = person;
  // Autofill would sign in by itself before the button is pressed again.
  await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = undefined');
  await authenticator.verifies(false);
  await comeByEmail(home, person, 'unverified@example.test');
  await person.at('Authenticated');
  await press(person, 'Add a passkey');
  await page
    .getByRole('button', { name: 'Add a passkey' })
    .and(page.locator(':not([aria-disabled])'))
    .waitFor();
  expect(await authenticator.count()).toBe(0);
  await authenticator.verifies(true);
  await press(person, 'Add a passkey');
  await says(person, 'Passkey added.');
  await press(person, 'Not now');
  await person.at('account');
  await authenticator.present(false);
  await signOut(person);
  await authenticator.verifies(false);
  await press(person, 'Sign in');
  await person.at('LoginRequired');
  await authenticator.present(true);
  await press(person, 'Sign in with a passkey');
  await page
    .getByRole('button', { name: 'Sign in with a passkey' })
    .and(page.locator(':not([aria-disabled])'))
    .waitFor();
  expect(await page.locator('main').getAttribute('data-phase')).toBe('LoginRequired');
  await authenticator.verifies(true);
  await press(person, 'Sign in with a passkey');
  await person.at('account');
});

test('where policy demands a passkey the page offers nothing else', async () => {
  const { person } = await arrive();
  const { page } = person;
  await page.goto(`${home.baseURL}${authorizationPath('bank', 'openid email', 'v'.repeat(43))}`);
  await person.at('LoginRequired');
  await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
  expect(await page.getByRole('textbox').count()).toBe(0);
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole('link', { name: 'I have no passkey yet' }).click();
  await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
  await page.getByRole('textbox', { name: 'Email' }).fill('new@example.test');
  await press(person, 'Continue with email');
  await page.getByRole('heading', { name: 'Check your email' }).waitFor();
});

test('at an address of numbers no passkey is offered: browsers take none there', async () => {
  const [port] = await freePorts(1);
  const numbered = await startTest({
    flags: [
      '--limit-factor',
      '1000',
      '--port',
      String(port),
      '--base-url',
      `http://127.0.0.1:${port}`,
    ],
  });
  const { person } = await arrive();
  await comeByEmail(numbered, person, 'numbers@example.test');
  await person.at('Authenticated');
  expect(await person.page.getByRole('button', { name: 'Add a passkey' }).count()).toBe(0);
  await press(person, 'Not now');
  await person.at('account');
  await says(person, 'Passkeys do not work on an IP address.');
  expect(await person.page.getByRole('button', { name: 'Add a passkey' }).count()).toBe(0);
});

test('keyboard only: a passkey is registered, used, renamed and deleted', async () => {
  const { person, authenticator } = await arrive();
  const { page } = person;
  await page.addInitScript(() => {
    PublicKeyCredential.isConditionalMediationAvailable = async () => false;
  });
  await comeByEmail(home, person, 'keys@example.test');
  await person.at('Authenticated');
  await go(person, 'Add a passkey');
  await says(person, 'Passkey added.');
  await go(person, 'Not now');
  await person.at('account');
  await authenticator.present(false);
  await go(person, 'Sign out ');
  await page.waitForTimeout(600);
  await go(person, 'Confirm');
  await page.getByRole('heading', { level: 1, name: 'You are signed out' }).waitFor();
  await go(person, 'Sign in');
  await person.at('LoginRequired');
  await authenticator.present(true);
  await go(person, 'Sign in with a passkey');
  await person.at('account');
  await go(person, 'Rename Passkey');
  await page.getByRole('textbox', { name: 'Name of the passkey' }).waitFor();
  await page.waitForFunction(() => document.activeElement?.matches('input'));
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('Laptop');
  await page.keyboard.press('Enter');
  await page
    .getByRole('list', { name: 'Passkeys' })
    .getByRole('heading', { name: 'Laptop' })
    .waitFor();
  await go(person, 'Delete Laptop');
  await page.waitForTimeout(600);
  await go(person, 'Confirm');
  await says(person, 'You have no passkey yet.');
});

test('keyboard only: a second passkey is added and named', async () => {
  const { person, authenticator } = await arrive();
  const { page } = person;
  await page.addInitScript(() => {
    HTMLInputElement.prototype.select = function select() {
      this.setSelectionRange(0, this.value.length);
    };
  }); // as the standard has it: the focus stays where it was
  await join(home, person, 'second-keys@example.test');
  await againByEmail(home, { person, authenticator }, 'second-keys@example.test');
  await go(person, 'Add a passkey');
  await byPasskey(person);
  await authenticator.unplug();
  const second = await VirtualAuthenticator.plugInto(page, { transport: 'usb' });
  await go(person, 'Add a passkey');
  const name = page.getByRole('textbox', { name: 'Name of the passkey' });
  await focused(name);
  await page.keyboard.type('Key on my ring');
  await page.keyboard.press('Enter');
  const list = page.getByRole('list', { name: 'Passkeys' });
  await list.getByRole('heading', { name: 'Key on my ring' }).waitFor();
  await focused(list.getByRole('button', { name: 'Rename Key on my ring' }));
  expect([await list.getByRole('listitem').count(), await second.count()]).toEqual([2, 1]);
  expect(await axeFindings(page)).toEqual([]);
});

test('autofill gets a fresh challenge every four minutes', async () => {
  const { person, authenticator } = await arrive();
  const { page } = person;
  await join(home, person, 'patient@example.test');
  await authenticator.present(false);
  await signOut(person);
  await page.clock.install();
  const asked: string[] = [];
  page.on('response', (answer) => {
    if (answer.url().endsWith('/passkeychallenge')) asked.push(answer.url());
  });
  const next = (count: number) =>
    settle(
      async () => {
        await page.evaluate(() => 0);
        return asked.length;
      },
      (now) => now >= count,
    );
  await press(person, 'Sign in');
  await person.at('LoginRequired');
  await page.clock.runFor(1_000);
  await next(1);
  for (const turn of [1, 2]) {
    if (turn === 2) await authenticator.present(true);
    clock.advance(241_000);
    await page.clock.runFor(241_000);
    if (turn === 1) expect(await next(2)).toBe(2);
  }
  await person.at('account');
  await says(person, 'You are signed in as patient@example.test');
});

test('password managers find the page, and are notified of what was deleted', async () => {
  const { headers, body } = await home.tab().send('GET', '/.well-known/passkey-endpoints').is(200);
  expect([headers['content-type'], body]).toEqual([
    'application/json',
    { enroll: `${home.baseURL}/account`, manage: `${home.baseURL}/account` },
  ]);
  const { person, authenticator } = await arrive();
  const { page } = person;
  await page.addInitScript(() => {
    const signals: unknown[] = [];
    Object.assign(globalThis, { signals });
    Object.assign(PublicKeyCredential, {
      signalAllAcceptedCredentials: async (what: object) => {
        signals.push(what);
      },
      signalCurrentUserDetails: async (what: object) => {
        signals.push(what);
      },
    });
  });
  const signals = () =>
    page.evaluate(
      () =>
        (
          globalThis as unknown as {
            signals: { allAcceptedCredentialIds?: string[]; name?: string }[];
          }
        ).signals,
    );
  const signalled = (count: number) =>
    page.waitForFunction(
      (least) => (globalThis as unknown as { signals: unknown[] }).signals.length >= least,
      count,
    );
  await join(home, person, 'signals@example.test');
  await againByEmail(home, { person, authenticator }, 'signals@example.test');
  await press(person, 'Add a passkey');
  await byPasskey(person);
  await signalled(2);
  expect(
    (await signals()).map(
      ({ allAcceptedCredentialIds, name }) => allAcceptedCredentialIds?.length ?? name,
    ),
  ).toEqual([1, 'signals@example.test']);
  await press(person, 'Delete Passkey');
  await confirm(person);
  await signalled(4);
  expect((await signals())[2]!.allAcceptedCredentialIds).toEqual([]);
});
