import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { comeByEmail, confirm, says } from './support/own-page.js';
import { axeFindings } from './support/inspection.js';
import { closeBrowser, Person } from './support/person.js';
import { VirtualAuthenticator, type AuthenticatorOptions } from './support/virtual-authenticator.js';

jest.setTimeout(90_000);

let service: TestService;
const people: Person[] = [];
const arrive = async (options?: AuthenticatorOptions): Promise<{ person: Person; authenticator: VirtualAuthenticator }> => {
  const person = await Person.arrive();
  people.push(person);
  return { person, authenticator: await VirtualAuthenticator.plugInto(person.page, options) };
};
const press = ({ page }: Person, name: string) => page.getByRole('button', { name, exact: true }).click();
const signOut = async (person: Person): Promise<void> => {
  await person.page.getByRole('listitem').filter({ hasText: 'This browser' }).getByRole('button', { name: /^Sign out / }).click();
  await confirm(person);
  await person.page.getByRole('heading', { level: 1, name: 'You are signed out' }).waitFor();
};
/** Registers a passkey in setup; stands on the account page afterwards. */
const join = async (person: Person, address: string): Promise<void> => {
  await comeByEmail(service, person, address);
  await person.at('Authenticated');
  await press(person, 'Add a passkey');
  await says(person, 'The passkey is added.');
  await person.page.getByRole('textbox', { name: 'Your name' }).fill('Ada Lovelace');
  await press(person, 'Continue');
  await person.at('account');
};

beforeAll(async () => { service = await startTest({ flags: ['--limit-factor', '1000'] }); await createClient(service, 'app') });
afterEach(async () => {
  const all = people.splice(0);
  expect(all.flatMap(({ complaints }) => complaints)).toEqual([]);
  await Promise.all(all.map((one) => one.leave()));
});
afterAll(async () => { await closeBrowser(); await stopAll() });

test('registered in setup, signed out, signed in by the button: no address, no code', async () => {
  const { person, authenticator } = await arrive();
  const { page } = person;
  await join(person, 'button@example.test');
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
  await page.getByRole('list', { name: 'Passkeys' }).getByText(/Last used/).waitFor();
  await page.getByText(/by passkey, last used/).waitFor();
});

test('signed in by autofill: the address is not typed, nothing is pressed', async () => {
  const { person, authenticator } = await arrive();
  await join(person, 'autofill@example.test');
  await authenticator.present(false);
  await signOut(person);
  await authenticator.present(true);
  await press(person, 'Sign in');
  await person.at('account');
  await says(person, 'You are signed in as autofill@example.test');
});

test('a second passkey, a name for it, and one deleted: each is there at once, and the last says what it means', async () => {
  const { person, authenticator } = await arrive();
  const { page } = person;
  await join(person, 'second@example.test');
  const list = page.getByRole('list', { name: 'Passkeys' });
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
  await says(person, 'Use 1 to 64 letters');
  await page.getByRole('textbox', { name: 'Name of the passkey' }).fill('Laptop');
  await press(person, 'Save name');
  await list.getByRole('heading', { name: 'Laptop' }).waitFor();
  await press(person, 'Delete Key on my ring');
  await confirm(person);
  await list.getByRole('heading', { name: 'Key on my ring' }).waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.activeElement?.id === 'passkeys');
  await press(person, 'Delete Laptop');
  await says(person, 'It is your only passkey.');
  expect(await axeFindings(person.page)).toEqual([]);
  await press(person, 'Keep it');
  expect(await list.getByRole('listitem').count()).toBe(1);
  expect(await authenticator.count()).toBe(1);
});

test('a passkey deleted here and still kept by the authenticator is refused, with a way on; email still works', async () => {
  const { person, authenticator } = await arrive();
  const { page } = person;
  await page.addInitScript(() => { Object.assign(PublicKeyCredential, { signalAllAcceptedCredentials: undefined }); });
  await join(person, 'ghost@example.test');
  await press(person, 'Delete Passkey');
  await confirm(person);
  await says(person, 'You have no passkey yet.');
  expect(await authenticator.count()).toBe(1);
  await authenticator.present(false);
  await signOut(person);
  await press(person, 'Sign in');
  await person.at('LoginRequired');
  await authenticator.present(true);
  await press(person, 'Sign in with a passkey');
  await page.getByRole('alert').getByText('This passkey was not accepted. It may have been removed here').waitFor();
  await authenticator.present(false);
  expect(await axeFindings(person.page)).toEqual([]);
  await page.getByRole('textbox', { name: 'Email' }).fill('ghost@example.test');
  await press(person, 'Continue with email');
  await page.getByRole('textbox', { name: 'Code' }).waitFor();
});

test('an authenticator that does not know its person makes no passkey and gives no proof; nothing is said, everything stays', async () => {
  const { person, authenticator } = await arrive();
  const { page } = person;
  await authenticator.verifies(false);
  await comeByEmail(service, person, 'unverified@example.test');
  await person.at('Authenticated');
  await press(person, 'Add a passkey');
  await page.getByRole('button', { name: 'Add a passkey' }).and(page.locator(':not([aria-disabled])')).waitFor();
  expect(await authenticator.count()).toBe(0);
  await authenticator.verifies(true);
  await press(person, 'Add a passkey');
  await says(person, 'The passkey is added.');
  await press(person, 'Not now');
  await person.at('account');
  await authenticator.present(false);
  await signOut(person);
  await authenticator.verifies(false);
  await press(person, 'Sign in');
  await person.at('LoginRequired');
  await authenticator.present(true);
  await press(person, 'Sign in with a passkey');
  await page.getByRole('button', { name: 'Sign in with a passkey' }).and(page.locator(':not([aria-disabled])')).waitFor();
  expect(await page.locator('main').getAttribute('data-phase')).toBe('LoginRequired');
  await authenticator.verifies(true);
  await press(person, 'Sign in with a passkey');
  await person.at('account');
});

test('password managers find the page, and are told what was deleted', async () => {
  const { headers, body } = await service.tab().send('GET', '/.well-known/passkey-endpoints').is(200);
  expect([headers['content-type'], body]).toEqual(['application/json', { enroll: `${service.baseURL}/account`, manage: `${service.baseURL}/account` }]);
  const { person } = await arrive();
  const { page } = person;
  await page.addInitScript(() => {
    const told: unknown[] = [];
    Object.assign(globalThis, { told });
    Object.assign(PublicKeyCredential, { signalAllAcceptedCredentials: async (what: object) => { told.push(what) }, signalCurrentUserDetails: async (what: object) => { told.push(what) } });
  });
  const told = () => page.evaluate(() => (globalThis as unknown as { told: { allAcceptedCredentialIds?: string[]; name?: string }[] }).told);
  const toldTimes = (count: number) => page.waitForFunction((least) => (globalThis as unknown as { told: unknown[] }).told.length >= least, count);
  await join(person, 'signals@example.test');
  await toldTimes(2);
  expect((await told()).map(({ allAcceptedCredentialIds, name }) => allAcceptedCredentialIds?.length ?? name)).toEqual([1, 'signals@example.test']);
  await press(person, 'Delete Passkey');
  await confirm(person);
  await toldTimes(4);
  expect((await told())[2]!.allAcceptedCredentialIds).toEqual([]);
});
