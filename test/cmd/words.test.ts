import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { parse } from 'yaml';
import { kinds } from '../../kinds/index.js';
import { type Ran, signedIn, vestibule } from '../support/command.js';
import { expectFor } from '../support/expect-for.js';
import { signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../support/service.js';

/** Each command is a process of its own, on a machine that may be busy. */
jest.setTimeout(120_000);

let service: TestService;
let tab: Tab;
let [operator, person]: NodeJS.ProcessEnv[] = [];
const signedOut = { VESTIBULE_CONTEXTS: '/nowhere/contexts' };

const as =
  (who: NodeJS.ProcessEnv | undefined) =>
  (...args: string[]): Promise<Ran> =>
    vestibule(args, who!);
const run = (...args: string[]): Promise<Ran> => as(operator)(...args);
/** What it says, where all is well. */
const says = async (...args: string[]): Promise<string> => {
  const { code, out, error } = await run(...args);
  expectFor(args, [code, error]).toEqual([0, '']);
  return out;
};
const make = (name: string, spec: object = {}, metadata: object = {}) =>
  tab
    .post('groups', {
      metadata: { name, ...metadata },
      spec: { displayName: `The ${name}`, ...spec },
    })
    .is(201);
const live = async (name: string) => (await tab.get(`groups/${name}`).is(200)).body;

beforeAll(async () => {
  service = await startTest({
    flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
  });
  await createClient(service, 'app');
  ({ tab } = await signIn(service, 'op@example.test'));
  [operator, person] = [
    await signedIn(service, tab),
    await signedIn(service, (await signIn(service, 'ada@example.test')).tab),
  ];
  await make('alpha', { members: ['x@example.test'] }, { labels: { team: 'blue', z: '1' } });
  await make('beta', {}, { labels: { team: 'red' } });
});
afterAll(stopAll);

test('get finds objects by every spelling of their type', async () => {
  for (const type of [
    'groups',
    'group',
    'Group',
    'groups.id.vestibule.org',
    'group.v1beta1.id.vestibule.org',
  ]) {
    expectFor(type, await says('get', type, 'alpha', '--no-headers')).toEqual(
      expect.stringMatching(/^alpha +The alpha +1 +\S+\n$/),
    );
  }
  expect(await says('get', 'group', 'alpha', 'beta')).toMatch(
    /^NAME    DISPLAY-NAME   MEMBERS   AGE\nalpha   The alpha      1         \S+\nbeta    The beta       0         \S+\n$/,
  );
  expect(await says('get', 'group/beta', 'pol/p-1')).toMatch(
    /^NAME +DISPLAY-NAME +MEMBERS +AGE\ngroup\.id\.vestibule\.org\/beta .*\n\nNAME +MODE +IN-FORCE +RULES +AGE\npolicy\.id\.vestibule\.org\/p-1 .*\n$/,
  );
  expect(await says('get', 'acct', '--no-headers')).toMatch(/ada@example\.test/);
  expect(await says('get', 'policies', '-o', 'wide')).toMatch(
    /^NAME +MODE +IN-FORCE +RULES +AUTHOR +AGE\np-1 +Enforce +true +\d+ +vestibule +\S+\n$/,
  );
  expect(await says('get', 'groups', 'alpha', '--show-labels')).toMatch(
    /AGE +LABELS\nalpha .* team=blue,z=1\n$/,
  );
  expect((await says('get', 'identity', '-o', 'name')).split('\n')).toEqual(
    expect.arrayContaining([
      'group.id.vestibule.org/alpha',
      'policy.id.vestibule.org/p-1',
      'client.id.vestibule.org/app',
    ]),
  );
});

test('get chooses by labels, fields and number, through pages', async () => {
  const names = async (...args: string[]) =>
    (await says('get', 'groups', '-o', 'name', ...args))
      .trim()
      .split('\n')
      .map((line) => line.replace('group.id.vestibule.org/', ''));
  expect(await names('-l', 'team in (blue)')).toEqual(['alpha']);
  expect(await names('--selector=team!=blue,team')).toEqual(['beta']);
  expect(await names('--field-selector', 'metadata.name=beta')).toEqual(['beta']);
  for (const size of ['1', '2', '0']) {
    expectFor(size, await names('-l', 'team', '--chunk-size', size)).toEqual(['alpha', 'beta']);
  }
  expect(await names('-l', 'team', '--limit=1')).toEqual(['alpha']);
  expect(await run('get', 'groups', '-l', 'team=none')).toEqual({
    code: 0,
    out: '',
    error: 'No resources found\n',
  });
  expect(JSON.parse(await says('get', 'groups', '-l', 'team=none', '-o', 'json'))).toEqual({
    apiVersion: 'v1',
    items: [],
    kind: 'List',
    metadata: { resourceVersion: '' },
  });
});

test('get prints JSON, YAML and names', async () => {
  const alpha = await live('alpha');
  expect(JSON.parse(await says('get', 'group', 'alpha', '-o', 'json'))).toEqual(alpha);
  expect(parse(await says('get', 'group', 'alpha', '-oyaml'))).toEqual(alpha);
  expect(
    JSON.parse(await says('get', 'groups', 'alpha', 'beta', '-o=json')).items.map(
      (item: any) => item.metadata.name,
    ),
  ).toEqual(['alpha', 'beta']);
  expect(await says('get', 'group/alpha', '-o', 'name')).toBe('group.id.vestibule.org/alpha\n');
});

test('what is not there or not allowed is said as kubectl says it', async () => {
  expect(await run('get', 'group', 'absent')).toEqual({
    code: 1,
    out: '',
    error: 'Error from server (NotFound): groups.id.vestibule.org "absent" not found\n',
  });
  expect(await run('get', 'group', 'absent', '--ignore-not-found')).toEqual({
    code: 0,
    out: '',
    error: '',
  });
  expect(await run('get', 'group', 'absent', 'alpha', 'gone', '-o', 'name')).toEqual({
    code: 1,
    out: 'group.id.vestibule.org/alpha\n',
    error: ['absent', 'gone']
      .map((name) => `Error from server (NotFound): groups.id.vestibule.org "${name}" not found\n`)
      .join(''),
  });
  expect(await run('get', 'grops')).toEqual({
    code: 1,
    out: '',
    error: 'error: the server doesn\'t have a resource type "grops"\nDid you mean "groups"?\n',
  });
  expect(await run('get', 'pods')).toEqual({
    code: 1,
    out: '',
    error: 'error: the server doesn\'t have a resource type "pods"\n',
  });
  expect(await as(person)('get', 'groups')).toMatchObject({
    code: 1,
    out: '',
    error: expect.stringMatching(
      /^Error from server \(Forbidden\): groups\.id\.vestibule\.org is forbidden/,
    ),
  });
  expect(await as(person)('get', 'groups', 'alpha')).toEqual({
    code: 1,
    out: '',
    error: 'Error from server (NotFound): groups.id.vestibule.org "alpha" not found\n',
  });
  expect((await as(person)('get', 'accounts')).out).toMatch(
    /^NAME.*\n\S+ +ada@example\.test .*\n$/,
  );
  const own = JSON.parse((await as(person)('get', 'account/~', '-o', 'json')).out);
  expect(own.status.email.address).toBe('ada@example.test');
});

test('without a sign-in the command reads what anyone may read', async () => {
  expect(await as(signedOut)('get', 'policies')).toEqual({
    code: 1,
    out: '',
    error: 'vestibule: you are not signed in: vestibule login URL\n',
  });
  expect(await as(signedOut)('get', 'policies', '-o', 'name', '--server', service.baseURL)).toEqual(
    {
      code: 0,
      out: 'policy.id.vestibule.org/p-1\n',
      error: '',
    },
  );
  expect(await as(signedOut)('get', 'groups', '--server', service.baseURL)).toEqual({
    code: 1,
    out: '',
    error: 'error: You must be logged in to the server (Unauthorized)\n',
  });
  const heard: (string | undefined)[] = [];
  const other = createServer((request, response) => {
    heard.push(request.headers.authorization);
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => {
    other.listen(0, '127.0.0.1', resolve);
  });
  expect(
    await run(
      'get',
      'policies',
      '--server',
      `http://127.0.0.1:${(other.address() as AddressInfo).port}`,
    ),
  ).toEqual({ code: 1, out: '', error: 'Error from server: HTTP 404\n' });
  other.close();
  expect(heard).toEqual([undefined]);
});

test('patch merges JSON, YAML and files, and says whether anything changed', async () => {
  await make('patched', { members: ['x@example.test'] });
  const line = 'group.id.vestibule.org/patched patched';
  expect(await says('patch', 'group', 'patched', '-p', '{"spec":{"displayName":"One"}}')).toBe(
    `${line}\n`,
  );
  expect(await says('patch', 'group/patched', '-p', 'spec: { displayName: One }')).toBe(
    `${line} (no change)\n`,
  );
  const file = join(temporary(), 'patch.yaml');
  writeFileSync(file, 'spec:\n  members: null\nmetadata:\n  labels: { a: b }\n');
  expect(await says('patch', 'group', 'patched', '--patch-file', file, '--dry-run=server')).toBe(
    `${line} (server dry run)\n`,
  );
  expect((await live('patched')).spec.members).toEqual(['x@example.test']);
  expect(
    JSON.parse(await says('patch', 'group', 'patched', '--patch-file', file, '-o', 'json')).spec,
  ).toEqual({ displayName: 'One', members: [] });
  expect((await live('patched')).metadata.labels).toEqual({ a: 'b' });
  expect(await run('patch', 'group', 'patched', '-p', '{"spec":{"bogus":1}}')).toEqual({
    code: 0,
    out: `${line} (no change)\n`,
    error: 'Warning: unknown field "spec.bogus"\n',
  });
  expect(await run('patch', 'group', 'patched', '-p', '{"spec":{"displayName":""}}')).toMatchObject(
    {
      code: 1,
      out: '',
      error: expect.stringMatching(/^Error from server \(Invalid\): .*spec\.displayName/),
    },
  );
  const operation = '[{ op: add, path: /metadata/labels/c, value: d }]';
  expect(await run('patch', 'group', 'patched', '--type=json', '-p', operation)).toEqual({
    code: 0,
    out: `${line}\n`,
    error: '',
  });
  expect(await run('patch', 'group', 'patched', '--type=strategic', '-p', '{}')).toMatchObject({
    code: 1,
    out: '',
    error: expect.stringMatching(
      /^Error from server \(UnsupportedMediaType\): .*application\/merge-patch\+json/,
    ),
  });
  const named = ['patch', 'account/~', '-p', 'spec: { nickname: Countess }', '-o', 'json'];
  const { code, out, error } = await as(person)(...named);
  expect([code, JSON.parse(out).spec.nickname, error]).toEqual([0, 'Countess', '']);
});

test('delete needs names, labels or all, waits, and keeps them in a dry run', async () => {
  for (const name of ['gone-1', 'gone-2', 'gone-3', 'gone-4']) {
    await make(name, {}, { labels: { team: 'gone' } });
  }
  expect(await says('delete', 'group', 'gone-1', '--dry-run=server')).toBe(
    'group.id.vestibule.org "gone-1" deleted (server dry run)\n',
  );
  expect(await says('delete', 'group/gone-1')).toBe('group.id.vestibule.org "gone-1" deleted\n');
  expect(await run('delete', 'group', 'gone-1', 'gone-2')).toEqual({
    code: 1,
    out: 'group.id.vestibule.org "gone-2" deleted\n',
    error: 'Error from server (NotFound): groups.id.vestibule.org "gone-1" not found\n',
  });
  expect(await run('delete', 'group', 'gone-1', '--ignore-not-found')).toEqual({
    code: 0,
    out: '',
    error: '',
  });
  expect(await says('delete', 'groups', '-l', 'team=gone', '-o', 'name', '--wait=false')).toBe(
    'group.id.vestibule.org/gone-3\ngroup.id.vestibule.org/gone-4\n',
  );
  expect(await run('delete', 'groups', '-l', 'team=gone')).toEqual({
    code: 0,
    out: '',
    error: 'No resources found\n',
  });
  for (const [flag, value] of [
    ['--selector', ''],
    ['-l', ' '],
    ['--field-selector', ''],
  ]) {
    expect(await run('delete', 'groups', flag!, value!)).toEqual({
      code: 2,
      out: '',
      error: `vestibule: ${flag === '-l' ? '--selector' : flag} must not be empty; --all deletes every object\n`,
    });
  }
  await live('alpha');
  for (const name of ['absent', 'alpha']) {
    expect((await as(person)('delete', 'group', name)).error).toBe(
      `Error from server (NotFound): groups.id.vestibule.org "${name}" not found\n`,
    );
  }
  const leaving = await signIn(service, 'leaving@example.test');
  const own = await signedIn(service, leaving.tab);
  expect(await as(own)('delete', 'account', '~')).toMatchObject({
    code: 1,
    out: '',
    error: expect.stringMatching(/^Error from server \(Forbidden\): .*sign in again/),
  });
  expect(await as(own)('delete', 'sessions', '--all')).toEqual({
    code: 0,
    out: expect.stringMatching(/^session\.id\.vestibule\.org "\S+" deleted\n$/),
    error: '',
  });
  // Ending sessions ends what the command holds, too.
  expect(await as(own)('get', 'sessions')).toEqual({
    code: 1,
    out: '',
    error: 'error: You must be logged in to the server (Unauthorized)\n',
  });
  await leaving.tab.get('accounts/~').fails(401, 'Unauthorized');
  expect(await says('delete', 'clients', '--all')).toBe('client.id.vestibule.org "app" deleted\n');
});

test('api-resources says what the service says, of every kind', async () => {
  const rows = (await says('api-resources', '--no-headers'))
    .trim()
    .split('\n')
    .map((line) => line.split(/\s+/));
  expect(rows.map((row) => [row[0], row.at(-1)])).toEqual([
    ['events', 'Event'],
    ['namespaces', 'Namespace'],
    ...kinds.map(({ resource, kind }) => [resource, kind]).sort(),
  ]);
  expect(await says('api-resources', '-o', 'name', '--verbs=create,patch')).toBe(
    kinds
      .filter(({ verbs }) => verbs.includes('create') && verbs.includes('patch'))
      .map(({ resource }) => `${resource}.id.vestibule.org\n`)
      .sort()
      .join(''),
  );
  expect(await says('api-resources', '-o', 'wide')).toMatch(/^NAME .* VERBS +CATEGORIES\n/);
});

test('wrong usage ends with 2, and help with 0', async () => {
  const wrong: [string[], RegExp][] = [
    [['get'], /the type of object is missing/],
    [['get', 'group/alpha', 'beta'], /TYPE cannot be given separately/],
    [['get', 'group/'], /TYPE\/NAME/],
    [['delete', 'sessions', '.'], /"." is not a name/],
    [['delete', 'sessions/..'], /".." is not a name/],
    [['get', 'groups', ''], /"" is not a name/],
    [['get', 'groups', '-o', 'xml'], /-o xml: unknown format; known are wide, json, yaml, name$/m],
    [['get', 'groups', 'alpha', '-l', 'a=b'], /leave out the names/],
    [['get', 'groups', '--limit', 'x'], /--limit takes a number/],
    [['get', 'groups', '--bogus'], /unknown flag: --bogus$/m],
    [['get', 'groups', '--ouptut=json'], /unknown flag: --ouptut; did you mean --output\?/],
    [['serv'], /unknown subcommand "serv"; did you mean serve\?/],
    [['nothing-like-it'], /unknown subcommand "nothing-like-it": vestibule help/],
    [['serve', '--prt', '1'], /--prt is not a setting; did you mean --port\?/],
    [['watch', 'groups', 'alpha', 'beta'], /one object/],
    [['watch', 'groups,policies'], /one type/],
    [['patch', 'group', 'alpha'], /-p PATCH/],
    [['patch', 'group', 'alpha', '-p', '{', '--type=merge'], /neither JSON nor YAML/],
    [['patch', 'groups', '-p', '{}'], /name of an object/],
    [['patch', 'group', 'alpha', '-p', '{}', '--type=x'], /--type must be merge/],
    [['patch', 'group', 'alpha', '-p', '{}', '--dry-run=client'], /server or none/],
    [['delete', 'groups'], /names of objects/],
    [['delete', 'group', 'alpha', '--all'], /either names/],
    [['get', 'groups', '--server', 'http://id.example.com'], /must be https/],
    [['get', 'groups', '--server', 'x'], /must be a URL/],
    [['completion', 'csh'], /bash\|zsh\|fish/],
    [['help', 'bogus'], /unknown subcommand "bogus"/],
  ];
  for (const [args, message] of wrong) {
    expectFor(args, await run(...args)).toEqual({
      code: 2,
      out: '',
      error: expect.stringMatching(message),
    });
  }
  expect(await says('help', 'get')).toMatch(
    /^vestibule get TYPE \[NAME\.\.\.\] \[flags\]\n[^]*-o, --output FORMAT +json/,
  );
  for (const word of ['get', 'serve', 'patch']) {
    expect(await says(word, '--help')).toBe(await says('help', word));
  }
  expect(await says('--version')).toBe(await says('version'));
  expect(await says('help')).toMatch(/^vestibule serve[^]*vestibule api-resources/);
});

test('what steers a terminal is not printed raw, and tokens are not printed', async () => {
  const evil = '\u001b]0;x\u0007\u202e';
  const answers: Record<string, unknown> = {
    '/api': { kind: 'APIGroupDiscoveryList', metadata: {}, items: [] },
    '/apis': {
      kind: 'APIGroupDiscoveryList',
      metadata: {},
      items: [
        {
          metadata: { name: 'g' },
          versions: [
            {
              version: 'v1',
              resources: [
                {
                  resource: 'things',
                  responseKind: { group: 'g', version: 'v1', kind: 'Thing' },
                  scope: 'Cluster',
                  singularResource: 'thing',
                  verbs: ['get'],
                  shortNames: [evil],
                },
              ],
            },
          ],
        },
      ],
    },
    '/apis/g/v1/things/table': {
      kind: 'Table',
      metadata: {},
      columnDefinitions: [{ name: `Na${evil}me`, priority: 0 }],
      rows: [{ cells: [`a${evil}\nb`], object: { metadata: { name: 'a' } } }],
    },
    '/apis/g/v1/things/whole': {
      kind: 'Thing',
      apiVersion: 'g/v1',
      metadata: { name: `a${evil}` },
      spec: { text: evil },
    },
  };
  const other = createServer(({ url, headers: { accept } }, response) => {
    const answer =
      answers[
        url === '/apis/g/v1/things/x'
          ? `/apis/g/v1/things/${accept!.includes('Table') ? 'table' : 'whole'}`
          : url!.split('?')[0]!
      ];
    response
      .writeHead(answer ? 200 : 404, { 'content-type': 'application/json' })
      .end(JSON.stringify(answer ?? { kind: 'Status', message: evil, reason: evil }));
  });
  await new Promise<void>((resolve) => {
    other.listen(0, '127.0.0.1', resolve);
  });
  const asked = (...args: string[]) =>
    run(...args, '--server', `http://127.0.0.1:${(other.address() as AddressInfo).port}`);
  const all = [
    await asked('get', 'things', 'x'),
    await asked('api-resources'),
    await asked('get', 'things', 'y'),
    await asked('get', 'things', 'x', '-o', 'name'),
    await asked('get', 'things', 'x', '-o', 'json'),
    await asked('get', 'things', 'x', '-o', 'yaml'),
  ];
  other.close();
  for (const { out, error } of all) {
    expect(out + error).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  }
  expect(all[0]!.out).toBe('NA\ufffd]0;X\ufffd\ufffdME\na\ufffd]0;x\ufffd\ufffd...\n');
  expect([JSON.parse(all[4]!.out).spec.text, parse(all[5]!.out).spec.text]).toEqual([evil, evil]);
  const {
    contexts: {
      test: { accessToken },
    },
  } = JSON.parse(readFileSync(operator!.VESTIBULE_CONTEXTS!, 'utf8'));
  for (const args of [
    ['get', 'accounts', '-o', 'json'],
    ['whoami'],
    ['kubeconfig'],
    ['get', 'account', 'x'],
  ]) {
    const { out, error } = await run(...args);
    expect(out + error).not.toContain(accessToken);
  }
});
