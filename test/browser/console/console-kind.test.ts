import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { z } from 'zod';
import { defineKind } from '../../../kinds/define-kind.js';
import type { Tab } from '../../support/people/tab.js';
import type { TestService } from '../../support/service.js';

/** A kind as hack/new-kind writes it, with fields of a few more types. */
const KeyRing = defineKind({
  kind: 'KeyRing',
  resource: 'keyrings',
  description: 'A ring of keys.',
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
  spec: z.object({
    displayName: z.string().min(1).max(64).describe('Its display name.'),
    size: z.number().int().max(9).optional().describe('How many keys fit.'),
    lost: z.boolean().default(false).describe('Whether it was lost.'),
  }),
  status: z.object({}),
  columns: { 'Display-Name': ({ spec }) => spec.displayName, Size: ({ spec }) => spec.size ?? 0 },
});

const { actions, kinds } = await import('../../../kinds/index.js');
jest.unstable_mockModule('../../../kinds/index.js', () => ({
  actions,
  kinds: [...kinds, KeyRing],
}));
const { createClient, startTest, stopAll } = await import('../../support/service.js');
const { signIn } = await import('../../support/people/signin.js');
const { openConsole } = await import('../support/console.js');
const { closeBrowser } = await import('../support/person.js');
const { asPerson } = await import('../support/visitor.js');

const rule = `
@id("operators-keyrings")
@message("Operators may do this.")
permit (principal in Group::"operators", action in [Action::"read", Action::"write"], resource is KeyRing);
`;
let service: TestService;
let operator: Tab;

beforeAll(async () => {
  service = await startTest({
    flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
  });
  await createClient(service, 'app');
  operator = (await signIn(service, 'op@example.test')).tab;
  const { cedar } = (await operator.get('policies/p-1').is(200)).body.spec;
  await operator.post('policies', { spec: { cedar: cedar + rule } }).is(201);
});
afterAll(async () => {
  await closeBrowser();
  await stopAll();
});

test('a kind that the console does not know has its table, its form and its watch', async () => {
  const person = await asPerson(service, operator, { locale: 'en-GB' });
  const { page } = person;
  const field = (name: RegExp) => page.getByRole('textbox', { name });
  await openConsole(service, person, '/kinds');
  await page.getByText('A ring of keys.').first().waitFor();
  await page.getByRole('link', { name: 'Key rings' }).last().click();
  await page.getByText('There are none yet.').first().waitFor();
  await page.getByRole('link', { name: 'New: Key ring' }).click();
  await field(/^name/).fill('house');
  await field(/^displayName/).fill('House');
  await field(/^size/).fill('many');
  await page.getByRole('combobox', { name: 'lost' }).selectOption('true');
  await page.getByText('How many keys fit.').first().waitFor();
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByText('Enter a number.').first().waitFor();
  await field(/^size/).fill('12');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByText('1 field needs a change.').first().waitFor();
  expect(await field(/^size/).getAttribute('aria-invalid')).toBe('true');
  await field(/^size/).fill('3');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { level: 1, name: 'house' }).waitFor();
  expect((await operator.get('keyrings/house').is(200)).body.spec).toEqual({
    displayName: 'House',
    size: 3,
    lost: true,
  });
  await page.getByRole('link', { name: 'Key rings' }).first().click();
  await page.getByRole('row', { name: /Select house house House 3/ }).waitFor();
  await operator.patch('keyrings/house', { spec: { size: 4 } }).is(200);
  await page.getByRole('row', { name: /Select house house House 4/ }).waitFor();
  expect(person.complaints).toEqual([]);
});
