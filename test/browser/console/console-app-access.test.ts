import { beforeAll, expect, test } from '@jest/globals';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, type TestService } from '../../support/service.js';
import { changesOf, openConsole } from '../support/console.js';
import { startOperated, visitors } from '../support/visitors.js';

let service: TestService;
let operator: Tab;
const arrive = visitors(() => service);

beforeAll(async () => {
  ({ service, operator } = await startOperated());
  await createClient(service, 'wiki', {
    displayName: 'Wiki',
    homepageURI: 'https://app.example.test/',
  });
  const members = ['ada@example.test'];
  for (const [name, displayName] of [
    ['staff', 'Staff'],
    ['guests', 'Guests'],
  ]) {
    await operator
      .post('groups', {
        metadata: { name },
        spec: { displayName, members: name === 'staff' ? members : [] },
      })
      .is(201);
  }
});

/** Whether the account page offers an app to a person, which it does where policy lets them sign in. */
async function isOffered(tab: Tab): Promise<boolean> {
  const { body } = await tab.get('accounts/~/apps').is(200);
  return body.items.some(({ client }: { client: string }) => client === 'wiki');
}

test('four clicks let only a group use an app, by one rule that is shown before', async () => {
  const [ada, bob] = await Promise.all(
    ['ada@example.test', 'bob@example.test'].map(async (one) => (await signIn(service, one)).tab),
  );
  const person = await arrive(operator);
  const { page } = person;
  const changes = changesOf(page);
  await openConsole(service, person);
  let clicks = 0;
  const click = async (
    role: 'link' | 'checkbox' | 'radio' | 'button',
    name: string,
  ): Promise<void> => {
    clicks += 1;
    await page.getByRole(role, { name, exact: true }).first().click();
  };
  await click('link', 'Apps');
  await click('link', 'Wiki app.example.test');
  await click('checkbox', 'Members of Staff');
  await page.locator('ins').filter({ hasText: '@id("app-wiki-members")' }).waitFor();
  expect(await person.faults()).toEqual([]);
  await click('button', 'Put in force');
  await page.getByText('Saved').first().waitFor();
  expect(clicks).toBe(4);
  expect(changes.map(({ method, path }) => `${method} ${path.split('/').at(-1)}`)).toEqual([
    'POST policies',
    'POST policies',
  ]);
  const { body } = await operator.get('policies').is(200);
  const { spec } = body.items.find(({ status }: any) => status.inForce);
  expect(spec.cedar).toContain(`@id("app-wiki-members") @message("Wiki is for members of Staff.")
forbid (principal, action == Action::"signIn", resource == Client::"wiki")
unless { principal in Group::"staff" };`);
  expect([await isOffered(ada!), await isOffered(bob!)]).toEqual([true, false]);
  await click('radio', 'Everyone with an account');
  await click('button', 'Put in force');
  await page.getByText('Saved').first().waitFor();
  expect(await isOffered(bob!)).toBe(true);
});

test('a rule that was changed by hand is left to the policy', async () => {
  const { body } = await operator.get('policies').is(200);
  const { spec } = body.items.find(({ status }: any) => status.inForce);
  const cedar = `${spec.cedar}
@id("app-wiki-members") @message("Wiki is for people with two passkeys.")
forbid (principal, action == Action::"signIn", resource == Client::"wiki")
unless { context.passkeys > 1 };
`;
  await operator.post('policies', { spec: { cedar } }).is(201);
  const person = await arrive(operator);
  await openConsole(service, person, '/clients/wiki');
  await person.page.getByText('The rule app-wiki-members was changed by hand').first().waitFor();
  expect(await person.page.getByRole('checkbox', { name: /^Members of/ }).count()).toBe(0);
});
