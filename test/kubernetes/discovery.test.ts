import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { kinds } from '../../kinds/index.js';
import { type Cluster, eachKubectl, openKubernetes } from '../support/cluster/cluster.js';
import type { Kubectl } from '../support/cluster/kubectl.js';
import { expectFor } from '../support/expect-for.js';
import { stopAll } from '../support/service.js';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await openKubernetes();
});
afterAll(async () => {
  cluster?.stop();
  await stopAll();
});

eachKubectl((found) => {
  let operator: Kubectl;
  beforeAll(() => {
    operator = cluster.kubectl(found);
  });

  test('lists each kind once, in one version, without a word of complaint', async () => {
    const rows = (await operator.says('api-resources', '--no-headers'))
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/));
    expect(rows.map((row) => row.at(-1)).sort()).toEqual(
      ['Event', 'Namespace', ...kinds.map(({ kind }) => kind)].sort(),
    );
    expect(
      rows
        .filter((row) => !['Event', 'Namespace'].includes(row.at(-1)!))
        .every((row) => row.at(-3) === 'id.vestibule.org/v1beta1' && row.at(-2) === 'false'),
    ).toBe(true);
    expect(await operator.says('get', 'namespaces', '-o', 'name')).toBe('namespace/default\n');
    expect((await operator.run(['events'])).code).toBe(0);
    expect(await operator.says('api-versions')).toBe(
      'id.vestibule.org/v1alpha1\nid.vestibule.org/v1beta1\nv1\n',
    );
    expect(await operator.says('api-resources', '--categories=identity', '-o', 'name')).toContain(
      'groups.id.vestibule.org',
    );
    expect(await operator.says('api-resources', '--categories=all', '-o', 'name')).toBe('');
    expect(await operator.says('api-resources', '-o', 'wide')).toContain(
      'create,delete,get,list,patch,update,watch',
    );
  });

  test('knows the version of the service', async () => {
    expect((await operator.run(['version'])).out).toMatch(
      /Server Version:.*v1\.33\.0\+vestibule\./,
    );
  });

  test('explains every kind, by short name and below, in our own words', async () => {
    for (const kind of kinds) {
      const said = await operator.says('explain', kind.resource);
      expectFor(kind.kind, said.replaceAll(/\s+/g, ' ')).toEqual(
        expect.stringContaining(
          `KIND: ${kind.kind} VERSION: v1beta1 DESCRIPTION: ${kind.description.replaceAll(/\s+/g, ' ')}`,
        ),
      );
      expect(said).not.toContain('<no description>');
    }
    expect(await operator.says('explain', 'pk.spec.displayName')).toMatch(
      /FIELD: displayName <string>/,
    );
    expect(await operator.says('explain', 'interaction.status')).toContain('emailChallenge');
    expect(await operator.says('explain', 'interaction.status.emailChallenge.triesLeft')).toContain(
      '<integer>',
    );
    expect(await operator.says('explain', 'policies.id.vestibule.org', '--recursive')).toMatch(
      /inForce\s+<boolean>/,
    );
    expect(await operator.says('explain', 'group.metadata')).toContain('resourceVersion');
    expect(await operator.says('explain', 'group')).not.toContain('enum:');
    expect(await operator.run(['explain', 'group.spec.bogus'])).toMatchObject({
      code: 1,
      error: expect.stringContaining('"bogus" does not exist'),
    });
  });

  test('finds objects by every spelling of their kind', async () => {
    const name = `spelled-${found.version.replaceAll('.', '-')}`;
    await cluster.operator
      .post('groups', { metadata: { name }, spec: { displayName: 'Spelled' } })
      .is(201);
    for (const spelling of [
      'groups',
      'group',
      'Group',
      'groups.id.vestibule.org',
      'groups.v1beta1.id.vestibule.org',
    ]) {
      expectFor(spelling, await operator.says('get', spelling, name, '-o', 'name')).toEqual(
        `group.id.vestibule.org/${name}\n`,
      );
    }
    expect(
      await operator.says(
        'get',
        `group/${name}`,
        '-o',
        'jsonpath={.apiVersion} {.spec.displayName}',
      ),
    ).toBe('id.vestibule.org/v1beta1 Spelled');
    for (const more of [[], ['-o', 'name'], ['-w']]) {
      expect(await operator.fails('get', 'groups', 'absent', ...more)).toBe(
        'Error from server (NotFound): groups.id.vestibule.org "absent" not found\n',
      );
    }
    expect(await operator.fails('get', 'pods')).toContain(
      `the server doesn't have a resource type "pods"`,
    );
  });
});
