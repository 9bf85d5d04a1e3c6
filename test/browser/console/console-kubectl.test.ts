import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findKubectls } from '../../support/cluster/kubectl.js';
import { signIn } from '../../support/people/signin.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../../support/service.js';
import { type Change, ChangeRecorder, changesOf, openConsole } from '../support/console.js';
import { closeBrowser, type Person } from '../support/person.js';
import { asPerson } from '../support/visitor.js';

const newest = findKubectls().at(-1);
let service: TestService;
let person: Person;
let recorder: ChangeRecorder;
let server: string;

beforeAll(async () => {
  service = await startTest({
    flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
  });
  await createClient(service, 'app');
  person = await asPerson(service, (await signIn(service, 'op@example.test')).tab);
  recorder = new ChangeRecorder(service);
  server = await recorder.listen();
});
afterAll(async () => {
  recorder?.close();
  await closeBrowser();
  await stopAll();
});

const groups = '/apis/id.vestibule.org/v1beta1/groups';

/** What kubectl 1.32 sends for `create -f`, `patch --type=merge` and `delete`, by `-v=8`. */
const recorded = (version: string): Change[] => [
  {
    method: 'POST',
    path: groups,
    type: 'application/json',
    body: {
      apiVersion: 'id.vestibule.org/v1beta1',
      kind: 'Group',
      metadata: { name: 'staff', annotations: { note: "it's: 100 % #1" } },
      spec: { displayName: 'yes', members: ['ada@example.test'] },
    },
  },
  {
    method: 'PATCH',
    path: `${groups}/staff`,
    type: 'application/merge-patch+json',
    body: { metadata: { resourceVersion: version }, spec: { displayName: "It's staff" } },
  },
  {
    method: 'DELETE',
    path: `${groups}/staff`,
    type: 'application/json',
    body: { propagationPolicy: 'Background' },
  },
];

/** The command that the console shows for what it would send now. */
async function shownCommand(): Promise<string> {
  await person.page.getByText('The same with kubectl').click();
  return (await person.page.getByRole('region', { name: 'The same with kubectl' }).textContent())!;
}

test('each act is the request that kubectl sends for the command that is shown', async () => {
  const { page } = person;
  const changes = changesOf(page);
  const commands: string[] = [];
  const textbox = (name: RegExp) => page.getByRole('textbox', { name });
  await openConsole(service, person, '/groups/-/new');
  await textbox(/^name/).fill('staff');
  await textbox(/^displayName/).fill('yes');
  await textbox(/^members/).fill('ada@example.test');
  await page.getByText('Labels and annotations').click();
  await textbox(/^annotations/).fill("note=it's: 100 % #1");
  commands.push(await shownCommand());
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('link', { name: 'Rename', exact: true }).click();
  await textbox(/^displayName/).fill("It's staff");
  commands.push(await shownCommand());
  const version = /"resourceVersion":"(\d+)"/.exec(commands[1]!)![1]!;
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'Delete', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Delete staff?' }).waitFor();
  commands.push(await shownCommand());
  await page.waitForTimeout(600);
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Groups' }).waitFor();
  expect(changes).toEqual(recorded(version));
  expect(person.complaints).toEqual([]);
  if (!newest) return;
  for (const command of commands) {
    await promisify(execFile)(
      'sh',
      ['-c', command.replace(/^kubectl /, `'${newest.path}' --server=${server} `)],
      { env: { PATH: `${dirname(newest.path)}:${process.env.PATH}`, HOME: temporary() } },
    );
  }
  expect(recorder.changes).toEqual(recorded(version));
});
