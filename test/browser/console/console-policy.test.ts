import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Request } from 'playwright-core';
import { clock } from '../../support/clock.js';
import { findKubectls } from '../../support/cluster/kubectl.js';
import { until } from '../../support/patience.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, type TestService, temporary } from '../../support/service.js';
import { stores } from '../../support/stores.js';
import { type Change, ChangeRecorder, openConsole } from '../support/console.js';
import { overflows } from '../support/inspection.js';
import type { Person } from '../support/person.js';
import { focused, reach } from '../support/visitor.js';
import { visitors } from '../support/visitors.js';

const newest = findKubectls().at(-1);
let service: TestService;
let operator: Tab;
let ada: Tab;
let recorder: ChangeRecorder;
let server: string;
let original: string;
const arrive = visitors(() => service);
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
@id("names-stay")
@message("Names are not changed here.")
forbid (principal is Account, action == Action::"patch", resource is Account);
`;

/** Starts a service on a store, with an operator and a person who signed in. */
async function start(store: (typeof stores)[number]): Promise<void> {
  recorder?.close();
  service = await startTest({
    store,
    flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
  });
  await createClient(service, 'app');
  operator = (await signIn(service, 'op@example.test')).tab;
  ada = (await signIn(service, 'ada@example.test')).tab;
  original = (await service.tab().get('policies/p-1').is(200)).body.spec.cedar;
  recorder = new ChangeRecorder(service);
  server = await recorder.listen();
}

afterEach(() => clock.release());
afterAll(() => recorder?.close());

let names = 0;
const rename = () => ada.patch('accounts/~', { spec: { displayName: `Ada ${(names += 1)}` } });

/** The command that the console shows. */
const commandOf = async ({ page }: Person): Promise<string> =>
  (await page.getByRole('region', { name: 'The same with kubectl' }).textContent())!;

/** The policy that the console creates, as kubectl sends it. */
const creationOf = (cedar: string, description: string): Change => ({
  method: 'POST',
  path: '/apis/id.vestibule.org/v1beta1/policies',
  type: 'application/json',
  body: {
    apiVersion: 'id.vestibule.org/v1beta1',
    kind: 'Policy',
    metadata: {},
    spec: { cedar, ...(description && { description }) },
  },
});

/** Runs a command that the console shows, against the recorder. */
async function runCommand(command: string): Promise<void> {
  if (!newest) return;
  await promisify(execFile)(
    'sh',
    ['-c', command.replace(/^kubectl /, `'${newest.path}' --server=${server} `)],
    { env: { PATH: `${dirname(newest.path)}:${process.env.PATH}`, HOME: temporary() } },
  );
}

describe.each(stores)('the part for the policy, on %s', (store) => {
  beforeAll(() => start(store));

  test('from a fault to a rule in force that refuses, and back to the earlier policy', async () => {
    await rename().is(200);
    const person = await arrive(operator);
    const { page } = person;
    const creations = creationsOf(person);
    await openConsole(service, person);
    await linkTo(person, 'Policy').click();
    await write(person, `${original}\npermit (principal, action, resource`);
    await page.getByText('1 fault').first().waitFor();
    await page.locator('.cm-line.fault-line').waitFor();
    expect(await editor(person).getAttribute('aria-invalid')).toBe('true');
    expect(await putInForce(person).getAttribute('aria-disabled')).toBe('true');
    await page.getByRole('link', { name: /^Line \d+$/ }).click();
    await focused(editor(person));

    await write(person, original + rule);
    const refused = page.getByRole('list', { name: 'Would be refused' });
    await refused.getByText('Changing: accounts').first().waitFor();
    await refused.getByText('ada@example.test').first().waitFor();
    await page.getByText('4 lines added, 0 lines removed.').first().waitFor();
    await page.getByText('The same with kubectl').click();
    const commands = [await commandOf(person)];
    await putInForce(person).click();
    await page.getByText('p-2 is in force.').first().waitFor();
    await rename().fails(403, 'Forbidden');

    await page.getByRole('button', { name: 'Go back to p-1' }).click();
    const allowed = page.getByRole('list', { name: 'Would be allowed' });
    await allowed.getByText('Changing: accounts').first().waitFor();
    await page.getByText('The same with kubectl').click();
    commands.push(await commandOf(person));
    await putInForce(person).click();
    await page.getByText('p-3 is in force.').first().waitFor();
    await rename().is(200);
    const recorded = [creationOf(original + rule, ''), creationOf(original, 'Back to p-1')];
    expect(creations).toEqual(recorded);
    for (const command of commands) await runCommand(command);
    if (newest) expect(recorder.changes).toEqual(recorded);
  });

  test('a draft is tried on live requests, shows what would differ, and is put in force', async () => {
    const person = await arrive(operator);
    const { page } = person;
    await openConsole(service, person, '/policy');
    await write(person, original + rule);
    await page.getByRole('button', { name: 'Try without effect' }).click();
    await page.getByText('Policy s-1 in trial').first().waitFor();
    const trial = page.getByRole('region', { name: 'Policy s-1 in trial' });
    await rename().is(200);
    const refused = trial.getByRole('list', { name: 'Would be refused' });
    await refused.getByText('Changing: accounts').first().waitFor();
    const inForce = await page.getByText(/^p-\d+ is in force since/).textContent();
    await trial.getByRole('button', { name: 'Put in force' }).click();
    const next = `p-${Number(/\d+/.exec(inForce!)![0]) + 1}`;
    await page.getByText(`${next} is in force since`).first().waitFor();
    await rename().fails(403, 'Forbidden');
    expect(await trial.count()).toBe(0);
    await operator.post('policies', { spec: { cedar: original } }).is(201);
  });
});

describe('the parts for the policy and for decisions', () => {
  beforeAll(async () => {
    await start('embedded');
    await rename().is(200);
  });

  test('names are completed, by keyboard only, and Tab leaves the editor', async () => {
    const person = await arrive(operator);
    const { page } = person;
    await openConsole(service, person, '/policy');
    await editor(person).focus();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type('permit (principal, action, resource) when { context.signedIn');
    await page.getByRole('option', { name: 'signedInRecently' }).waitFor();
    await page.waitForTimeout(100); // CodeMirror ignores Enter just after the list opened
    await page.keyboard.press('Enter');
    await page.keyboard.type(' };');
    await editor(person).getByText('context.signedInRecently };').waitFor();
    await page.keyboard.press('Tab');
    expect(await editor(person).and(page.locator(':focus')).count()).toBe(0);
    await page
      .getByText(/recorded decisions? (was|were) tried/)
      .first()
      .waitFor();
    await reach(person, 'Discard changes');
    await page.keyboard.press('Enter');
    await putInForce(person).waitFor({ state: 'detached' });
  });

  test('without the editor a textarea does the same', async () => {
    const person = await arrive(operator);
    const { page } = person;
    await page.route('**/policy-editor-*.js', (route) => route.abort());
    await openConsole(service, person, '/policy');
    const area = page.getByRole('textbox', { name: 'Policy text' });
    await area.fill('permit (principal, action, resource)\n');
    const fault = page.getByRole('link', { name: /^Line \d+$/ });
    await fault.waitFor();
    await fault.click();
    await focused(area);
    expect(await page.locator('.cm-content').count()).toBe(0);
  });

  test('an old sign-in leads to a new one, and the draft stays', async () => {
    const { tab } = await signIn(service, 'op@example.test');
    clock.own();
    clock.advance(11 * 60_000);
    const person = await arrive(tab);
    const { page } = person;
    await openConsole(service, person, '/policy');
    await write(person, original + rule);
    await page.getByText('Operators change this only soon after a sign-in').first().waitFor();
    await page.getByRole('button', { name: 'Sign in again', exact: true }).first().click();
    await person.at('LoginRequired');
    await openConsole(service, person, '/policy');
    await page.getByText('What you typed is still here.').first().waitFor();
    const difference = page.getByRole('group', { name: 'Differences from p-1 to your draft' });
    await difference.getByText('@id("names-stay")').waitFor();
  });

  test('who may not change the policy may read it', async () => {
    const person = await arrive(ada);
    await openConsole(service, person, '/policy');
    await editor(person).and(person.page.locator('[aria-readonly=true]')).waitFor();
    expect(await putInForce(person).count()).toBe(0);
  });

  test('rules stand beside the text: found, jumped to, and marked at the cursor', async () => {
    const person = await arrive(operator);
    const { page } = person;
    await openConsole(service, person, '/policy');
    const index = page.getByRole('navigation', { name: 'Rules in words' });
    await page.getByRole('searchbox', { name: 'Find a rule' }).fill('sign up');
    await until(async () => (await index.getByRole('button').count()) < 5);
    await index.getByRole('button', { name: 'Permits Anyone may sign up' }).click();
    await focused(editor(person));
    const words = page.getByRole('region', { name: 'Anyone may sign up' });
    await words.getByText('creating an account').waitFor();
    const link = words.getByRole('link', { name: 'All by this rule' });
    expect(await link.getAttribute('href')).toMatch(
      /decisions\?rule=anyone-may-sign-up&result=any$/,
    );
    await openConsole(service, person, '/policy?rule=own-sessions');
    await index.locator('[aria-current]').getByText('Own sessions').waitFor();
    await index.getByText('Open to anyone').click();
    expect(await index.getByRole('button', { name: 'Anyone may sign in' }).count()).toBe(0);
  });

  test('a starter is inserted with real ids, by keyboard, and has no fault', async () => {
    await operator
      .post('groups', { metadata: { name: 'staff' }, spec: { displayName: 'Staff', members: [] } })
      .is(201);
    const person = await arrive(operator);
    const { page } = person;
    await openConsole(service, person, '/policy');
    await editor(person).waitFor();
    await reach(person, 'Insert a rule');
    await page.keyboard.press('Enter');
    const wish = page.getByRole('combobox', { name: 'What it should do' });
    for (const [label, fill] of [
      ['An app needs a passkey', []],
      ['An app opens in one network only', [['Network', '10.0.0.0/8']]],
      ['An app does not get something', []],
      ['Accounts by invitation only', []],
      ['Accounts for one domain only', [['Domain', 'example.test']]],
      ['A group may sign people out', []],
      ['Only a group may use an app', []],
    ] as const) {
      if (!(await wish.isVisible())) {
        await page.getByRole('button', { name: 'Insert a rule' }).press('Enter');
      }
      await wish.selectOption({ label });
      for (const [name, value] of fill) await page.getByRole('textbox', { name }).fill(value);
      await page.getByRole('button', { name: 'Insert', exact: true }).press('Enter');
      await focused(editor(person));
      await page.waitForFunction(() => !document.querySelector('main [aria-busy]'));
    }
    const difference = page.getByRole('group', { name: /^Differences from/ });
    await difference.getByText('@id("app-app-members")').waitFor();
    await difference.getByText('unless { principal in Group::"staff" };').waitFor();
    await page
      .getByText(/recorded decisions? (was|were) tried/)
      .first()
      .waitFor();
    expect(await page.locator('.notice.bad').count()).toBe(0);
    await page.getByRole('button', { name: 'Discard changes' }).click();
  });

  test('a trial is ended from here, which changes no rule', async () => {
    const person = await arrive(operator);
    const { page } = person;
    const creations = creationsOf(person);
    await openConsole(service, person, '/policy');
    await write(person, original + rule);
    await page.getByRole('button', { name: 'Try without effect' }).click();
    const trial = page.getByRole('region', { name: /^Policy s-\d+ in trial$/ });
    await trial.getByRole('button', { name: 'End the trial' }).click();
    await trial.getByText('That ends the trial').waitFor();
    await page.waitForTimeout(600); // a press at once is not meant
    await trial.getByRole('button', { name: 'End the trial' }).click();
    await trial.waitFor({ state: 'detached' });
    expect(creations.at(-1)).toMatchObject({ body: { spec: { cedar: original } } });
    await rename().is(200);
    await page.getByRole('link', { name: 'p-1', exact: true }).click();
    await page.getByText('Both texts are the same.').first().waitFor();
    await page.goBack();
    await page.getByText('Both texts are the same.').first().waitFor({ state: 'detached' });
  });

  test.each([
    ['light', { colorScheme: 'light' as const }],
    ['dark', { colorScheme: 'dark' as const }],
    ['Arabic', { locale: 'ar' }],
  ])('axe finds nothing in %s, and nothing is too wide', async (_, look) => {
    const person = await arrive(operator, look);
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
    await openConsole(service, person);
    await inspect('first page');
    await openConsole(service, person, '/policy');
    await editor(person).waitFor();
    await inspect('policy');
    await write(person, `${original}\npermit (principal, action, resource`);
    await page.locator('.cm-line.fault-line').waitFor();
    await inspect('fault');
    await write(person, original + rule);
    await page.locator('.changed-list a').first().waitFor();
    await inspect('impact');
    expect(faults).toEqual([]);
  });
});
