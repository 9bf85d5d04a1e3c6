import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findKubectls } from '../../support/cluster/kubectl.js';
import { until } from '../../support/patience.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, type TestService, temporary } from '../../support/service.js';
import { ChangeRecorder, changesOf, openConsole } from '../support/console.js';
import { overflows } from '../support/inspection.js';
import type { Person } from '../support/person.js';
import { reach } from '../support/visitor.js';
import { startOperated, visitors } from '../support/visitors.js';

const newest = findKubectls().at(-1);
let service: TestService;
let operator: Tab;
let ada: Tab;
let reference: string;
let recorder: ChangeRecorder;
let server: string;
const arrive = visitors(() => service);

/** Ada may not read groups unless she is in Group staff, and not change her name. */
const rules = `
@id("staff-read-groups") @message("Groups are for staff.")
permit (principal in Group::"staff", action in Action::"read", resource is Group);
@id("names-stay") @message("Names are not changed here.")
forbid (principal is Account, action == Action::"patch", resource is Account)
unless { principal in Group::"staff" };
`;

const refusedOf = async (tab: Tab): Promise<string> => {
  const { headers } = await tab.patch('accounts/~', { spec: { displayName: 'Eve' } }).is(403);
  return String(headers['audit-id']);
};

beforeAll(async () => {
  ({ service, operator } = await startOperated({ quickDecisions: true }));
  await createClient(service, 'wiki');
  const staff = { metadata: { name: 'staff' }, spec: { displayName: 'Staff', members: [] } };
  await operator.post('groups', staff).is(201);
  ada = (await signIn(service, 'ada@example.test')).tab;
  const { body } = await operator.get('policies/p-1').is(200);
  await operator.post('policies', { spec: { cedar: body.spec.cedar + rules } }).is(201);
  await ada.get('sessions').is(200);
  reference = await refusedOf(ada);
  await until(async () => {
    const found = await operator.get(
      `policydecisions?fieldSelector=status.request.auditID%3D${reference}`,
    );
    return found.body.items.length > 0;
  });
  recorder = new ChangeRecorder(service);
  server = await recorder.listen();
});
afterAll(() => recorder?.close());

const table = ({ page }: Person) => page.getByRole('region', { name: 'Decisions' });
const rowsOf = (person: Person, name: RegExp) => table(person).getByRole('row', { name });
const adasRow = (person: Person) => rowsOf(person, /^Refused .*ada@example\.test.*Names stay/);
const pane = ({ page }: Person) => page.getByRole('complementary');

test('refusals are listed first, one line each, and open beside the table', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person);
  await page.getByRole('link', { name: 'Decisions', exact: true }).first().click();
  await adasRow(person).first().waitFor();
  expect(await rowsOf(person, /^Done/).count()).toBe(0);
  const { height } = (await adasRow(person).first().boundingBox())!;
  expect(height).toBeLessThanOrEqual(48);
  await adasRow(person).first().click();
  await pane(person).getByText('Names are not changed here.').waitFor();
  await pane(person).getByText('membership in the group staff').waitFor();
  const link = pane(person).getByRole('link', { name: 'Names stay' });
  expect(await link.getAttribute('href')).toMatch(/^\/policy#p-2=&rule=names-stay$/);
  const address = page.url();
  await page.goBack();
  await pane(person).waitFor({ state: 'detached' });
  await page.goto(address);
  await pane(person).getByText('Names are not changed here.').waitFor();
});

test('chips in the address choose person, app, rule, result and time', async () => {
  const person = await arrive(operator);
  const { page } = person;
  const shown = '/decisions?person=ada@example.test&rule=names+stay&days=1';
  await openConsole(service, person, shown);
  await adasRow(person).first().waitFor();
  await page.getByText('Time Last 24 hours').waitFor();
  await openConsole(service, person, '/decisions?rule=none');
  await page.getByText('Nothing matches.').first().waitFor();
  await openConsole(service, person, '/decisions?person=eve@example.test');
  await page.getByText('Nothing matches.').first().waitFor();
  await openConsole(service, person, '/decisions?person=ada@example.test');
  await page.getByRole('button', { name: 'Remove the filter Result Refused' }).click();
  await page.waitForURL(/result=any/);
  await rowsOf(person, /^Signed in/)
    .first()
    .waitFor();
  expect(await rowsOf(person, /(reading|listing):/).count()).toBe(0);
  await page.getByRole('button', { name: 'Remove the filter Reads left out' }).click();
  await rowsOf(person, /(reading|listing|watching):/)
    .first()
    .waitFor();
  await page.goto(`${service.baseURL}/console/decisions?app=wiki&result=any`);
  await page.getByText('Nothing matches.').first().waitFor();
});

test('a Reference finds its decision from the command bar, by keyboard alone', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person);
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('combobox').fill(reference);
  await page.getByRole('option', { name: `Find Reference ${reference}` }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/console/decisions?find=${reference}`);
  await adasRow(person).waitFor();
  await reach(person, 'Refused');
  await page.keyboard.press('Enter');
  await pane(person).getByText(reference).waitFor();
});

test('a draft is tried on the decision that is open', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person, '/policy');
  const { body } = await operator.get('policies/p-1').is(200);
  await page.locator('.cm-content').click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(body.spec.cedar);
  await page.getByRole('button', { name: 'Put in force' }).waitFor();
  await page.getByRole('link', { name: 'Decisions', exact: true }).first().click();
  await adasRow(person).first().click();
  await page.getByRole('button', { name: 'Would my draft decide otherwise?' }).click();
  await page.getByText('Your draft would allow this').waitFor();
});

test.each([
  ['light', { colorScheme: 'light' as const }],
  ['dark', { colorScheme: 'dark' as const }],
  ['Arabic', { locale: 'ar' }],
])('axe finds nothing in %s, and nothing is too wide', async (_, look) => {
  const person = await arrive(operator, look);
  const { page } = person;
  await openConsole(service, person, `/decisions?find=${reference}`);
  await page.locator('tbody tr').first().click();
  await pane(person).locator('.act').waitFor();
  const faults = [
    ...(await person.faults()),
    ...(await overflows(page, 320)),
    ...(await overflows(page, 640, 'html { font-size: 200% !important }')),
  ];
  expect(faults).toEqual([]);
});

test('the group that an alternative names is joined by the request that kubectl sends', async () => {
  const person = await arrive(operator);
  const { page } = person;
  const changes = changesOf(page);
  await openConsole(service, person, `/decisions?find=${reference}`);
  await adasRow(person).click();
  await page.getByRole('button', { name: 'Add to Staff' }).click();
  const question = page.getByRole('group', { name: 'Add to Staff' });
  await question.getByText('ada@example.test becomes a member of Staff.').waitFor();
  await question.getByText('The same with kubectl').click();
  const command = (await question.getByRole('region').textContent())!;
  await page.waitForTimeout(600); // a press at once is not meant
  await question.getByRole('button', { name: 'Add to Staff' }).click();
  await pane(person).getByText('ada@example.test is a member of Staff.').waitFor();
  await ada.patch('accounts/~', { spec: { displayName: 'Ada' } }).is(200);
  expect(changes).toEqual([
    {
      method: 'PATCH',
      path: '/apis/id.vestibule.org/v1beta1/groups/staff',
      type: 'application/merge-patch+json',
      body: {
        metadata: { resourceVersion: expect.any(String) },
        spec: { members: ['ada@example.test'] },
      },
    },
  ]);
  await page.reload();
  await pane(person).getByText('ada@example.test is a member of Staff.').waitFor();
  if (!newest) return;
  await promisify(execFile)(
    'sh',
    ['-c', command.replace(/^kubectl /, `'${newest.path}' --server=${server} `)],
    { env: { PATH: `${dirname(newest.path)}:${process.env.PATH}`, HOME: temporary() } },
  );
  expect(recorder.changes).toEqual(changes);
});
