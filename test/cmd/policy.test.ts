import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { vestibule as run } from '../support/command.js';
import { settles } from '../support/patience.js';
import { confirm } from '../support/people/device.js';
import { begin, signIn } from '../support/people/signin.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../support/service.js';

let service: TestService;
let folder: string;
beforeAll(async () => {
  folder = temporary();
  service = await startTest({
    flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
  });
  await createClient(service, 'notes');
});
afterAll(stopAll);

const vestibule = (args: readonly string[], onOutput?: (text: string) => void) =>
  run(args, { HOME: folder }, onOutput);

test('an operator signs in, tries a policy, reads its impact, and puts it in force', async () => {
  const ada = await signIn(service, 'ada@example.test', { client: 'notes' });
  const { tab } = await signIn(service, 'op@example.test', { client: 'notes' });
  let confirmed: Promise<void> | undefined;
  const login = await vestibule(['login', service.baseURL], (text) => {
    const address = /Open (\S+)\n/.exec(text)?.[1];
    if (address) confirmed ??= confirm(tab, address);
  });
  await confirmed;
  expect(login).toMatchObject({ code: 0, out: '' });
  expect(login.error).toMatch(/confirm the code [A-Z]{4}-[A-Z]{4}\nSigned in to http/);
  const file = join(folder, '.config/vestibule/config');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await vestibule(['whoami'])).out).toMatch(/^op@example\.test \([a-z0-9]{20}\)\n$/);

  const refused = await ada.tab
    .post('groups', { metadata: { name: 'new' }, spec: { displayName: 'New', members: [] } })
    .fails(403, 'Forbidden');
  const { policyDecision } = refused.details as unknown as { policyDecision: string };
  await settles(
    () => ada.tab.get(`policydecisions/${policyDecision}`),
    ({ code }) => code === 200,
  );
  const explained = await vestibule(['policy', 'explain', policyDecision]);
  expect(explained).toMatchObject({ code: 0, error: '' });
  expect(explained.out).toMatch(
    /^Decision +\S+\nRequest +create Group by Account::"\S+"\nAnswer +refused by policy p-1\nLast +\S+Z\nRule +default: No rule permits it\.\nFact +(.+\n +)*.+\nPermitted +in group operators\n$/,
  );
  expect(await vestibule(['policy', 'explain'])).toMatchObject({
    code: 2,
    error: expect.stringMatching(/takes the name of a PolicyDecision/),
  });

  const rules = join(folder, 'rules.cedar');
  const former = (await service.tab().get('policies/p-1').is(200)).body.spec.cedar;
  writeFileSync(
    rules,
    `${former}\n@id("notes-no-mail") @message("Notes gets no addresses.") forbid (principal, action == Action::"share", resource == Scope::"email") when { context has client && context.client == Client::"notes" };\n`,
  );
  const tried = await vestibule(['create', '-f', rules, '--dry-run=server']);
  expect(tried).toMatchObject({ code: 0, error: '' });
  expect(tried.out).toMatch(
    /^policy\.id\.vestibule\.org\/p-2 created \(server dry run\)\n\d recorded decisions of \d+ would change: \d refused, 0 allowed\. No policy was activated\.\n\nNOW +WHO +ACTION +ON +TIMES +LAST +DECISION\n/,
  );
  const account = (await ada.tab.get('accounts/~').is(200)).body.metadata.name;
  expect(tried.out).toMatch(
    new RegExp(
      `^refused +\\S*${account}\\S* +share +email to notes +\\d+ +\\S+Z +${account}-\\S+$`,
      'm',
    ),
  );
  expect((await service.tab().get('policies').is(200)).body.items).toHaveLength(1);
  expect(
    JSON.parse((await vestibule(['create', '-f', rules, '--dry-run=server', '-o', 'json'])).out)
      .status.impact.nowRefused.length,
  ).toBeGreaterThan(0);

  const yaml = join(folder, 'policy.yaml');
  writeFileSync(
    yaml,
    `apiVersion: id.vestibule.org/v1beta1\nkind: Policy\nspec:\n  description: Closed.\n  cedar: |\n${readFileSync(rules, 'utf8').replaceAll(/^/gm, '    ')}\n`,
  );
  expect(await vestibule(['create', '-f', yaml])).toEqual({
    code: 0,
    out: 'policy.id.vestibule.org/p-2 created\n',
    error: '',
  });
  expect((await service.tab().get('policies/p-2').is(200)).body.status.inForce).toBe(true);

  expect((await vestibule(['logout'])).code).toBe(0);
  expect(await vestibule(['whoami'])).toMatchObject({
    code: 1,
    error: 'vestibule: you are not signed in: vestibule login URL\n',
  });
}, 120_000);

test('what is wrong is said as it should be, with the exit code that goes with it', async () => {
  expect((await begin(service, { client: 'notes' })).name).toBeTruthy();
  const wrong = async (...args: string[]): Promise<[number | null, string]> => {
    const { code, error, out } = await vestibule(args);
    expect(out).toBe('');
    return [code, error];
  };
  expect(await wrong('login')).toEqual([2, expect.stringMatching(/takes the URL/)]);
  expect(await wrong('login', 'http://127.0.0.1:1')).toEqual([
    1,
    expect.stringMatching(/cannot be reached/),
  ]);
  expect(await wrong('create')).toEqual([2, expect.stringMatching(/takes a file/)]);
  expect(await wrong('create', '-f', 'x', '--dry-run=maybe')).toEqual([
    2,
    expect.stringMatching(/server or none/),
  ]);
  expect(await wrong('create', '--bogus')).toEqual([2, expect.stringMatching(/--bogus/)]);
  expect(await wrong('bogus')).toEqual([
    2,
    expect.stringMatching(/unknown subcommand "bogus": vestibule help/),
  ]);
});
