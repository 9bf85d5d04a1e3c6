import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Group } from '../../../kinds/people/group/group.js';
import { Inbox } from '../../support/people/inbox.js';
import { signedInByPasskey } from '../../support/people/passkeys.js';
import type { Tab } from '../../support/people/tab.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../../support/service.js';
import { openConsole } from '../support/console.js';
import { overflows } from '../support/inspection.js';
import { closeBrowser, leaveAfterEach, type Person } from '../support/person.js';
import { asPerson } from '../support/visitor.js';

const operatorAddress = 'op@example.test';
const flags = ['--operators', operatorAddress, '--limit-factor', '1000'];
const inbox = new Inbox();
let service: TestService;
let operator: Tab;
const people: Person[] = [];

async function arrive(options: Parameters<typeof asPerson>[2] = {}): Promise<Person> {
  const person = await asPerson(service, operator, { locale: 'en-GB', ...options });
  people.push(person);
  return person;
}

/** Signs in while mail is mocked, and serves the same store with a mail server. */
beforeAll(async () => {
  const directory = temporary();
  const mocked = await startTest({ directory, flags });
  await createClient(mocked, 'app');
  const { cookies } = (await signedInByPasskey(mocked, operatorAddress)).tab;
  await mocked.stop();
  const url = await inbox.listen();
  service = await startTest({ directory, flags, mail: url });
  operator = service.tab();
  operator.cookies = cookies;
});
leaveAfterEach(people);
afterAll(async () => {
  await closeBrowser();
  await stopAll();
  await inbox.close();
});

/** What a list of Replicas says instead; the page gets no changes of them. */
interface Report {
  readonly settings?: Readonly<Record<string, string>>;
  readonly lastMailTimestamp?: string;
  readonly lastSnapshotTimestamp?: string;
  readonly driver?: string;
}

async function report(
  page: Page,
  { settings = {}, lastMailTimestamp, ...store }: Report,
): Promise<void> {
  await page.unroute(/\/replicas\?/);
  await page.route(/\/replicas\?/, async (route) => {
    if (route.request().url().includes('watch=true')) return route.abort();
    const response = await route.fetch();
    const list = await response.json();
    for (const { status } of list.items) {
      Object.assign(status, { lastMailTimestamp });
      Object.assign(status.store, store);
      for (const [name, value] of Object.entries(settings)) {
        status.settings = [
          ...status.settings.filter((setting: any) => setting.name !== name),
          { name, value, source: 'Flag' },
        ];
      }
    }
    return route.fulfill({ response, json: list });
  });
}

/** Opens the first page, and the list in it. */
async function openChecklist(person: Person): Promise<void> {
  await openConsole(service, person);
  await person.page.locator('.checks-note > summary').click();
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true });

/** Makes these the operators: from then on the setting `operators` does not count. */
const setMembers = (members: string[]): Promise<unknown> =>
  service.store.change(service.store.systemCall(), async (tx) =>
    (await tx.get(Group, 'operators'))
      ? tx.update(Group, 'operators', ({ spec }) => {
          spec.members = members;
        })
      : tx.create(Group, {
          metadata: { name: 'operators' },
          spec: { displayName: 'Operators', members },
          status: {},
        }),
  );

test('a test mail is sent by a button, and the item is done when it was accepted', async () => {
  const person = await arrive();
  const { page } = person;
  await openChecklist(person);
  await heading(page, 'Mail Missing').waitFor();
  await page.getByText('has not accepted a mail yet').first().waitFor();
  await page.getByRole('button', { name: 'Send a test mail to me' }).click();
  await heading(page, 'Mail Done').waitFor();
  await page.getByText('Last mail accepted by the mail server:').first().waitFor();
  expect(inbox.received.map(({ to }) => to)).toEqual([[operatorAddress]]);
});

test('mocked mail is missing, also if mail was accepted before', async () => {
  const person = await arrive();
  const { page } = person;
  await report(page, {
    settings: { 'mock-mail': 'true' },
    lastMailTimestamp: new Date().toISOString(),
  });
  await openChecklist(person);
  await heading(page, 'Mail Missing').waitFor();
  await page.getByText('--smtp-url smtps://USER:PASSWORD@mail.example.org').first().waitFor();
});

test('a base URL on localhost is missing, and one at https is done', async () => {
  const person = await arrive();
  const { page } = person;
  await report(page, { settings: { 'base-url': 'https://localhost:8443' } });
  await openChecklist(person);
  await heading(page, 'Base URL Missing').waitFor();
  await page.getByText('In force: https://localhost:8443.').first().waitFor();
  await page.getByText('--base-url https://id.example.org').first().waitFor();
  await report(page, { settings: { 'base-url': 'https://id.example.org' } });
  await openChecklist(person);
  await heading(page, 'Base URL Done').waitFor();
});

test('operators need a member in the Group, and a passkey of a member', async () => {
  const person = await arrive();
  const { page } = person;
  await openChecklist(person);
  await heading(page, 'Operators Missing').waitFor();
  await page.getByText('The group operators has no members.').first().waitFor();
  await setMembers([operatorAddress]);
  const accounts = /\/accounts\?fieldSelector/;
  await page.route(accounts, (route) => route.fulfill({ json: { items: [] } }));
  await openChecklist(person);
  await page.getByText('No member of the group operators has a passkey.').first().waitFor();
  await heading(page, 'Operators Missing').waitFor();
  await page.unroute(accounts);
  await openChecklist(person);
  await heading(page, 'Operators Done').waitFor();
});

test('a snapshot is missing until one was saved, and after seven days', async () => {
  const person = await arrive();
  const { page } = person;
  await openChecklist(person);
  await heading(page, 'Backup Missing').waitFor();
  await page
    .getByText(/vestibule snapshot save .* --data-dir/)
    .first()
    .waitFor();
  expect(await page.getByText('If you back up etcd itself').count()).toBe(0);
  const old = new Date(Date.now() - 8 * 86_400_000).toISOString();
  await report(page, { lastSnapshotTimestamp: old, driver: 'Etcd' });
  await openChecklist(person);
  await heading(page, 'Backup Missing').waitFor();
  await page.getByText('If you back up etcd itself').first().waitFor();
  await report(page, { lastSnapshotTimestamp: new Date().toISOString() });
  await openChecklist(person);
  await heading(page, 'Backup Done').waitFor();
});

test('what the caller may not read is not known, and not ready', async () => {
  await setMembers([operatorAddress]);
  const person = await arrive();
  const { page } = person;
  await report(page, ready());
  await page.route(/\/groups\/operators/, (route) =>
    route.fulfill({ status: 403, json: { kind: 'Status', code: 403, reason: 'Forbidden' } }),
  );
  await openChecklist(person);
  await heading(page, 'Operators Not known').waitFor();
  expect(await page.getByText('Ready for production').count()).toBe(0);
});

const ready = (): Report => ({
  settings: { 'base-url': 'https://id.example.org' },
  lastMailTimestamp: new Date().toISOString(),
  lastSnapshotTimestamp: new Date().toISOString(),
});

test('the list is one line when nothing is missing, and opens by the keyboard', async () => {
  await setMembers([operatorAddress]);
  const person = await arrive();
  const { page } = person;
  await report(page, ready());
  await openConsole(service, person);
  const line = page.getByText('Ready for production');
  await line.waitFor();
  expect(await heading(page, 'Mail Done').isVisible()).toBe(false);
  await line.focus();
  await page.keyboard.press('Enter');
  await heading(page, 'Mail Done').waitFor();
  expect(await person.faults()).toEqual([]);
});

test.each([
  ['light', {}],
  ['dark', { colorScheme: 'dark' as const }],
  ['Arabic', { locale: 'ar' }],
])(
  'axe finds nothing in %s, and nothing is too wide at 320 px or 200 %%',
  async (_name, options) => {
    const person = await arrive(options);
    const { page } = person;
    await report(page, { driver: 'Etcd' });
    await openChecklist(person);
    await page.locator('.checklist .code-block').first().waitFor();
    expect([
      ...(await person.faults()),
      ...(await overflows(page, 320)),
      ...(await overflows(page, 640, 'html { font-size: 200% !important }')),
    ]).toEqual([]);
  },
);
