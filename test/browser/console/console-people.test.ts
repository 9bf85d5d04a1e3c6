import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { findKubectls } from '../../support/cluster/kubectl.js';
import { register, signedInByPasskey, withPasskey } from '../../support/people/passkeys.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { type TestService, temporary } from '../../support/service.js';
import { type Change, ChangeRecorder, changesOf, openConsole } from '../support/console.js';
import { overflows } from '../support/inspection.js';
import type { Person } from '../support/person.js';
import { reach } from '../support/visitor.js';
import { startOperated, visitors } from '../support/visitors.js';

const newest = findKubectls().at(-1);
let service: TestService;
let operator: Tab;
let recorder: ChangeRecorder;
let server: string;
const arriveAs = visitors(() => service);
const arrive = (options?: Parameters<typeof arriveAs>[1]): Promise<Person> =>
  arriveAs(operator, options);
const heading = ({ page }: Person, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
const nameOf = async (tab: Tab): Promise<string> =>
  (await tab.get('accounts/~').is(200)).body.metadata.name;
const find = async ({ page }: Person, words: string): Promise<void> => {
  await page.getByRole('searchbox', { name: 'Name or address' }).fill(words);
  await page.keyboard.press('Enter');
};
/** Carries out one act, and returns the command that its question showed. */
async function act({ page }: Person, name: string): Promise<string> {
  await page.getByRole('button', { name, exact: true }).click();
  const question = page.getByRole('group', { name, exact: true });
  await question.getByText('The same with kubectl').click();
  const command = (await question.getByRole('region').textContent())!;
  await page.waitForTimeout(600); // earlier clicks are not meant for the question
  await question.getByRole('button', { name, exact: true }).click();
  await question.waitFor({ state: 'detached' });
  return command;
}

beforeAll(async () => {
  ({ service, operator } = await startOperated());
  recorder = new ChangeRecorder(service);
  server = await recorder.listen();
  for (const name of ['staff', 'guests']) {
    await operator
      .post('groups', { metadata: { name }, spec: { displayName: `The ${name}` } })
      .is(201);
  }
});
afterEach(() => {
  recorder.changes.splice(0);
});
afterAll(() => recorder?.close());

/** What kubectl sends for commands, where it can be had. */
async function sentByKubectl(commands: readonly string[]): Promise<readonly Change[]> {
  for (const command of commands) {
    await promisify(execFile)(
      'sh',
      ['-c', command.replaceAll(/^kubectl /gm, `'${newest!.path}' --server=${server} `)],
      { env: { PATH: `${dirname(newest!.path)}:${process.env.PATH}`, HOME: temporary() } },
    );
  }
  return recorder.changes.splice(0);
}

test('a person is found by address and helped, by the requests of kubectl', async () => {
  const { tab } = await signIn(service, 'ada@example.test');
  const account = await nameOf(tab);
  const person = await arrive();
  const { page } = person;
  const changes = changesOf(page);
  await openConsole(service, person);
  await page.getByRole('link', { name: 'People', exact: true }).click();
  await heading(person, 'People');
  await find(person, 'Ada@Example.test');
  await page.getByText('1 row.').first().waitFor();
  await page.getByRole('link', { name: 'ada@example.test' }).click();
  await heading(person, 'ada@example.test');
  await page.getByText('In no group.').first().waitFor();
  await page.getByRole('combobox', { name: 'Add to a group' }).selectOption('The staff');
  const form = page.locator('form').filter({ hasText: 'Add to a group' });
  await form.getByText('The same with kubectl').click();
  const join = (await form.getByRole('region').textContent())!;
  await form.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('link', { name: 'The staff' }).waitFor();
  expect((await operator.get('groups/staff').is(200)).body.spec.members).toEqual([
    'ada@example.test',
  ]);
  const commands = [join, await act(person, 'Remove from The staff')];
  await page.getByText('In no group.').first().waitFor();
  const signOut = page.getByRole('button', { name: /^Sign out / });
  commands.push(await act(person, (await signOut.textContent())!));
  await page.getByText('Not signed in on any device.').first().waitFor();
  await tab.get('accounts/~').fails(401, 'Unauthorized');
  commands.push(await act(person, 'Disable account'));
  await page.getByText('No one can sign in to this account.').first().waitFor();
  commands.push(await act(person, 'Enable account'));
  await page.getByRole('button', { name: 'Disable account' }).waitFor();
  const { status } = (await operator.get(`accounts/${account}`).is(200)).body;
  expect(status.disabledTimestamp).toBeUndefined();
  expect(
    changes.map(({ method, path }) => `${method} ${path.split('/').slice(4).join('/')}`),
  ).toEqual([
    'PATCH groups/staff',
    'PATCH groups/staff',
    expect.stringMatching(new RegExp(`^DELETE sessions/${account}-`)),
    `POST accounts/${account}/disable`,
    `POST accounts/${account}/enable`,
  ]);
  if (!newest) return;
  // kubectl sends no content type with --raw
  expect(await sentByKubectl(commands)).toEqual(
    changes.map((change) => (change.method === 'POST' ? { ...change, type: undefined } : change)),
  );
});

test('passkeys are deleted, and lost ones lead to a recovery', async () => {
  const { tab, account } = await signedInByPasskey(service, 'lost@example.test');
  await (await register(service, tab, undefined, { displayName: 'Key on a ring' })).answer.is(201);
  const person = await arrive();
  const { page } = person;
  await openConsole(service, person, `/people/${account}`);
  const passkeys = page.getByRole('region', { name: 'Passkeys' });
  await passkeys.getByRole('listitem').nth(1).waitFor();
  await act(person, 'Delete Key on a ring');
  await passkeys.getByRole('listitem').nth(1).waitFor({ state: 'detached' });
  await act(person, 'Start recovery');
  await page.getByText('A recovery was started.').first().waitFor();
  const { items } = (
    await operator.get(`recoveries?fieldSelector=status.account%3D${account}`).is(200)
  ).body;
  expect(items.map(({ status }: any) => [status.phase, status.startedBy])).toEqual([
    ['Waiting', 'Operator'],
  ]);
});

test('a question may be declined by keyboard, and changes nothing', async () => {
  const { tab } = await signIn(service, 'calm@example.test');
  const account = await nameOf(tab);
  const person = await arrive();
  const { page } = person;
  await openConsole(service, person, `/people/${account}`);
  await page.getByRole('button', { name: 'Disable account' }).waitFor();
  await reach(person, 'Disable account');
  await page.keyboard.press('Enter');
  await page.getByText('Nothing is deleted.').first().waitFor();
  await reach(person, 'Cancel');
  await page.keyboard.press('Enter');
  await page.getByText('Nothing is deleted.').waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.activeElement?.textContent === 'Disable account');
  await tab.get('accounts/~').is(200);
});

test('a person is found by the beginning of any word of name and address', async () => {
  const spec = { email: 'grace@navy.test', displayName: 'Grace Hopper' };
  await operator.post('accounts', { spec }).is(201);
  const person = await arrive();
  const { page } = person;
  await openConsole(service, person, '/people');
  for (const words of ['hopp', 'GRACE', 'navy', 'hopper grace', 'grace@na']) {
    await find(person, words);
    await page.getByText('1 row.').first().waitFor();
    await page.getByRole('link', { name: 'Grace Hopper' }).waitFor();
    await page.getByText('grace@navy.test').waitFor();
  }
});

test('an address that no account has, an unknown person and the first letters', async () => {
  const person = await arrive();
  const { page } = person;
  await openConsole(service, person, '/people');
  await find(person, 'absent@example.test');
  await page.getByText('No one was found.').first().waitFor();
  await find(person, 'op@');
  await page.getByText('1 row.').first().waitFor();
  await openConsole(service, person, '/people/absent');
  await page.getByText('It does not exist, or it was deleted.').first().waitFor();
});

test('someone is invited by address alone, under a name that is suggested', async () => {
  const person = await arrive();
  const { page } = person;
  await openConsole(service, person, '/people');
  await page.getByRole('link', { name: 'Invite someone' }).click();
  const name = page.getByLabel('name (required)');
  await name.waitFor();
  const suggested = await name.inputValue();
  expect(suggested).toMatch(/^invitation-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  await page.getByLabel('email').fill('invited@example.test');
  await page.getByRole('button', { name: 'Create' }).click();
  await heading(person, suggested);
  const { spec } = (await operator.get(`invitations/${suggested}`).is(200)).body;
  expect(spec.email).toBe('invited@example.test');
});

test('a file is tried without a change, then imported', async () => {
  const person = await arrive();
  const { page } = person;
  const csv = [
    'email,displayName,groups',
    'grace@example.test,Grace Hopper,staff',
    'GRACE@example.test,,',
    'op@example.test,,guests',
    ',No Address,',
    'alan@example.test,Alan Turing,nowhere',
    'too,many,fields,here',
    'not an address,,',
  ].join('\n');
  await openConsole(service, person, '/people');
  await page.getByRole('link', { name: 'Import a file' }).click();
  await heading(person, 'Import people');
  const choose = (text: string) =>
    page.getByLabel('CSV file').setInputFiles({
      name: 'people.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(text),
    });
  await choose('phone,email\na,b@example.test\n');
  await page.getByText('Unknown column phone.').first().waitFor();
  await choose(csv);
  await page.getByText('People in the file: 4').first().waitFor();
  await page.getByRole('button', { name: 'Try without a change' }).click();
  await page.getByRole('heading', { name: 'What the import would do' }).waitFor();
  const counts = async () => page.locator('#report ~ ul > li').allTextContents();
  expect(await counts()).toEqual([
    'New accounts: 1',
    'Already there: 1',
    'New memberships of groups: 2',
    'Refused: 5',
  ]);
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save refused lines' }).click();
  expect(readFileSync(await (await saved).path(), 'utf8')).toMatch(
    /^\uFEFFline,email,why\r\n3,GRACE@example\.test,The same address as line 2\r\n/,
  );
  const rows = page.getByRole('region', { name: 'Refused lines' }).getByRole('row');
  expect((await rows.allTextContents()).slice(1)).toEqual([
    '3GRACE@example.testThe same address as line 2',
    '5No address',
    '6alan@example.testThere is no group nowhere',
    '7tooAnother number of fields than the heading',
    expect.stringMatching(/^8not an address.*spec\.email/),
  ]);
  const missing = 'accounts?fieldSelector=status.email.address%3Dgrace@example.test';
  expect((await operator.get(missing).is(200)).body.items).toEqual([]);
  await page.reload();
  await page.getByRole('button', { name: 'Try without a change' }).click();
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByRole('heading', { name: 'What the import did' }).waitFor();
  const [grace] = (await operator.get(missing).is(200)).body.items;
  expect(grace.spec.displayName).toBe('Grace Hopper');
  expect((await operator.get('groups/staff').is(200)).body.spec.members).toContain(
    'grace@example.test',
  );
  await page.getByRole('button', { name: 'Try without a change' }).click();
  await page.getByText('Already there: 2').first().waitFor();
  expect((await counts()).slice(0, 3)).toEqual([
    'New accounts: 0',
    'Already there: 2',
    'New memberships of groups: 0',
  ]);
});

test('who is no operator finds no people', async () => {
  const { tab } = await signIn(service, 'plain@example.test');
  const person = await arriveAs(tab);
  await openConsole(service, person, '/people');
  await person.page.getByText('Not signed in').waitFor({ state: 'detached' });
  const links = await person.page.locator('.table tbody th a').allTextContents();
  expect(links.every((text) => text === 'plain@example.test')).toBe(true);
});

test.each([
  ['light', { colorScheme: 'light' as const, locale: 'en-GB' }],
  ['dark', { colorScheme: 'dark' as const, locale: 'en-GB' }],
  ['Arabic', { colorScheme: 'light' as const, locale: 'ar' }],
])('axe finds nothing in %s, and nothing is too wide at 320 px or 200 %%', async (name, look) => {
  const { account } = await withPasskey(service, `${name}@example.test`);
  const person = await arrive(look);
  const { page } = person;
  const faults: string[] = [];
  const inspect = async (view: string): Promise<void> => {
    await page.waitForFunction(() => !document.querySelector('main [aria-busy]'));
    for (const one of [
      ...(await person.faults()),
      ...(await overflows(page, 320)),
      ...(await overflows(page, 640, 'html { font-size: 200% !important }')),
    ]) {
      faults.push(`${view}: ${one}`);
    }
  };
  for (const path of ['/people', '/people/-/new', `/people/${account}`]) {
    await openConsole(service, person, path);
    await page.locator('h1').waitFor();
    await inspect(path);
  }
  await page.locator('.act button').first().click();
  await page.locator('.confirm').waitFor();
  await inspect('question');
  expect(faults).toEqual([]);
});
