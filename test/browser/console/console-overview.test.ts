import { beforeAll, expect, test } from '@jest/globals';
import { HourlyCount, type HourlyCountStatus, hourName } from '../../../kinds/hourly-count.js';
import { Replica, type ReplicaStatus } from '../../../kinds/replica.js';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import type { TestService } from '../../support/service.js';
import { changesOf, openConsole } from '../support/console.js';
import { overflows } from '../support/inspection.js';
import { startOperated, visitors } from '../support/visitors.js';

let service: TestService;
let operator: Tab;
let ada: Tab;
const arrive = visitors(() => service);
const hourMs = 3_600_000;

/** Another replica, which uses other settings. */
const status = (): ReplicaStatus => ({
  release: '0.1.0',
  startTimestamp: toTimestamp(Date.now() - 7_200_000),
  renewTimestamp: toTimestamp(Date.now()),
  ready: false,
  failedChecks: ['policy'],
  policy: 'p-1',
  store: { driver: 'Etcd', copies: [{ name: 'etcd-0', bytes: 4_200_000, quotaBytes: 2e9 }] },
  activity: {
    endTimestamp: toTimestamp(Math.floor(Date.now() / 60_000) * 60_000),
    signIns: [],
    signInsFailed: [],
    mailsSent: [],
    mailsFailed: [],
    requestsRefused: [],
  },
  settings: [],
  manifests: [
    { file: 'apps.yaml', state: 'Applied', objects: 2, timestamp: '2026-01-01T00:00:00Z' },
    {
      file: 'broken.yaml',
      state: 'Faulty',
      objects: 1,
      message: 'Group.id.vestibule.org "staff" is invalid: spec.displayName: Required value',
      timestamp: '2026-01-01T00:00:00Z',
    },
  ],
});

/** Stores what was counted in an hour, `before` hours before the present one. */
function storeHour(before: number, counts: Partial<Record<keyof HourlyCountStatus, object>>) {
  const start = (Math.floor(Date.now() / hourMs) - before) * hourMs;
  const lastTimestamp = toTimestamp(start + 60_000);
  const lists = Object.fromEntries(
    ['signIns', 'signInsFailed', 'mails', 'refusedByRule', 'refusedByLimit'].map((list) => [
      list,
      Object.entries(counts[list as keyof typeof counts] ?? {}).map(([name, count]) => ({
        name,
        count,
        lastTimestamp,
      })),
    ]),
  ) as unknown as HourlyCountStatus;
  return service.store.change(service.store.systemCall(), (tx) =>
    tx.create(HourlyCount, {
      metadata: { name: hourName(start) },
      spec: {},
      status: { ...lists, startTimestamp: toTimestamp(start) },
    }),
  );
}

beforeAll(async () => {
  ({ service, operator } = await startOperated());
  ada = (await signIn(service, 'ada@example.test')).tab;
  await service.store.change(service.store.systemCall(), (tx) =>
    tx.create(Replica, { metadata: { name: 'other' }, spec: {}, status: status() }),
  );
  await storeHour(2, {
    signIns: { Passkey: 110, EmailCode: 56 },
    signInsFailed: { Wrong: 3 },
    mails: { Sent: 60, Failed: 2 },
    refusedByRule: { default: 5 },
    refusedByLimit: { 'limits-mails-per-network': 21 },
  });
  await storeHour(30, { signIns: { Passkey: 83 } });
  await storeHour(5 * 24, { signIns: { EmailLink: 7 } });
});

test('operators see figures, charts and reasons, and the page follows replicas', async () => {
  const person = await arrive(operator);
  const { page } = person;
  const changes = changesOf(page);
  await openConsole(service, person);
  const chart = page.getByRole('region', { name: 'Sign-ins' });
  await chart.locator('canvas').waitFor();
  // The service adds the sign-ins of this test within a minute.
  expect(await chart.locator('.sum').textContent()).toMatch(
    /^16[6-8] 10[0-2]% more than the day before · 3 failed tries$/,
  );
  await chart.getByRole('row', { name: / 110 56 0$/ }).waitFor();
  const refused = page.getByRole('region', { name: 'Refused, by reason' });
  await refused.getByRole('row', { name: /^Mails for one client network .*=20 21 / }).waitFor();
  await refused.getByRole('row', { name: /^No rule permits it\. 5 / }).waitFor();
  await page.getByText('Not ready: policy').first().waitFor();
  await page.getByText('of 2 GB').first().waitFor();
  expect(await page.getByRole('link', { name: 'p-1', exact: true }).getAttribute('href')).toBe(
    '/console/policies/p-1',
  );
  await page.getByText('The same with kubectl').click();
  await page.getByText('kubectl get hourlycounts.id.vestibule.org').first().waitFor();
  await service.store.change(service.store.systemCall(), (tx) =>
    tx.update(Replica, 'other', (next) => {
      next.status.failedChecks = ['storage'];
    }),
  );
  await page.getByText('Not ready: storage').first().waitFor();
  expect(changes).toEqual([]);
});

test('the address has the span, and keys and pointer read the bars', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person, '?span=7d');
  const chart = page.getByRole('region', { name: 'Sign-ins' });
  await chart.locator('canvas').waitFor();
  expect(await chart.locator('strong').textContent()).toMatch(/^25[6-8]$/);
  await page.getByRole('button', { name: '24 h' }).click();
  await page.waitForURL(/\/console$/);
  await chart.getByText(/^16[6-8]$/).waitFor();
  await page.getByRole('button', { name: '30 d' }).focus();
  await page.keyboard.press('Shift+Tab');
  const plot = chart.locator('[tabindex="0"]');
  await plot.focus();
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  expect(await plot.locator('.tip dd').allTextContents()).toEqual(['110', '56', '0']);
  await page.keyboard.press('Escape');
  expect(await plot.locator('.tip').count()).toBe(0);
  const box = (await plot.boundingBox())!;
  await page.mouse.move(box.x + box.width - 20, box.y + 20);
  await plot.locator('.tip').waitFor();
  expect(await person.faults()).toEqual([]);
});

test('what waits has its way to be done, and a reason leads to who was refused', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person);
  const waiting = page.getByRole('region', { name: 'Waits for you' });
  await waiting.getByText('2 mails not sent').waitFor();
  await page.getByRole('link', { name: 'See who' }).click();
  await page.waitForURL(/decisions\?rule=default&result=refused&days=1$/);
  await page.goBack();
  const refused = page.getByRole('region', { name: 'Refused, by reason' });
  await refused.getByRole('link', { name: 'Show setting', exact: true }).click();
  await page.getByRole('row', { name: /^Mails per network / }).waitFor();
});

test('settings are found by any word, with their source', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person, '/settings');
  await page.getByRole('row', { name: /^Limit factor / }).waitFor();
  await page.getByRole('searchbox').fill('limit-factor');
  await page.getByRole('row', { name: /^Limit factor .* 1000\b.* Flag --limit-factor$/ }).waitFor();
  await page.getByRole('searchbox').fill('no such setting');
  await page.getByText('Nothing found.').first().waitFor();
  const manifests = page.getByRole('region', { name: 'Manifests' });
  await manifests.getByRole('row', { name: /^apps.yaml Applied 2 .* None$/ }).waitFor();
  await manifests.getByRole('row', { name: /^broken.yaml Not applied 1 .*displayName/ }).waitFor();
});

test('other people see neither', async () => {
  const person = await arrive(ada);
  const { page } = person;
  await openConsole(service, person);
  await page.getByRole('main').getByRole('link', { name: 'All kinds' }).waitFor();
  expect(await page.getByRole('heading', { name: 'Waits for you' }).count()).toBe(0);
  await openConsole(service, person, '/settings');
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
});

test.each([
  ['light', {}],
  ['dark', { colorScheme: 'dark' as const }],
  ['Arabic', { locale: 'ar' }],
])(
  'axe finds nothing in %s, and nothing is too wide at 320 px or 200 %%',
  async (_name, options) => {
    const person = await arrive(operator, options);
    const { page } = person;
    const faults: string[] = [];
    for (const path of ['', '?span=30d', '/settings']) {
      await openConsole(service, person, path);
      await page.locator('canvas, tbody').first().waitFor();
      for (const one of [
        ...(await person.faults()),
        ...(await overflows(page, 320)),
        ...(await overflows(page, 640, 'html { font-size: 200% !important }')),
      ]) {
        faults.push(`${path}: ${one}`);
      }
    }
    expect(faults).toEqual([]);
  },
);
