import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Cluster, eachKubectl, openKubernetes } from '../support/cluster/cluster.js';
import type { Kubectl } from '../support/cluster/kubectl.js';
import { expectFor } from '../support/expect-for.js';
import { stopAll } from '../support/service.js';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await openKubernetes();
  for (const name of ['alpha', 'beta']) {
    await cluster.operator
      .post('groups', {
        metadata: { name },
        spec: { displayName: `The ${name}`, members: name === 'beta' ? ['x@example.test'] : [] },
      })
      .is(201);
  }
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

  test('prints the columns that the service declares, wide ones on demand', async () => {
    expect(await operator.says('get', 'groups', 'alpha', 'beta')).toMatch(
      /^NAME +DISPLAY-NAME +MEMBERS +AGE\nalpha +The alpha +0 +\S+\nbeta +The beta +1 +\S+\n$/,
    );
    expect(await operator.says('get', 'groups')).toMatch(
      /^NAME +DISPLAY-NAME +MEMBERS +AGE\n[^]*alpha +The alpha +0 +\d\S*\n/,
    );
    expect(await operator.says('get', 'policies')).toMatch(
      /^NAME +MODE +IN-FORCE +RULES +AGE\np-1 +Enforce +true +\d+ +\S+\n$/,
    );
    expect(await operator.says('get', 'policies', '-o', 'wide')).toMatch(
      /^NAME +MODE +IN-FORCE +RULES +AUTHOR +AGE\np-1 +Enforce +true +\d+ +vestibule +\S+\n$/,
    );
    expect(await operator.says('get', 'acct')).toMatch(/ada@example\.test +false +0 /);
    expect(
      await operator.says('get', 'groups', '--sort-by=.spec.displayName', '--no-headers'),
    ).toMatch(/^[^]*alpha[^]*beta /);
    expect(
      (await operator.says('get', 'groups', '--chunk-size=1', '-o', 'name'))
        .split('\n')
        .filter((line) => /alpha|beta/.test(line)),
    ).toEqual(['group.id.vestibule.org/alpha', 'group.id.vestibule.org/beta']);
    expect(await operator.says('get', 'identity', '-o', 'name', '--ignore-not-found')).toContain(
      'policy.id.vestibule.org/p-1',
    );
  });

  test('follows one object with a header and each change', async () => {
    const name = `followed-${found.version.replaceAll('.', '-')}`;
    await cluster.operator
      .post('groups', { metadata: { name }, spec: { displayName: 'First' } })
      .is(201);
    for (const args of [
      ['get', 'groups', name, '-w'],
      ['get', 'groups', '-w', '--field-selector', `metadata.name=${name}`],
    ]) {
      await cluster.operator.patch(`groups/${name}`, { spec: { displayName: 'First' } }).is(200);
      const follower = operator.follow(...args);
      await follower.until((text) => text.includes('First'));
      for (const displayName of ['Second', 'Third']) {
        await cluster.operator.patch(`groups/${name}`, { spec: { displayName } }).is(200);
        await follower.until((text) => text.includes(displayName));
      }
      await follower.stop();
      const lines = follower.text.trim().split('\n');
      expectFor(args.join(' '), [
        lines[0]!.split(/\s+/)[0],
        lines.slice(1).map((line) => line.split(/\s+/).slice(0, 2)),
      ]).toEqual(['NAME', ['First', 'Second', 'Third'].map((display) => [name, display])]);
    }
  });

  test('shows a person what is theirs, and says what is not', async () => {
    const person = cluster.kubectl(found, 'person');
    expect(await person.says('get', 'accounts', '--no-headers')).toMatch(
      /^\S+ +ada@example\.test +false +0 +<none> +\S+\n$/,
    );
    expect(await person.fails('get', 'groups')).toMatch(
      /^Error from server \(Forbidden\): groups\.id\.vestibule\.org is forbidden: User "\w+" cannot list resource "groups" in API group "id\.vestibule\.org" at the cluster scope: No rule permits it\. It would be permitted in group operators\.\n$/,
    );
    expect(await person.fails('get', 'groups', 'alpha')).toBe(
      'Error from server (NotFound): groups.id.vestibule.org "alpha" not found\n',
    );
  });

  test('describes one', async () => {
    expect((await operator.run(['describe', 'group', 'beta'])).out).toMatch(
      /Display Name: +The beta\n/,
    );
  });
});
