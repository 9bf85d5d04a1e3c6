import { beforeAll, expect, test } from '@jest/globals';
import { HourlyCount, hourName } from '../../../kinds/hourly-count.js';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import type { Tab } from '../../support/people/tab.js';
import type { TestService } from '../../support/service.js';
import { changesOf, openConsole } from '../support/console.js';
import { overflows } from '../support/inspection.js';
import type { Person } from '../support/person.js';
import { operatedFlags, startOperated, visitors } from '../support/visitors.js';

let service: TestService;
let operator: Tab;
const arrive = visitors(() => service);
const hourMs = 3_600_000;

const effective = async (name: string): Promise<string> =>
  (await operator.get('settings/default').is(200)).body.status.effective.find(
    (one: { name: string }) => one.name === name,
  ).value;
const version = async (): Promise<string> =>
  (await operator.get('settings/default').is(200)).body.metadata.resourceVersion;

beforeAll(async () => {
  const flags = [...operatedFlags, '--limits-session-lifetime', '1000h'];
  ({ service, operator } = await startOperated({ flags }));
  const start = Math.floor(Date.now() / hourMs) * hourMs - 2 * hourMs;
  const lastTimestamp = toTimestamp(start + 60_000);
  await service.store.change(service.store.systemCall(), (tx) =>
    tx.create(HourlyCount, {
      metadata: { name: hourName(start) },
      spec: {},
      status: {
        startTimestamp: toTimestamp(start),
        signIns: [],
        signInsFailed: [],
        mails: [],
        refusedByRule: [],
        refusedByLimit: [{ name: 'limits-mails-per-network', count: 21, lastTimestamp }],
      },
    }),
  );
});

const open = async (person: Person, query = ''): Promise<void> => {
  await openConsole(service, person, `/settings${query}`);
  await person.page.getByRole('row').first().waitFor();
};
const change = ({ page }: Person, title: string) =>
  page.getByRole('button', { name: `Change ${title}`, exact: true }).click();
const field = ({ page }: Person, title: string) =>
  page.getByRole('textbox', { name: title, exact: true });

test('a limit that refused something is changed in its place, with its faults at once', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await open(person);
  const refusing = page.getByRole('region', { name: 'Limits that refused something' });
  await refusing.getByRole('row', { name: /^Mails per network .* 20 Change .* 21$/ }).waitFor();
  await change(person, 'Mails per network');
  await field(person, 'Mails per network').fill('0');
  await page.getByText('must be from 1 to 100000').waitFor();
  const changes = changesOf(page);
  const resourceVersion = await version();
  await field(person, 'Mails per network').fill('60');
  await page.getByText('The same with kubectl').click();
  const patch = { metadata: { resourceVersion }, spec: { limits: { mailsPerNetwork: 60 } } };
  const command = `kubectl patch settings.id.vestibule.org default --type=merge -p '${JSON.stringify(patch)}'`;
  await page.getByText(command).waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  const row = page.getByRole('region', { name: 'Changed by operators' }).getByRole('row');
  await row.filter({ hasText: 'Saved' }).waitFor();
  expect(changes.at(-1)).toMatchObject({
    method: 'PATCH',
    path: '/apis/id.vestibule.org/v1beta1/settings/default',
    type: 'application/merge-patch+json',
    body: patch,
  });
  expect(await effective('limits-mails-per-network')).toBe('60');
});

test('settings that depend on each other are saved together, by the keyboard alone', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await open(person, '?find=per-address');
  await page.getByRole('button', { name: 'Change Mails per address', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.type('8');
  await page.getByRole('button', { name: 'Change Mails per address day' }).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.type('30');
  await page.getByText('Not saved yet').first().waitFor();
  await page.reload();
  await person.at('console');
  expect(await field(person, 'Mails per address').inputValue()).toBe('8');
  await field(person, 'Mails per address day').focus();
  await page.keyboard.press('Enter');
  await page.locator('.saved').nth(1).waitFor();
  expect(await effective('limits-mails-per-address')).toBe('8');
  expect(await effective('limits-mails-per-address-day')).toBe('30');
  await change(person, 'Mails per address');
  await page.keyboard.press('Escape');
  await field(person, 'Mails per address').waitFor({ state: 'detached' });
  const name = await page.evaluate(() => document.activeElement!.getAttribute('aria-label'));
  expect(name).toBe('Change Mails per address');
});

test('the history shows each difference and leads back to earlier values', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await operator.patch('settings/default', { spec: { policyTimeZone: 'Europe/Berlin' } }).is(200);
  await operator.patch('settings/default', { spec: { policyTimeZone: 'Asia/Tokyo' } }).is(200);
  await open(person, '?find=zone');
  await page.getByRole('link', { name: 'History' }).click();
  const history = page.getByRole('region', { name: 'History' }).getByRole('listitem');
  await history.first().getByText('Asia/Tokyo').waitFor();
  await history.first().getByText('op@example.test').waitFor();
  await history.nth(1).getByRole('button', { name: 'Restore this' }).click();
  const question = page.getByRole('group', { name: 'Restore this' });
  expect(await question.locator('del').textContent()).toBe('Asia/Tokyo');
  expect(await question.locator('ins').textContent()).toBe('Europe/Berlin');
  await page.waitForTimeout(600); // earlier clicks are not meant for the question
  await question.getByRole('button', { name: 'Restore this' }).click();
  await history.first().locator('ins', { hasText: 'Europe/Berlin' }).waitFor();
  expect(await effective('policy-time-zone')).toBe('Europe/Berlin');
  await page.goBack();
  await page.waitForURL(/settings\?find=zone$/);
});

test('what a flag fixes is shown with the flag and without a way to change it', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await open(person, '?show=sessions');
  const row = page.getByRole('row', { name: /^Session lifetime / });
  expect(await row.textContent()).toMatch(/Flag --limits-session-lifetime/);
  expect(await row.getByRole('button').count()).toBe(0);
  await page.getByRole('link', { name: /^Fixed/ }).click();
  await page.getByRole('row', { name: /^Session lifetime / }).waitFor();
  expect(new URL(page.url()).search).toBe('?show=fixed');
  await page.goBack();
  await page.getByRole('row', { name: /^Session idle lifetime / }).waitFor();
});

test('a change by another operator is seen before it is overwritten', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await open(person, '?find=code-tries');
  await change(person, 'Email code tries');
  await field(person, 'Email code tries').fill('4');
  await operator.patch('settings/default', { spec: { limits: { emailCodeTries: 3 } } }).is(200);
  await page.getByText('Now 3.').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved').first().waitFor();
  expect(await effective('limits-email-code-tries')).toBe('4');
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
    for (const query of ['', '?show=mail', '?show=history']) {
      await openConsole(service, person, `/settings${query}`);
      await page.locator('tbody, .rows').first().waitFor();
      if (query === '?show=mail') await page.locator('[id^=change-]').first().click();
      faults.push(
        ...(await person.faults()),
        ...(await overflows(page, 320)),
        ...(await overflows(page, 640, 'html { font-size: 200% !important }')),
      );
    }
    expect(faults).toEqual([]);
  },
);
