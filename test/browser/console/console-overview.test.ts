import { beforeAll, expect, test } from '@jest/globals';
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
const hour = (count: (minute: number) => number): number[] =>
  Array.from({ length: 60 }, (_, minute) => count(minute));

/** Another replica, which counted something and uses other settings. */
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
    signIns: hour((minute) => minute % 7),
    signInsFailed: hour((minute) => Number(minute === 45) * 12),
    mailsSent: hour((minute) => (minute * 5) % 9),
    mailsFailed: hour(() => 0),
    requestsRefused: hour((minute) => Number(minute > 50)),
  },
  refusals: [{ limit: 'mailnetwork', setting: 'limits-mails-per-network', value: '20', count: 31 }],
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

beforeAll(async () => {
  ({ service, operator } = await startOperated());
  ada = (await signIn(service, 'ada@example.test')).tab;
  await service.store.change(service.store.systemCall(), (tx) =>
    tx.create(Replica, { metadata: { name: 'other' }, spec: {}, status: status() }),
  );
});

test('operators see activity, replicas, store and policy, and the page follows them', async () => {
  const person = await arrive(operator);
  const { page } = person;
  const changes = changesOf(page);
  await openConsole(service, person);
  const charts = page.getByRole('list', { name: 'The last hour' });
  await charts.getByRole('heading', { name: 'Failed sign-ins' }).waitFor();
  const counts = await charts.locator('.figure').allTextContents();
  expect(counts.map(Number).slice(1, 2)).toEqual([12]);
  expect(Number(counts[0])).toBeGreaterThanOrEqual(174);
  const table = charts.getByRole('table', { name: 'Failed sign-ins' });
  expect(await table.getByRole('cell').allTextContents()).toEqual(['0', '0', '0', '0', '12', '0']);
  await page.getByRole('heading', { name: 'Refused by limits' }).waitFor();
  await page.getByText('limits-mails-per-network: 20 · 31').first().waitFor();
  await page.getByText('Not ready: policy').first().waitFor();
  await page.getByText('4.2 MB of 2 GB').first().waitFor();
  expect(await page.getByRole('link', { name: 'p-1', exact: true }).getAttribute('href')).toBe(
    '/console/policies/p-1',
  );
  await page.getByText('The same with kubectl').click();
  await page.getByText('kubectl get replicas.id.vestibule.org -o yaml').first().waitFor();
  await service.store.change(service.store.systemCall(), (tx) =>
    tx.update(Replica, 'other', (next) => {
      next.status.failedChecks = ['storage'];
    }),
  );
  await page.getByText('Not ready: storage').first().waitFor();
  expect(changes).toEqual([]);
});

test('settings are found by any word, with their source', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person);
  await page.getByRole('link', { name: 'Show settings and their source' }).click();
  await page.getByRole('row', { name: /^base-url / }).waitFor();
  await page.getByRole('searchbox').fill('limit-factor');
  await page.getByRole('row', { name: /^limit-factor 1000\b.* Flag / }).waitFor();
  await page.getByRole('searchbox').fill('no such setting');
  await page.getByText('Nothing found.').first().waitFor();
  const manifests = page.getByRole('region', { name: 'Manifests' });
  await manifests.getByRole('row', { name: /^apps.yaml Applied 2 .* None$/ }).waitFor();
  await manifests.getByRole('row', { name: /^broken.yaml Not applied 1 .*displayName/ }).waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('list', { name: 'The last hour' }).waitFor();
});

test('other people see neither', async () => {
  const person = await arrive(ada);
  const { page } = person;
  await openConsole(service, person);
  await page.getByRole('main').getByRole('link', { name: 'All kinds' }).waitFor();
  expect(await page.getByText('The last hour').count()).toBe(0);
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
    for (const path of ['', '/settings']) {
      await openConsole(service, person, path);
      await page.locator('.charts, tbody').first().waitFor();
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
