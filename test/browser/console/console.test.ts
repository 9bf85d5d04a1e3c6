import { afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Request } from 'playwright-core';
import { clock } from '../../support/clock.js';
import { register } from '../../support/people/passkeys.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import type { TestService } from '../../support/service.js';
import { changesOf, openConsole } from '../support/console.js';
import { overflows } from '../support/inspection.js';
import { typeCode } from '../support/own-page.js';
import type { Person } from '../support/person.js';
import { focused, reach } from '../support/visitor.js';
import { startOperated, visitors } from '../support/visitors.js';

let service: TestService;
let operator: Tab;
let ada: Tab;
const arrive = visitors(() => service);
const createGroup = (name: string, displayName = name) =>
  operator.post('groups', { metadata: { name }, spec: { displayName } }).is(201);
const field = ({ page }: Person, name: string) =>
  page.getByRole('textbox', { name: new RegExp(`^${name}\\b`) });
const press = ({ page }: Person, name: string) =>
  page.getByRole('button', { name, exact: true }).click();
const heading = ({ page }: Person, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

beforeAll(async () => {
  ({ service, operator } = await startOperated({ quickDecisions: true }));
  ada = (await signIn(service, 'ada@example.test')).tab;
});
afterEach(() => clock.release());

test('every kind has the columns and rows of the server, and follows changes', async () => {
  await createGroup('early', 'Early birds');
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person, '/kinds');
  const { body } = await operator.get('').is(200);
  const kinds = body.resources.filter(({ name }: { name: string }) => !name.includes('/'));
  const main = page.getByRole('main');
  expect(await main.getByRole('rowheader').count()).toBe(kinds.length);
  await main.getByRole('link', { name: 'Groups' }).click();
  await heading(person, 'Groups');
  await page.getByRole('row', { name: /Select early early Early birds 0 / }).waitFor();
  expect(await page.getByRole('columnheader').allTextContents()).toEqual([
    '', // selects all
    'Name',
    'Display Name',
    'Members',
    'Age',
  ]);
  await createGroup('later', 'Late risers');
  await page.getByRole('row', { name: /Select later later Late risers/ }).waitFor();
  await operator.patch('groups/later', { spec: { displayName: 'Night owls' } }).is(200);
  await page.getByRole('row', { name: /Select later later Night owls/ }).waitFor();
  await operator.delete('groups/later').is(200);
  await page.getByRole('row', { name: /Select later later/ }).waitFor({ state: 'detached' });
});

test('pages are loaded by their token, and a row changes on any page', async () => {
  for (let i = 0; i < 55; i += 1) await createGroup(`page-${String(i).padStart(2, '0')}`, 'before');
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person, '/groups');
  await page
    .getByText(/^50 of 5\d$/)
    .first()
    .waitFor();
  expect(await page.getByRole('row').count()).toBe(51);
  await operator.patch('groups/page-54', { spec: { displayName: 'after' } }).is(200);
  await operator.patch('groups/page-00', { spec: { displayName: 'after' } }).is(200);
  await page.getByRole('row', { name: /Select page-00 page-00 after/ }).waitFor();
  expect(await page.getByRole('row', { name: /Select page-54 page-54/ }).count()).toBe(0);
  await press(person, 'Load more');
  await page.getByRole('row', { name: /Select page-54 page-54 after/ }).waitFor();
  expect(await page.getByRole('button', { name: 'Load more' }).count()).toBe(0);
});

test('rows are found by text, by name and by the field that the API can select', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person, '/accounts');
  await page.getByRole('searchbox').fill('ada@');
  await page
    .getByText(/^1 of \d+$/)
    .first()
    .waitFor();
  const name = await page.getByRole('rowheader').innerText();
  await openConsole(service, person, '/sessions');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByRole('combobox', { name: 'Field' }).selectOption('status.account');
  await page.getByRole('textbox', { name: 'Value' }).fill(name);
  await page.keyboard.press('Enter');
  await page.getByText('1 row.').first().waitFor();
  expect(new URL(page.url()).search).toBe(`?status.account=${name}`);
  await page.getByText('The same with kubectl').click();
  await page
    .getByText(`kubectl get sessions.id.vestibule.org --field-selector=status.account=${name}`)
    .waitFor();
  await page.reload();
  await page.getByText('1 row.').first().waitFor();
  await openConsole(service, person, '/groups?metadata.name=none');
  await page.getByText('Nothing found.').first().waitFor();
});

test('an object is shown with its owner, its YAML and the decisions about it', async () => {
  await operator
    .post('audiences', {
      metadata: { name: 'early', labels: { team: 'core' } },
      spec: {
        identifier: 'https://early.example.test',
        displayName: 'Early birds',
        scopes: [{ name: 'read', title: 'Read', description: 'Read birds.' }],
      },
    })
    .is(201);
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person, '/audiences/early');
  await page.getByText('team=core').first().waitFor();
  await page.getByText('Early birds').first().waitFor();
  expect(await page.title()).toBe('early (Audience)');
  await operator.patch('audiences/early', { spec: { displayName: 'Larks' } }).is(200);
  await page.getByText('Larks').first().waitFor();
  await page.getByRole('link', { name: 'YAML' }).click();
  await page.getByText('displayName: Larks', { exact: false }).first().waitFor();
  await page.getByRole('main').getByRole('link', { name: 'Decisions' }).click();
  await page
    .getByRole('row', { name: /^Done .*changing: services that accept/ })
    .first()
    .waitFor();
  const { body } = await operator.get('sessions').is(200);
  await openConsole(service, person, `/sessions/${body.items[0].metadata.name}`);
  const owner = body.items[0].metadata.ownerReferences[0].name;
  await page.getByRole('link', { name: `Account ${owner}` }).click();
  await heading(person, owner);
});

test('an object is created by the form, after the server named the wrong fields', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person, '/groups');
  await page.getByRole('link', { name: 'New: Group' }).click();
  await heading(person, 'New: Group');
  await field(person, 'name').fill('staff');
  await field(person, 'members').fill('ada@example.test\nno address');
  await press(person, 'Create');
  await page
    .getByText(/fields need a change/)
    .first()
    .waitFor();
  expect(await field(person, 'members').getAttribute('aria-invalid')).toBe('true');
  await page.getByRole('link', { name: 'spec.displayName' }).click();
  await focused(field(person, 'displayName'));
  expect(await person.faults()).toEqual([]);
  await page.keyboard.type('Staff');
  await field(person, 'members').fill('ada@example.test\n\nbob@example.test');
  await press(person, 'Create');
  await heading(person, 'Staff');
  const { spec } = (await operator.get('groups/staff').is(200)).body;
  expect(spec).toEqual({ displayName: 'Staff', members: ['ada@example.test', 'bob@example.test'] });
});

test('every kind of field is read back as it was sent', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person, '/clients/-/new');
  await field(person, 'name').first().fill('site');
  await field(person, 'displayName').fill('Site');
  await field(person, 'redirectURIs').fill('https://site.example.test/back');
  await page.getByRole('combobox', { name: 'type', exact: true }).selectOption('Public');
  await page.getByRole('combobox', { name: 'firstParty' }).selectOption('true');
  await page.getByRole('checkbox', { name: 'authorization_code' }).check();
  await press(person, 'Add: scopes');
  const scope = page.getByRole('group', { name: 'scopes 1' });
  await scope.getByRole('textbox', { name: /^name/ }).fill('openid');
  await scope.getByRole('combobox', { name: 'required' }).selectOption('true');
  await page.getByText('lifetimes', { exact: true }).click();
  await field(person, 'accessToken').fill('5m');
  expect(await person.faults()).toEqual([]);
  await press(person, 'Create');
  await heading(person, 'site');
  expect((await operator.get('clients/site').is(200)).body.spec).toMatchObject({
    displayName: 'Site',
    redirectURIs: ['https://site.example.test/back'],
    type: 'Public',
    firstParty: true,
    grantTypes: ['authorization_code'],
    scopes: [{ name: 'openid', required: true }],
    lifetimes: { accessToken: '5m' },
  });
  const changes = changesOf(page);
  await page.getByRole('link', { name: 'Edit' }).click();
  await heading(person, 'Edit site');
  await press(person, 'Save');
  await page.getByRole('status').getByText('Nothing has changed.').waitFor({ state: 'attached' });
  expect(changes).toEqual([]);
});

test('an Audience is declared with its scopes', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person, '/audiences/-/new');
  await field(person, 'name').first().fill('notes');
  await field(person, 'identifier').fill('https://notes.example.test');
  await field(person, 'displayName').first().fill('Notes');
  await press(person, 'Add: scopes');
  const scope = page.getByRole('group', { name: 'scopes 1' });
  for (const [name, value] of Object.entries({
    name: 'read',
    title: 'Read',
    description: 'Read your notes.',
  })) {
    await scope.getByRole('textbox', { name: new RegExp(`^${name}\\b`) }).fill(value);
  }
  await page.getByRole('combobox', { name: 'clientsByDocument' }).selectOption('true');
  expect(await person.faults()).toEqual([]);
  await press(person, 'Create');
  await heading(person, 'notes');
  expect((await operator.get('audiences/notes').is(200)).body.spec).toMatchObject({
    identifier: 'https://notes.example.test',
    scopes: [{ name: 'read', title: 'Read', description: 'Read your notes.', sensitive: false }],
    clientsByDocument: true,
  });
});

test('two people change one object: the rest is chosen after a merge', async () => {
  await createGroup('shared', 'Old');
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person, '/groups/shared/edit');
  await field(person, 'displayName').fill('Mine');
  await page.getByText('Labels and annotations').click();
  await field(person, 'labels').fill('mine=yes');
  await operator
    .patch('groups/shared', { spec: { displayName: 'Theirs', members: ['x@example.test'] } })
    .is(200);
  await press(person, 'Save');
  await page.getByRole('heading', { name: 'Someone else changed this too' }).waitFor();
  const choice = (name: string) => page.getByRole('group', { name });
  await choice('spec.members Changed there').waitFor();
  await choice('metadata.labels.mine Changed here').waitFor();
  expect(await person.faults()).toEqual([]);
  await page.getByText('1 field is left to choose.').first().waitFor();
  await choice('spec.displayName Changed by both').getByLabel('Your value').check();
  await press(person, 'Save these values');
  await heading(person, 'Mine');
  const { metadata, spec } = (await operator.get('groups/shared').is(200)).body;
  expect([metadata.labels, spec]).toEqual([
    { mine: 'yes' },
    { displayName: 'Mine', members: ['x@example.test'] },
  ]);
});

test('a deletion says what it takes along, and asks first', async () => {
  const { tab } = await signIn(service, 'gone@example.test');
  const name = (await tab.get('accounts/~').is(200)).body.metadata.name as string;
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person, `/accounts/${name}`);
  await page.getByRole('link', { name: 'Delete' }).click();
  await heading(person, `Delete ${name}?`);
  await page.getByRole('listitem').filter({ hasText: 'Sessions: 1' }).waitFor();
  await page.getByRole('listitem').filter({ hasText: 'Grants: 1' }).waitFor();
  expect(await person.faults()).toEqual([]);
  await page.waitForTimeout(600);
  await press(person, 'Delete');
  await heading(person, 'Accounts');
  await page.getByRole('row', { name: /gone@example/ }).waitFor({ state: 'detached' });
});

test('others than operators see what policy lets them, and the rule', async () => {
  const person = await arrive(ada);
  const { page } = person;
  await openConsole(service, person, '/kinds');
  const main = page.getByRole('main');
  await main.getByRole('link', { name: 'Sessions' }).waitFor();
  expect(await main.getByRole('link', { name: 'Clients' }).count()).toBe(0);
  const rail = page.getByRole('navigation', { name: 'Console' });
  expect(await rail.getByRole('link').allTextContents()).toEqual([
    'Overview',
    'People',
    'Access requests',
    'Policy',
    'Decisions',
    'Activity',
    'All kinds',
  ]);
  await openConsole(service, person, '/accounts');
  await page.getByText('1 row.').first().waitFor();
  await page.getByRole('row', { name: /ada@example.test/ }).waitFor();
  expect(await page.getByText('op@example.test').count()).toBe(0);
  await openConsole(service, person, '/clients');
  await page.getByText('No rule permits it.').first().waitFor();
  expect(await page.getByRole('link', { name: /^New/ }).count()).toBe(0);
  expect(await person.faults()).toEqual([]);
});

/** Signs in again where the page led to, and comes back. */
async function signInAgain(person: Person, address: string): Promise<void> {
  const { page } = person;
  await person.at('LoginRequired');
  await page.getByRole('textbox', { name: 'Email' }).fill(address);
  await press(person, 'Continue with email');
  await typeCode(service, person, address);
  await person.at('Authenticated');
  await press(person, 'Not now');
  await person.at('console');
}

const access = (tab: Tab, resource: string) =>
  tab
    .post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      spec: { resourceAttributes: { group: 'id.vestibule.org', resource, verb: 'create' } },
    })
    .is(201)
    .then(({ body }) => body.status);

test('a rule that forbids a change is shown; a sign-in loses nothing', async () => {
  const { tab } = await signIn(service, 'op@example.test');
  clock.own();
  clock.advance(11 * 60_000);
  expect(await access(tab, 'groups')).toMatchObject({ allowed: false, denied: true });
  expect(await access(ada, 'groups')).not.toHaveProperty('denied');
  const person = await arrive(tab);
  const { page } = person;
  await openConsole(service, person, '/groups');
  await page.getByRole('link', { name: 'New: Group' }).click();
  await field(person, 'name').fill('returned');
  await field(person, 'displayName').fill('Returned');
  await press(person, 'Create');
  await page.getByText('Operators change this only soon after a sign-in').first().waitFor();
  await press(person, 'Sign in again');
  await signInAgain(person, 'op@example.test');
  expect(new URL(page.url()).pathname).toBe('/console/groups/-/new');
  await page.getByText('What you typed is still here.').first().waitFor();
  expect(await field(person, 'displayName').inputValue()).toBe('Returned');
  await press(person, 'Create');
  await heading(person, 'Returned');
});

test('what wants a newer sign-in leads through one and back to the same step', async () => {
  const { tab } = await signIn(service, 'stale@example.test');
  const name = (await tab.get('accounts/~').is(200)).body.metadata.name as string;
  clock.own();
  clock.advance(11 * 60_000);
  const person = await arrive(tab);
  await openConsole(service, person, `/accounts/${name}/delete`);
  await person.page.waitForTimeout(600);
  await press(person, 'Delete');
  await signInAgain(person, 'stale@example.test');
  expect(new URL(person.page.url()).pathname).toBe(`/console/accounts/${name}/delete`);
  await heading(person, `Delete ${name}?`);
});

test('who is not signed in goes to a sign-in', async () => {
  const person = await arrive(service.tab());
  await person.page.goto(`${service.baseURL}/console/groups/early`);
  await person.at('LoginRequired');
});

test('keyboard only: from the kinds to a new object', async () => {
  const person = await arrive((await signIn(service, 'op@example.test')).tab);
  const { page } = person;
  await openConsole(service, person);
  await reach(person, 'Groups');
  await page.keyboard.press('Enter');
  await heading(person, 'Groups');
  await page.getByRole('link', { name: 'New: Group' }).waitFor();
  await reach(person, 'New: Group');
  await page.keyboard.press('Enter');
  await reach(person, 'name');
  await page.keyboard.type('typed');
  await reach(person, 'displayName');
  await page.keyboard.type('Typed');
  await page.keyboard.press('Enter');
  await heading(person, 'typed');
});

test('an address that names nothing says so', async () => {
  const person = await arrive(operator);
  await openConsole(service, person, '/things').catch(() => {});
  await heading(person, 'There is no such page');
  await openConsole(service, person, '/groups/none');
  await person.page.getByText('It does not exist, or it was deleted.').first().waitFor();
});

test.each([
  ['light', { colorScheme: 'light' as const }],
  ['dark', { colorScheme: 'dark' as const }],
  ['Arabic', { locale: 'ar' }],
])('axe finds nothing in %s, and nothing is too wide at 320 px or 200 %%', async (_, look) => {
  const person = await arrive(operator, look);
  const { page } = person;
  const faults: string[] = [];
  for (const path of [
    '',
    '/accounts',
    '/groups/early',
    '/groups/early/edit',
    '/clients/-/new',
    '/groups/early/delete',
    '/groups/early?view=yaml',
  ]) {
    await openConsole(service, person, path);
    await page.waitForFunction(() => !document.querySelector('main [aria-busy]'));
    for (const one of [
      ...(await person.faults()),
      ...(await overflows(page, 320)),
      ...(await overflows(page, 640, 'html { font-size: 200% !important }')),
    ]) {
      faults.push(`${path}: ${one}`);
    }
  }
  expect(faults).toEqual([]);
});

test('the first view takes at most 80 kB in 12 requests, with the documents', async () => {
  const person = await arrive(operator);
  const sizes: Promise<number>[] = [];
  const paths: string[] = [];
  const note = (request: Request): void => {
    paths.push(new URL(request.url()).pathname);
    sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  };
  person.page.on('requestfinished', note);
  await openConsole(service, person);
  person.page.off('requestfinished', note); // of later ones no size is known when the page closes
  const bytes = (await Promise.all(sizes)).reduce((all, one) => all + one, 0);
  expect(bytes).toBeGreaterThan(20_000);
  expect(bytes).toBeLessThan(80_000);
  expect(paths.length).toBeLessThanOrEqual(12);
});

test('where only a passkey helps, Sign in again asks for nothing else', async () => {
  const { tab } = await signIn(service, 'op@example.test');
  await (await register(service, tab)).answer.is(201);
  clock.own();
  clock.advance(11 * 60_000);
  const mailed = (await signIn(service, 'op@example.test')).tab;
  for (const one of [tab, mailed]) {
    const person = await arrive(one);
    const { page } = person;
    await openConsole(service, person, '/groups');
    await page.getByRole('link', { name: 'New: Group' }).click();
    await field(person, 'name').fill('kept');
    await field(person, 'displayName').fill('Kept');
    await press(person, 'Create');
    await page.getByText('by passkey once an operator has one').first().waitFor();
    await press(person, 'Sign in again');
    await page.getByText('For this change, sign in with a passkey.').first().waitFor();
    expect(await page.getByRole('textbox', { name: 'Email' }).count()).toBe(0);
  }
});
