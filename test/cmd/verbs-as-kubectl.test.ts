import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { type Cluster, eachKubectl, openKubernetes } from '../support/cluster/cluster.js';
import { keep, vestibule } from '../support/command.js';
import { stopAll, temporary } from '../support/service.js';

/** Each command is a process of its own, on a machine that may be busy. */
jest.setTimeout(120_000);

let cluster: Cluster;
let environment: NodeJS.ProcessEnv;
beforeAll(async () => {
  cluster = await openKubernetes();
  environment = { ...keep(cluster.service.baseURL, cluster.tokens.operator) };
});
afterAll(async () => {
  cluster?.stop();
  await stopAll();
});

const objects = [
  { kind: 'Group', name: 'one', spec: { displayName: 'One' } },
  {
    kind: 'Client',
    name: 'two',
    spec: { displayName: 'Two', redirectURIs: ['https://app.example.test/callback'] },
  },
  {
    kind: 'Audience',
    name: 'three',
    spec: {
      displayName: 'Three',
      identifier: 'https://api.example.test',
      scopes: [{ name: 'read', title: 'Reads', description: 'Reads all' }],
    },
  },
].map(({ name, ...one }) => ({
  apiVersion: 'id.vestibule.org/v1beta1',
  ...one,
  metadata: { name },
}));
const file = join(temporary(), 'objects.yaml');
writeFileSync(file, objects.map((object) => `---\n${JSON.stringify(object)}\n`).join(''));
const named = objects.map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`);

const group = { ...objects[0], metadata: { name: 'form' } };
/** Files that kubectl takes, each with a Group. */
const forms: Readonly<Record<string, string>> = {
  'a List': JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [group] }),
  'an alias': [
    'apiVersion: id.vestibule.org/v1beta1',
    'kind: Group',
    'metadata: { name: form, labels: &labels { a: b }, annotations: *labels }',
    'spec: { displayName: One }',
  ].join('\n'),
  'a byte order mark': `\ufeff${JSON.stringify(group)}`,
  'an object of a foreign kind beside others': [
    JSON.stringify(group),
    JSON.stringify({ apiVersion: 'example.org/v1', kind: 'Foreign', metadata: { name: 'x' } }),
  ]
    .map((one) => `---\n${one}\n`)
    .join(''),
};
const label = (value: string) => ['--type=merge', '-p', `{"metadata":{"labels":{"a":"${value}"}}}`];

/** In this order, each on what the one before left. (kubectl does not say that a patch was a dry run.) */
const commands: readonly string[][] = [
  ['create', '-f', file, '--dry-run=server'],
  ['create', '-f', file, '--dry-run=server', '-o', 'name'],
  ['create', '-f', file],
  ['get', ...named, '-o', 'name'],
  ['patch', ...named, ...label('b')],
  ['patch', ...named, ...label('b')],
  ['patch', ...named, ...label('c'), '-o', 'name'],
  ['delete', ...named, '--dry-run=server'],
  ['delete', ...named, '--dry-run=server', '-o', 'name'],
  ['delete', named[0]!, '-o', 'name'],
  ['delete', ...named.slice(1)],
];

eachKubectl((found) => {
  test('every verb prints what kubectl prints', async () => {
    const kubectl = cluster.kubectl(found);
    const theirs: unknown[] = [];
    for (const args of commands) theirs.push([args, await kubectl.run(args)]);
    const ours: unknown[] = [];
    for (const args of commands) ours.push([args, await vestibule(args, environment)]);
    expect(ours).toEqual(theirs);
  });

  test.each(Object.entries(forms))('create takes %s as kubectl does', async (_, text) => {
    const kubectl = cluster.kubectl(found);
    const path = kubectl.file('form.yaml', text);
    const answers: unknown[] = [];
    for (const run of [
      (args: string[]) => kubectl.run(args),
      (args: string[]) => vestibule(args, environment),
    ]) {
      const { code, out, error } = await run(['create', '-f', path]);
      answers.push([code, out, error.includes('Foreign')]);
      for (const name of out.matchAll(/^(\S+) created$/gm)) await kubectl.says('delete', name[1]!);
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[1]).toEqual([
      text.includes('Foreign') ? 1 : 0,
      expect.stringContaining('group.id.vestibule.org/form created'),
      text.includes('Foreign'),
    ]);
  });

  test('an object that is refused does not stop those after it', async () => {
    const kubectl = cluster.kubectl(found);
    const answers: unknown[] = [];
    for (const run of [
      (args: string[]) => kubectl.run(args),
      (args: string[]) => vestibule(args, environment),
    ]) {
      await kubectl.says('create', '-f', kubectl.file('first.yaml', JSON.stringify(objects[0])));
      const { code, out } = await run(['create', '-f', file]);
      answers.push([code, out]);
      await kubectl.says('delete', ...named);
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[1]).toEqual([1, expect.stringMatching(/two created\n.*three created\n$/)]);
  });
});
