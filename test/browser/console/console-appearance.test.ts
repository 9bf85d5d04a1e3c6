import { beforeAll, expect, test } from '@jest/globals';
import { png } from '../../kinds/appearance/images.js';
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
const logo = { name: 'logo.png', mimeType: 'image/png', buffer: png(48, 24) };

beforeAll(async () => {
  ({ service, operator } = await startOperated());
  ada = (await signIn(service, 'ada@example.test')).tab;
});

test('an operator gives the service a name, a logo from a file, and a colour', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person);
  await page.getByRole('link', { name: 'Appearance' }).click();
  const changes = changesOf(page);
  await page.getByLabel('displayName').fill('Orchard House');
  await page.getByLabel('logo').setInputFiles({ ...logo, buffer: Buffer.from('no image') });
  await page.getByText('1 kB').first().waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('must be a PNG or JPEG image').first().waitFor();
  await page.getByLabel('logo').setInputFiles(logo);
  await page.locator('input[type=color]').fill('#0c6b62');
  expect(await page.locator('.color [type=text]').inputValue()).toBe('#0c6b62');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'default', exact: true }).waitFor();
  const { metadata, spec } = (await operator.get('appearances/default').is(200)).body;
  expect(spec).toMatchObject({ displayName: 'Orchard House', accentColor: '#0c6b62' });
  expect(spec.logo).toMatch(/^\/assets\/logo-/);
  expect(changes.at(-1)).toMatchObject({
    method: 'PATCH',
    type: 'application/merge-patch+json',
    body: { spec: { ...spec, logo: logo.buffer.toString('base64') } },
  });

  await page.goto(`${service.baseURL}/console/appearances/default/edit`);
  await page.getByRole('img', { name: 'logo' }).waitFor();
  await page.getByRole('button', { name: 'Remove logo' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'default', exact: true }).waitFor();
  expect(changes.at(-1)!.body).toMatchObject({ spec: { logo: null } });
  const after = (await operator.get('appearances/default').is(200)).body;
  expect(after.spec.logo).toBeUndefined();
  expect(after.metadata.generation).toBe(metadata.generation + 1);
});

test('who may not change it is not offered to', async () => {
  const person = await arrive(ada);
  await openConsole(service, person);
  await person.page.getByRole('link', { name: 'Policy', exact: true }).waitFor();
  expect(await person.page.getByRole('link', { name: 'Appearance' }).count()).toBe(0);
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
    await openConsole(service, person, '/appearances/default/edit');
    await page.locator('input[type=file]').setInputFiles(logo);
    await page.locator('.chosen').waitFor();
    expect([
      ...(await person.faults()),
      ...(await overflows(page, 320)),
      ...(await overflows(page, 640, 'html { font-size: 200% !important }')),
    ]).toEqual([]);
  },
);
