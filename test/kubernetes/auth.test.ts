import { afterAll, beforeAll, expect, test } from '@jest/globals';
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
  let person: Kubectl;
  beforeAll(() => {
    [operator, person] = [cluster.kubectl(found), cluster.kubectl(found, 'person')];
  });

  test('asks who it is', async () => {
    const name = (await cluster.person.get('accounts/~').is(200)).body.metadata.name as string;
    expect(
      JSON.parse(await person.says('auth', 'whoami', '-o', 'json')).status.userInfo,
    ).toMatchObject({ username: name, groups: ['system:authenticated'] });
    expect(await operator.says('auth', 'whoami')).toMatch(
      /Groups +\[operators system:authenticated\]/,
    );
  });

  test('asks what it may do, and exits by the answer', async () => {
    for (const [args, yes, no] of [
      [['create', 'policies'], operator, person],
      [['list', 'groups'], operator, person],
      [['delete', 'groups/absent'], operator, person],
      [['get', 'policies/p-1'], person, undefined],
      [['list', 'sessions'], person, undefined],
      [['list', 'namespaces'], person, undefined],
      [['watch', 'events'], operator, undefined],
      [['get', '/version'], person, undefined],
    ] as const) {
      expectFor(args, await yes.run(['auth', 'can-i', ...args])).toEqual({
        code: 0,
        out: 'yes\n',
        error: expect.stringMatching(/^(Warning: resource '\w+' is not namespace scoped.*\n*)?$/),
      });
      if (no) {
        expect([args, await no.run(['auth', 'can-i', ...args])]).toMatchObject([
          args,
          { code: 1, out: expect.stringMatching(/^no/) },
        ]);
      }
    }
    expect(
      (await operator.run(['auth', 'can-i', 'create', 'accounts', '--subresource=disable', '-q']))
        .code,
    ).toBe(0);
  });

  test('lists what it may do', async () => {
    const { code, out, error } = await operator.run(['auth', 'can-i', '--list']);
    expect([code, error]).toEqual([
      0,
      'Warning: the list may be incomplete: policy may decide otherwise about single objects\n',
    ]);
    expect(out).toMatch(
      /^groups\.id\.vestibule\.org +\[\] +\[\] +\[get list watch create patch update delete\]$/m,
    );
    expect(out).toMatch(/^ +\[\/apis\/\*\] +\[\] +\[get\]$/m);
  });

  test('may impersonate no one, and is unauthorized without a good token', async () => {
    expect(await operator.fails('get', 'groups', '--as=root')).toContain(
      'impersonation is not served',
    );
    expect(await operator.fails('get', 'groups', '--token=bad')).toMatch(
      /must be logged in|Unauthorized/,
    );
  });

  test('keeps its token to itself where there is no TLS, and reads what anyone may', async () => {
    const plainly = cluster.kubectl(found, 'operator', cluster.service.url);
    expect(await plainly.says('get', 'policies', '-o', 'name')).toBe(
      'policy.id.vestibule.org/p-1\n',
    );
    expect(await plainly.fails('get', 'groups')).toMatch(/must be logged in|Unauthorized/);
  });
});
