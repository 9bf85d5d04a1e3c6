import { beforeAll, expect, test } from '@jest/globals';
import { Invitation } from '../../../kinds/access/invitation/invitation.js';
import { mailTo } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import type { TestService } from '../../support/service.js';
import { changesOf, openConsole } from '../support/console.js';
import { overflows } from '../support/inspection.js';
import { startOperated, visitors } from '../support/visitors.js';

let service: TestService;
let operator: Tab;
const arrive = visitors(() => service);
const email = 'daniel@example.test';

const fail = () =>
  service.store.change(service.store.systemCall(), (tx) =>
    tx.update(Invitation, 'daniel', ({ status }) => {
      status.deliveryState = 'Failed';
    }),
  );

beforeAll(async () => {
  ({ service, operator } = await startOperated());
  const spec = { displayName: 'Harbour', accentColor: '#0c6b62' };
  await operator.patch('appearances/default', { spec }).is(200);
  await operator.post('invitations', { metadata: { name: 'daniel' }, spec: { email } }).is(201);
  await fail();
});

test('operators see each mail in each language, and share the address of one', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person);
  await page.getByRole('link', { name: 'Mail', exact: true }).click();
  const mail = page.getByRole('article');
  await mail.getByText('sample, not a live code').waitFor();
  expect(await mail.locator('.sample-button').evaluate((one) => getComputedStyle(one).color)).toBe(
    'rgb(255, 255, 255)',
  );
  expect(
    await mail.locator('.sample-button').evaluate((one) => getComputedStyle(one).backgroundColor),
  ).toBe('rgb(12, 107, 98)');
  await page.getByRole('link', { name: 'You are invited to Example' }).click();
  await page.locator('#mail-language').selectOption('de');
  await mail.getByRole('heading', { name: 'Sie sind zu Example eingeladen' }).waitFor();
  expect(new URL(page.url()).search).toBe('?mail=Invitation&language=de');
  await page.locator('#mail-language').selectOption('ar');
  expect(await mail.getAttribute('dir')).toBe('rtl');
  await page.goBack();
  await mail.getByText('sample, not a live code').waitFor();
});

test('what did not arrive says why, and is sent again as kubectl would', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person, '/mail');
  const failed = page.getByRole('region', { name: 'Did not arrive' });
  await failed.getByText('Refused by the mail server').waitFor();
  await service.tab().delete('mockmessages').is(200);
  const changes = changesOf(page);
  await failed.getByRole('button', { name: 'Send again' }).click();
  await failed.getByText('The same with kubectl').click();
  const path = '/apis/id.vestibule.org/v1beta1/invitations/daniel/mail';
  await failed.getByText(`kubectl create --raw ${path}`).waitFor();
  await page.waitForTimeout(600); // earlier clicks are not meant for the question
  await failed.getByRole('button', { name: 'Send again' }).click();
  await failed.getByText('No invitation is known to have failed').waitFor();
  await mailTo(service, email);
  const body = { apiVersion: 'id.vestibule.org/v1beta1', kind: 'InvitationMail', spec: {} };
  expect(changes).toMatchObject([{ method: 'POST', path, body }]);
});

test('operators send themselves a test mail, by the keyboard alone', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person, '/mail');
  await service.tab().delete('mockmessages').is(200);
  await page.getByRole('button', { name: 'Send a test mail to me' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('A mail is sent to your own address').waitFor();
  await page.waitForTimeout(600); // earlier keys are not meant for the question
  await page.getByRole('button', { name: 'Send a test mail to me' }).focus();
  await page.keyboard.press('Enter');
  expect((await mailTo(service, 'op@example.test')).subject).toMatch(/can send mail$/);
});

test.each([
  ['light', {}],
  ['dark', { colorScheme: 'dark' as const }],
  ['Arabic', { locale: 'ar' }],
])(
  'axe finds nothing in %s, and nothing is too wide at 320 px or 200 %%',
  async (_name, options) => {
    await fail();
    const person = await arrive(operator, options);
    const { page } = person;
    await openConsole(service, person, '/mail');
    await page.getByRole('article').waitFor();
    expect([
      ...(await person.faults()),
      ...(await overflows(page, 320)),
      ...(await overflows(page, 640, 'html { font-size: 200% !important }')),
    ]).toEqual([]);
  },
);
