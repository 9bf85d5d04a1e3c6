import { randomBytes } from 'node:crypto';
import { afterAll, expect, jest, test } from '@jest/globals';
import { authorizationPath, redeem, signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { createClient, startTest, stopAll } from '../support/service.js';
import { closeBrowser } from './support/person.js';
import { asPerson } from './support/visitor.js';

jest.setTimeout(120_000);
afterAll(async () => {
  await closeBrowser();
  await stopAll();
});

const reason = 'The app has no need of addresses any more.';
const rule = `\n@id("no-addresses-for-app")\n@message("${reason}")\nforbid (principal, action == Action::"share", resource == Scope::"email")\nwhen { context.client == Client::"app" };\n`;

interface Decided {
  metadata: { name: string };
  spec: { action: string; scope?: string; client?: string };
  status: { allowed: boolean; reasons: { rule: string; message: string }[] };
}

/**
 * The person's decision on sharing their address, once there is one that is so; those that are
 * counted are written every few seconds.
 */
async function shared(tab: Tab, allowed: boolean): Promise<Decided> {
  for (
    const end = Date.now() + 30_000;
    Date.now() < end;
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    })
  ) {
    const { body } = await tab.get('policydecisions').is(200);
    const found = (body.items as Decided[]).find(
      ({ spec, status }) =>
        spec.action === 'share' &&
        spec.scope === 'email' &&
        spec.client === 'app' &&
        status.allowed === allowed,
    );
    if (found) return found;
  }
  throw new Error(`no decision that sharing is ${allowed ? 'permitted' : 'refused'}`);
}

test('a policy put in force at one replica changes an open consent at another', async () => {
  const second = await startTest({
    store: 'etcd',
    flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
  });
  const first = await second.replica();
  await createClient(second, 'app', {
    scopes: [
      { name: 'openid', required: true },
      { name: 'email', required: false },
      { name: 'profile', required: false },
    ],
  });
  const operator = first.tab();
  operator.cookies = (await signIn(second, 'op@example.test', { agree: ['openid'] })).tab.cookies;
  const { tab } = await signIn(second, 'ada@example.test', { agree: ['openid', 'email'] });
  const before = await shared(tab, true);

  const person = await asPerson(second, tab);
  const { page } = person;
  const verifier = randomBytes(32).toString('base64url');
  await page.goto(
    second.baseURL +
      authorizationPath('app', 'openid email profile', verifier, { prompt: 'consent' }),
  );
  await person.at('ConsentRequired');
  const email = page.getByRole('group', { name: 'Your email address' });
  await email.getByText('ada@example.test').waitFor();
  const profile = page.getByRole('group', { name: 'Your profile' });
  await profile.getByText('User name').waitFor(); // Ada has none, so an app gets it with the address only.
  await email.getByRole('checkbox').uncheck();
  await profile.getByText('User name').waitFor({ state: 'detached' });
  await email.getByRole('checkbox').check();
  await profile.getByText('User name').waitFor();

  const cedar = (await operator.get('policies/p-1').is(200)).body.spec.cedar + rule;
  const draft = { spec: { cedar, description: 'No addresses for the app.' } };
  const tried = (await operator.post('policies?dryRun=All', draft).is(201)).body;
  expect(tried.status.impact.nowRefused).toContain(before.metadata.name);
  expect(await email.getByRole('checkbox').isEnabled()).toBe(true);
  expect((await operator.get('policies').is(200)).body.items).toHaveLength(1);

  await operator.post('policies', draft).is(201);
  await email.getByText(reason).waitFor();
  expect(await email.getByRole('checkbox').isDisabled()).toBe(true);
  expect(await email.getByRole('checkbox').isChecked()).toBe(false);
  expect(await email.getByText('ada@example.test').count()).toBe(0);
  await page
    .getByText('What would be shared has changed. Check it again.')
    .waitFor({ state: 'attached' });
  expect(await person.faults()).toEqual([]);
  expect((await shared(tab, false)).status.reasons).toEqual([
    { rule: 'no-addresses-for-app', message: reason },
  ]);

  await page.getByRole('checkbox', { name: 'Your profile' }).check();
  const [back] = await Promise.all([
    page.waitForRequest(/^https:\/\/app.example.test\/callback\?/),
    page.getByRole('button', { name: 'Allow' }).click(),
  ]);
  const tokens = await redeem(second, { callback: new URL(back.url()), verifier, client: 'app' });
  expect(tokens.code).toBe(200);
  expect(tokens.body.scope).toBe('openid profile');
  const claims = await second
    .tab()
    .get('/oauth2/userinfo', {
      plain: true,
      headers: { authorization: `Bearer ${tokens.body.access_token}` },
    })
    .is(200);
  expect(claims.body).not.toHaveProperty('email');
  expect(
    JSON.parse(Buffer.from(tokens.body.id_token.split('.')[1], 'base64url').toString()),
  ).not.toHaveProperty('email');
  expect(person.complaints).toEqual([]);
});
