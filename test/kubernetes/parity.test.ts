import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from '@jest/globals';
import { type Cluster, eachKubectl, openKubernetes } from '../support/cluster/cluster.js';
import type { Kubectl } from '../support/cluster/kubectl.js';
import { keep, vestibule } from '../support/command.js';
import { expectFor } from '../support/expect-for.js';
import { stopAll, temporary } from '../support/service.js';

let cluster: Cluster;
let operator: { VESTIBULE_CONTEXTS: string };
beforeAll(async () => {
  cluster = await openKubernetes();
  for (const [name, members] of [
    ['alpha', ['x@example.test']],
    ['a-rather-long-name', []],
  ] as const) {
    await cluster.operator
      .post('groups', {
        metadata: { name, labels: { team: 'blue', a: 'b' } },
        spec: { displayName: `<The> & “${name}”`, members },
      })
      .is(201);
  }
  operator = keep(cluster.service.baseURL, cluster.tokens.operator);
});
afterAll(async () => {
  cluster?.stop();
  await stopAll();
});

/** Ages move on between two commands. */
const ageless = (text: string): string =>
  text.replaceAll(/(?<= )(\d+[smhdy](?:\d+[smhdy])?|AGE) *(?=\n| )/g, 'AGE');

async function same(
  args: readonly string[],
  kubectl: Kubectl,
  environment: NodeJS.ProcessEnv,
  more: readonly string[] = [],
): Promise<void> {
  const [theirs, ours] = [
    await kubectl.run(args),
    await vestibule([...args, ...more], environment),
  ];
  expectFor(args, [ours.code, ageless(ours.out), ours.error]).toEqual([
    theirs.code,
    ageless(theirs.out),
    theirs.error,
  ]);
}

eachKubectl((found) => {
  let kubectl: Kubectl;
  beforeAll(() => {
    kubectl = cluster.kubectl(found);
  });

  test('prints what kubectl prints, byte for byte except for ages, and ends as it does', async () => {
    const commands = [
      ...['groups', 'policies', 'accounts', 'clients', 'sessions', 'mockmessages'].flatMap((type) =>
        [[], ['-o', 'wide'], ['-o', 'name'], ['-o', 'json']].map((more) => ['get', type, ...more]),
      ),
      ['get', 'groups', 'alpha', '-o', 'json'],
      ['get', 'groups', 'alpha', '-o', 'yaml'],
      ['get', 'groups', 'alpha', 'absent'],
      ['get', 'groups', 'absent', '-o', 'json'],
      ['get', 'group/alpha', 'policy/p-1'],
      ['get', 'groups,policies', '--no-headers'],
      ['get', 'groups', '--no-headers'],
      ['get', 'groups', '--show-labels'],
      ['get', 'groups', '-l', 'team=none'],
      ['get', 'groups', '-l', 'a=b', '--chunk-size=1'],
      ['get', 'groups', 'absent', '--ignore-not-found'],
      ['api-resources'],
      ['api-resources', '-o', 'wide'],
      ['api-resources', '-o', 'name'],
      ['api-resources', '--verbs=create'],
      ['patch', 'group', 'alpha', '--type=merge', '-p', '{}'],
      ['delete', 'group', 'absent'],
      ['delete', 'group', 'alpha', '--dry-run=server'],
    ];
    for (const args of commands) await same(args, kubectl, operator);
  });

  test('is refused as kubectl is, without credentials and as another person', async () => {
    const file = join(temporary(), 'contexts');
    const none = cluster.kubectl(found, 'anonymous', cluster.service.url);
    writeFileSync(file, '{"contexts":{}}');
    for (const args of [
      ['get', 'policies'],
      ['get', 'policies', '-o', 'json'],
    ]) {
      await same(args, none, { VESTIBULE_CONTEXTS: file }, ['--server', cluster.service.url]);
    }
    const person = keep(cluster.service.baseURL, cluster.tokens.person);
    const kubectlOfPerson = cluster.kubectl(found, 'person');
    for (const args of [
      ['get', 'groups'],
      ['get', 'group', 'alpha'],
      ['get', 'accounts', '-o', 'wide'],
      ['delete', 'group', 'alpha'],
    ]) {
      await same(args, kubectlOfPerson, person);
    }
  });
}, 'newest');
