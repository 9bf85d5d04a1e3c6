import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Request } from 'playwright-core';
import { clock } from '../support/clock.js';
import { findKubectls } from '../support/kubectl.js';
import {
  createClient,
  startTest,
  stopAll,
  temporary,
  type TestService,
} from '../support/service.js';
import { signIn } from '../support/signin.js';
import type { Tab } from '../support/tab.js';
import { ChangeRecorder, openConsole, type Change } from './support/console.js';
import { overflows } from './support/inspection.js';
import { closeBrowser, leaveAfterEach, type Person } from './support/person.js';
import { asPerson, focused, reach } from './support/visitor.js';

const newest = findKubectls().at(-1);
let service: TestService;
let operator: Tab;
let ada: Tab;
let recorder: ChangeRecorder;
let server: string;
let original: string;
const people: Person[] = [];
const arrive = async (tab: Tab, options: Parameters<typeof asPerson>[2] = {}): Promise<Person> => {
  const person = await asPerson(service, tab, { locale: 'en-GB', ...options });
  people.push(person);
  return person;
};
const editor = ({ page }: Person) => page.locator('.cm-content');
const putInForce = ({ page }: Person) => page.getByRole('button', { name: 'Put in force' });
const linkTo = ({ page }: Person, name: string) => page.getByRole('link', { name, exact: true });

/** Replaces the text of the editor. */
async function write(person: Person, text: string): Promise<void> {
  await editor(person).click();
  await person.page.keyboard.press('ControlOrMeta+a');
  await person.page.keyboard.insertText(text);
}

/** The requests of a page that create policies, without dry runs. */
function creationsOf({ page }: Person): Change[] {
  const all: Change[] = [];
  page.on('request', (request: Request) => {
    const { pathname, search } = new URL(request.url());
    if (request.method() !== 'POST' || !pathname.endsWith('/policies') || search) return;
    const type = request.headers()['content-type'];
    all.push({ method: 'POST', path: pathname, type, body: request.postDataJSON() });
  });
  return all;
}

/** A rule that refuses what Ada did before. */
const rule = `
@id("no-passkey-lists")
@message("Lists of passkeys are closed.")
forbid (principal is Account, action == Action::"list", resource is Passkey);
`;

beforeAll(async () => {
  service = await startTest({
    flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
  });
  await createClient(service, 'app');
  operator = (await signIn(service, 'op@example.test')).tab;
  ada = (await signIn(service, 'ada@example.test')).tab;
  original = (await service.tab().get('policies/p-1').is(200)).body.spec.cedar;
  recorder = new ChangeRecorder(service);
  server = await recorder.listen();
});
afterEach(() => clock.release());
leaveAfterEach(people);
afterAll(async () => {
  recorder?.close();
  await closeBrowser();
  await stopAll();
});

const listPasskeys = () => ada.get(`passkeys?fieldSelector=spec.account=${ada.account}`);

test('a fault stands at its line, and names are completed', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person);
  await linkTo(person, 'Policy').click();
  await editor(person).waitFor();
  await write(person, `${original}\npermit (principal, action, resource`);
  await page.getByText('1 fault').first().waitFor();
  const line = original.split('\n').length;
  await page.locator('.cm-line.fault-line').waitFor();
  expect(await editor(person).getAttribute('aria-invalid')).toBe('true');
  await page.getByRole('link', { name: /^Line \d+$/ }).click();
  await focused(editor(person));
  expect(await putInForce(person).getAttribute('aria-disabled')).toBe('true');
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.type(') when { context.signedIn');
  await page.getByRole('option', { name: /signedInRecently/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.type(' };');
  await page
    .getByRole('heading', { name: 'Would be allowed' })
    .or(page.getByText('All of them would stay the same.'))
    .first()
    .waitFor();
  expect(line).toBeGreaterThan(1);
  expect(person.complaints).toEqual([]);
});
