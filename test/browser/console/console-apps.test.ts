import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { clock } from '../../support/clock.js';
import { findKubectls } from '../../support/cluster/kubectl.js';
import { until } from '../../support/patience.js';
import { authorizationPath, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, type TestService, temporary } from '../../support/service.js';
import { ChangeRecorder, changesOf, openConsole } from '../support/console.js';
import { overflows } from '../support/inspection.js';
import type { Person } from '../support/person.js';
import { focused, reach } from '../support/visitor.js';
import { startOperated, visitors } from '../support/visitors.js';

const newest = findKubectls().at(-1);
let service: TestService;
let operator: Tab;
let recorder: ChangeRecorder;
let server: string;
const arrive = visitors(() => service);
const heading = ({ page }: Person, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
const address = ({ page }: Person) => page.getByRole('textbox', { name: 'Address of the app' });
const add = ({ page }: Person) => page.getByRole('button', { name: 'Add an app' }).click();
const regionText = async ({ page }: Person, name: string): Promise<string> =>
  (await page.getByRole('region', { name }).textContent())!;

beforeAll(async () => {
  ({ service, operator } = await startOperated());
  recorder = new ChangeRecorder(service);
  server = await recorder.listen();
});
afterEach(() => clock.release());
afterAll(() => recorder?.close());

const clients = '/apis/id.vestibule.org/v1beta1/clients';

/** The Client, and the request for its secret. */
const recorded = [
  {
    method: 'POST',
    path: clients,
    type: 'application/json',
    body: {
      apiVersion: 'id.vestibule.org/v1beta1',
      kind: 'Client',
      metadata: { name: 'grafana' },
      spec: {
        displayName: 'Grafana',
        type: 'Confidential',
        homepageURI: 'https://grafana.example.test/',
        redirectURIs: ['https://grafana.example.test/login/generic_oauth'],
        postLogoutRedirectURIs: ['https://grafana.example.test/login'],
        pkce: 'Required',
        firstParty: true,
        scopes: [
          { name: 'openid', required: true },
          { name: 'email' },
          { name: 'profile' },
          { name: 'groups' },
        ],
      },
    },
  },
  {
    method: 'POST',
    path: `${clients}/grafana/secret`,
    type: 'application/json',
    body: { apiVersion: 'id.vestibule.org/v1beta1', kind: 'ClientSecret', spec: {} },
  },
];

/** Signs in to the app with the settings that the console showed; the claims of userinfo. */
async function signInWith(settings: string): Promise<Record<string, unknown>> {
  const valueOf = (name: string): string => new RegExp(`^${name} = (.*)$`, 'm').exec(settings)![1]!;
  const redirectURI = 'https://grafana.example.test/login/generic_oauth';
  const { callback, verifier } = await signIn(service, 'ada@example.test', {
    client: valueOf('client_id'),
    scope: valueOf('scopes'),
    parameters: { redirect_uri: redirectURI },
  });
  const code = callback.searchParams.get('code')!;
  expect(callback.origin + callback.pathname).toBe(redirectURI);
  const basic = Buffer.from(`${valueOf('client_id')}:${valueOf('client_secret')}`);
  const tokens = await fetch(valueOf('token_url'), {
    method: 'POST',
    headers: { Authorization: `Basic ${basic.toString('base64')}` },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectURI,
      code_verifier: verifier,
    }),
  });
  expect(tokens.status).toBe(200);
  const { access_token: token } = (await tokens.json()) as { access_token: string };
  const userinfo = await fetch(valueOf('api_url'), {
    headers: { Authorization: `Bearer ${token}` },
  });
  return (await userinfo.json()) as Record<string, unknown>;
}

test('an app from a template is what kubectl would create, and works', async () => {
  const person = await arrive(operator);
  const { page } = person;
  const changes = changesOf(page);
  await openConsole(service, person);
  await page.getByRole('link', { name: 'Apps', exact: true }).click();
  await heading(person, 'Apps');
  await page.getByRole('link', { name: 'Add an app' }).click();
  await page.getByRole('link', { name: 'Grafana' }).click();
  await heading(person, 'Add Grafana');
  await address(person).fill('grafana.example.test');
  await page.getByText('The same with kubectl').click();
  const command = await regionText(person, 'The same with kubectl');
  await add(person);
  await heading(person, 'Grafana was added');
  await page.getByText('Copy it now. It is not shown again.').first().waitFor();
  expect(changes).toEqual(recorded);
  const settings = await regionText(person, 'Settings: grafana.ini');
  expect(settings).toContain(`client_secret = ${await regionText(person, 'Secret')}\n`);
  const test = page.getByRole('link', { name: /^Test sign-in/ });
  expect(await test.getAttribute('href')).toBe('https://grafana.example.test/');
  expect(await signInWith(settings)).toMatchObject({ email: 'ada@example.test' });
  await page.getByRole('link', { name: 'Apps', exact: true }).last().click();
  const card = page.getByRole('row').filter({ hasText: 'grafana.example.test' });
  await card.getByText('Ready').waitFor();
  if (!newest) return;
  await promisify(execFile)(
    'sh',
    ['-c', command.replaceAll(/^kubectl /gm, `'${newest.path}' --server=${server} `)],
    { env: { PATH: `${dirname(newest.path)}:${process.env.PATH}`, HOME: temporary() } },
  );
  // kubectl sends no content type with --raw
  expect(recorder.changes).toEqual([recorded[0], { ...recorded[1], type: undefined }]);
});

test('without apps the list leads to the first one, by keyboard only', async () => {
  await operator.delete('clients/app').is(200);
  await operator.delete('clients/grafana');
  const person = await arrive(operator);
  const { page } = person;
  await openConsole(service, person, '/apps');
  await page.getByText('There are no apps yet. Add the first one.').first().waitFor();
  await page.getByRole('link', { name: 'Add an app' }).waitFor();
  await reach(person, 'Add an app');
  await page.keyboard.press('Enter');
  await heading(person, 'Add an app');
  await reach(person, 'Another app');
  await page.keyboard.press('Enter');
  await heading(person, 'Add an app');
  await reach(person, 'Redirect URI of the app');
  await page.keyboard.type('https://notes.example.test/cb');
  await reach(person, 'Name');
  await page.keyboard.type('Notes');
  await page.keyboard.press('Enter');
  await heading(person, 'Notes was added');
  expect((await operator.get('clients/notes').is(200)).body.spec.redirectURIs).toEqual([
    'https://notes.example.test/cb',
  ]);
  await createClient(service, 'app');
});

test('an error stands at its field and nothing typed is lost', async () => {
  const person = await arrive(operator);
  const { page } = person;
  const name = page.getByRole('textbox', { name: 'Name' });
  await openConsole(service, person, '/apps/gitea/new');
  await add(person);
  await page.getByText('Enter an address such as https://gitea.example.org.').first().waitFor();
  await focused(address(person));
  await address(person).fill('http://git.example.test');
  await add(person);
  await page.getByText('http is only for loopback').first().waitFor();
  expect(await address(person).getAttribute('aria-invalid')).toBe('true');
  await createClient(service, 'gitea');
  await address(person).fill('https://git.example.test');
  await add(person);
  await page.getByText('There is already an app with the client ID gitea.').first().waitFor();
  expect(await name.getAttribute('aria-invalid')).toBe('true');
  expect(await address(person).inputValue()).toBe('https://git.example.test');
  await page.reload();
  await page.getByText('What you typed is still here.').first().waitFor();
  await name.fill('Gitea of the team');
  await add(person);
  await heading(person, 'Gitea of the team was added');
  await page.getByText("--key 'gitea-of-the-team'").first().waitFor();
});

test('an old sign-in leads to a new one, and what was typed stays', async () => {
  const { tab } = await signIn(service, 'op@example.test');
  clock.own();
  clock.advance(11 * 60_000);
  const person = await arrive(tab);
  const { page } = person;
  await openConsole(service, person, '/apps/harbor/new');
  await address(person).fill('harbor.example.test');
  await add(person);
  await page.getByText('Operators change this only soon after a sign-in').first().waitFor();
  await page.getByRole('button', { name: 'Sign in again' }).click();
  await person.at('LoginRequired');
  expect(new URL(page.url()).pathname).not.toMatch(/^\/console/);
  await openConsole(service, person, '/apps/harbor/new');
  await page.getByText('What you typed is still here.').first().waitFor();
  expect(await address(person).inputValue()).toBe('harbor.example.test');
});

test('a secret that could not be created is created later', async () => {
  const person = await arrive(operator);
  const { page } = person;
  await page.route('**/clients/outline/secret', (route) => route.abort(), { times: 1 });
  await openConsole(service, person, '/apps/outline/new');
  await address(person).fill('outline.example.test');
  await add(person);
  await page.getByText('It has no secret yet').first().waitFor();
  expect(await regionText(person, 'Settings: environment')).toContain('<client-secret>');
  await page.getByRole('button', { name: 'Create a secret' }).click();
  await page.getByText('Copy it now. It is not shown again.').first().waitFor();
  expect(await regionText(person, 'Settings: environment')).not.toContain('<client-secret>');
});

/** An authorization request of an app that names a redirect URI of another. */
const refuse = async (client: string): Promise<void> => {
  const redirect = { redirect_uri: 'https://other.example.test/' };
  const path = authorizationPath(client, 'openid', 'v'.repeat(43), redirect);
  await service.tab().navigate(path).is(400);
};

test('what the app does is shown, and PKCE is required by a click', async () => {
  const person = await arrive((await signIn(service, 'op@example.test')).tab);
  const { page } = person;
  await openConsole(service, person, '/apps/-/new');
  await page.getByRole('link', { name: 'Another app' }).click();
  await page
    .getByRole('textbox', { name: 'Redirect URI of the app' })
    .fill('https://app.example.test/callback');
  await page.getByRole('textbox', { name: 'Name' }).fill('Board');
  await add(person);
  await heading(person, 'Board was added');
  const report = page.getByRole('region', { name: 'What the app does' });
  const again = async (text: string): Promise<void> => {
    await until(async () => {
      await report.getByRole('button', { name: 'Look again' }).click();
      return report.getByText(text).isVisible();
    });
  };
  await report.getByText('Nothing came from this app').waitFor();
  await refuse('board');
  await again("redirect_uri did not match any of the client's registered redirect_uris");
  await report.getByText('What to set: spec.redirectURIs of the Client').waitFor();
  await report.getByText('redirect_uri=https://other.example.test/').waitFor();
  await signIn(service, 'ada@example.test', { client: 'board', scope: 'openid' });
  await again('It sends a code challenge (PKCE) with every sign-in. It sends no nonce.');
  await report.getByRole('button', { name: 'Require PKCE' }).click();
  await report.getByRole('button', { name: 'Require PKCE' }).waitFor({ state: 'detached' });
  expect((await operator.get('clients/board').is(200)).body.spec.pkce).toBe('Required');
  await openConsole(service, person, '/clients/board');
  await report.getByText('What to set: spec.redirectURIs of the Client').waitFor();
});

test.each([
  ['light', { colorScheme: 'light' as const }, 'vault'],
  ['dark', { colorScheme: 'dark' as const }, 'gitlab'],
  ['Arabic', { locale: 'ar' }, 'argo-cd'],
])(
  'axe finds nothing in %s, and nothing is too wide at 320 px or 200 %%',
  async (_, look, template) => {
    const person = await arrive(operator, look);
    const { page } = person;
    const faults: string[] = [];
    const inspect = async (view: string): Promise<void> => {
      await page.waitForFunction(() => !document.querySelector('main [aria-busy]'));
      for (const one of [
        ...(await person.faults()),
        ...(await overflows(page, 320)),
        ...(await overflows(page, 640, 'html { font-size: 200% !important }')),
      ]) {
        faults.push(`${view}: ${one}`);
      }
    };
    for (const path of ['', '/apps', '/apps/-/new', `/apps/${template}/new`]) {
      await openConsole(service, person, path);
      await inspect(path);
    }
    await page.locator('#address').fill('https://long.host.name.example.test:8443/some/path');
    await page.locator('button[type=submit]').click();
    await page.locator('.tools.next').waitFor();
    await page.locator('section pre').first().waitFor();
    await refuse(template);
    const report = page.locator('section[aria-labelledby=report]');
    await until(async () => {
      await report.locator('button').last().click();
      return (await report.locator('li').count()) > 0;
    });
    await inspect('added');
    expect(faults).toEqual([]);
  },
);
