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
  await page.getByLabel('Name', { exact: true }).fill('Orchard House');
  await page.getByLabel('Logo', { exact: true }).setInputFiles({
    ...logo,
    buffer: Buffer.from('no image'),
  });
  await page.getByText('1 kB').first().waitFor();
  await page.getByText('must be a PNG or JPEG image').first().waitFor();
  await page.getByLabel('Logo', { exact: true }).setInputFiles(logo);
  await page.locator('input[type=color]').fill('#0c6b62');
  expect(await page.locator('.color [type=text]').inputValue()).toBe('#0c6b62');
  const changes = changesOf(page);
  const { metadata: before } = (await operator.get('appearances/default').is(200)).body;
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('.saved').waitFor();
  const { metadata, spec } = (await operator.get('appearances/default').is(200)).body;
  expect(spec).toMatchObject({ displayName: 'Orchard House', accentColor: '#0c6b62' });
  expect(spec.logo).toMatch(/^\/assets\/logo-/);
  expect(changes.at(-1)).toEqual({
    method: 'PATCH',
    path: '/apis/id.vestibule.org/v1beta1/appearances/default',
    type: 'application/merge-patch+json',
    body: {
      metadata: { resourceVersion: before.resourceVersion },
      spec: { ...spec, logo: logo.buffer.toString('base64') },
    },
  });
  await page.reload();
  await page.getByRole('img', { name: 'Logo' }).waitFor();
  await page.getByRole('button', { name: 'Remove Logo' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('.saved').waitFor();
  expect(changes.at(-1)!.body).toMatchObject({ spec: { logo: null } });
  const after = (await operator.get('appearances/default').is(200)).body;
  expect(after.spec.logo).toBeUndefined();
  expect(after.metadata.generation).toBe(metadata.generation + 1);
});

test('the sign-in page and the contrasts follow what is chosen, before it is saved', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person, '/appearance');
  const light = page.getByRole('img', { name: 'The sign-in page on light' });
  const button = light.locator('.look-button').first();
  const background = (): Promise<string> =>
    button.evaluate((one) => getComputedStyle(one).backgroundColor);
  const color = page.getByLabel('Colour', { exact: true }).first();
  await color.focus();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('#7a9a10');
  await page.getByText('White on it').waitFor();
  expect(await background()).toBe('rgb(122, 154, 16)');
  expect(await page.locator('.contrasts .low').allTextContents()).toEqual([
    'White on it3.2 : 1',
    'On a light page2.9 : 1',
  ]);
  await page.getByText('must have a contrast of at least 4.5:1').waitFor();
  await page.getByLabel('Privacy policy', { exact: true }).fill('harbour.example');
  await page.getByText('must be a web address').waitFor();
  await page.getByLabel('Name', { exact: true }).fill('Harbour');
  await light.getByText('Harbour', { exact: true }).waitFor();
  await page.reload();
  await page.getByText('Not saved yet').first().waitFor();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Harbour');
  await page.getByRole('button', { name: 'Discard' }).click();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Orchard House');
  expect(await background()).toBe('rgb(12, 107, 98)');
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
    await openConsole(service, person, '/appearance');
    await page.locator('input[type=file]').setInputFiles(logo);
    await page.locator('.chosen').waitFor();
    expect([
      ...(await person.faults()),
      ...(await overflows(page, 320)),
      ...(await overflows(page, 640, 'html { font-size: 200% !important }')),
    ]).toEqual([]);
  },
);
