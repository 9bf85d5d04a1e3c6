import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import { toolProgram } from '../support/cluster/tool-program.js';
import { authenticated, signedInByPasskey } from '../support/people/passkeys.js';
import { begin, mailTo, signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../support/service.js';

jest.setTimeout(900_000);

const folder = join(import.meta.dirname, 'schemathesis');

const program = toolProgram('schemathesis');
const withSchemathesis = program === undefined ? test.skip : test;

let service: TestService;
let objects: string;
beforeAll(async () => {
  service = await startTest({
    flags: ['--operators', 'op@example.test', '--limit-factor', '100000'],
  });
  for (const name of ['app', 'demo']) await createClient(service, name);
  objects = join(temporary(), 'objects.json');
  writeFileSync(objects, JSON.stringify(await createObjects()));
});
afterAll(stopAll);

const ask = (group: string) => ({
  spec: { group, reason: 'Why.', until: toTimestamp(Date.now() + 86_400_000) },
});

const audience = (name: string) => ({
  metadata: { name },
  spec: {
    identifier: `https://${name}.example.test`,
    displayName: 'An API',
    scopes: [{ name: 'read', title: 'Read', description: 'Reads.' }],
  },
});

/** New objects of the kinds that an operator creates. */
const drafts = {
  accounts: { metadata: { generateName: 'x' }, spec: { email: 'created-NUMBER@example.test' } },
  clients: {
    metadata: { name: 'created-NUMBER' },
    spec: { displayName: 'Created', type: 'Public', redirectURIs: ['https://a.example.test/'] },
  },
  accessrequests: ask('created-NUMBER'),
  audiences: audience('created-NUMBER'),
  groups: { metadata: { name: 'created-NUMBER' }, spec: { displayName: 'Created' } },
  invitations: { metadata: { name: 'created-NUMBER' }, spec: { email: 'in-NUMBER@example.test' } },
};

/** Fills the service with objects of every kind and returns what hooks.py reads. */
async function createObjects(): Promise<object> {
  const { tab: operator, account } = await signedInByPasskey(service, 'op@example.test');
  await operator.post('accounts/~/recovery', { spec: {} }).is(201);
  await operator
    .post('groups', { metadata: { name: 'staff' }, spec: { displayName: 'Staff' } })
    .is(201);
  await operator
    .post('claimsproviders', {
      metadata: { name: 'people' },
      spec: {
        displayName: 'People',
        reviewURI: 'http://localhost:9/claims',
        scopes: [
          {
            name: 'team',
            title: 'Team',
            description: 'Your team.',
            claims: [{ name: 'team', title: 'Team', type: 'string' }],
          },
        ],
      },
    })
    .is(201);
  await operator.post('audiences', audience('billing')).is(201);
  for (const person of ['ada', 'ben']) {
    const { tab } = await signIn(service, `${person}@example.test`);
    for (const group of ['staff', 'crew']) await tab.post('accessrequests', ask(group)).is(201);
  }
  await operator
    .post('invitations', { metadata: { name: 'kim' }, spec: { email: 'kim@example.test' } })
    .is(201);
  await mailTo(service, 'kim@example.test');
  const begun = [await begin(service), await authenticated(service, 'eve@example.test')];
  const names: Record<string, string[]> = {};
  for (const plural of await plurals()) {
    names[plural] = await namesOf(operator, plural, [account, 'vestibule', 'app']);
  }
  names.interactions = begun.map(({ name }) => name);
  return {
    service: service.baseURL,
    names,
    drafts,
    selectors: { labelSelector: 'team=a,tier notin (b)', fieldSelector: 'metadata.name!=none' },
    cookies: {
      operator: cookieOf(operator),
      ...Object.fromEntries(begun.map(({ name, tab }) => [name, cookieOf(tab)])),
    },
  };
}

const cookieOf = (tab: Tab): string =>
  tab.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');

async function plurals(): Promise<string[]> {
  const { body } = await service.tab().get('/api/v1beta1').is(200);
  return body.resources
    .map(({ name }: { name: string }) => name)
    .filter((one: string) => !one.includes('/'));
}

/** The names of the objects of a kind that the run may change; all if it may change none. */
async function namesOf(operator: Tab, plural: string, kept: string[]): Promise<string[]> {
  const { body } = await operator.get(plural);
  const all: string[] = (body.items ?? []).map(({ metadata }: any) => metadata.name);
  const free = all.filter((name) => !kept.includes(name) && !name.endsWith('-vestibule'));
  return free.length === 0 ? all : free;
}

/** Runs schemathesis in an empty folder; the exit code is 0 if it found no failure. */
function schemathesis(): Promise<{ code: unknown; output: string }> {
  const options = [
    '--config-file',
    join(folder, 'schemathesis.toml'),
    'run',
    `${service.baseURL}/api/openapi/v3`,
  ];
  const env = {
    ...process.env,
    SCHEMATHESIS_HOOKS: 'hooks',
    PYTHONPATH: folder,
    PYTHONDONTWRITEBYTECODE: '1',
    OBJECTS: objects,
  };
  return new Promise((resolve) => {
    execFile(
      program!,
      options,
      { cwd: temporary(), maxBuffer: 1 << 28, env },
      (error, stdout, stderr) => resolve({ code: error?.code ?? 0, output: stdout + stderr }),
    );
  });
}

withSchemathesis('schemathesis finds no failure in the OpenAPI document', async () => {
  const { code, output } = await schemathesis();
  expect({ code, output: code === 0 ? '' : output.slice(-20_000) }).toEqual({
    code: 0,
    output: '',
  });
  const { tested } = /Tested: (?<tested>\d+)/.exec(output)!.groups!;
  expect(Number(tested)).toBeGreaterThan(90);
});
