import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Cluster, eachKubectl, openKubernetes } from '../support/cluster/cluster.js';
import type { Kubectl, Ran } from '../support/cluster/kubectl.js';
import { stopAll } from '../support/service.js';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await openKubernetes();
});
afterAll(async () => {
  cluster?.stop();
  await stopAll();
});

const apiVersion = 'id.vestibule.org/v1beta1';
const group = (name: string, spec: object, metadata: object = {}) => ({
  apiVersion,
  kind: 'Group',
  metadata: { name, ...metadata },
  spec,
});

eachKubectl((found) => {
  const prefix = `a${found.version.replaceAll('.', '-')}`;
  let operator: Kubectl;
  beforeAll(() => {
    operator = cluster.kubectl(found);
  });
  const run = (args: string[], ...objects: object[]): Promise<Ran> =>
    operator.run([
      ...args,
      '-f',
      operator.file(
        'objects.yaml',
        objects.map((object) => JSON.stringify(object)).join('\n---\n'),
      ),
    ]);
  const apply = async (flags: string[], ...objects: object[]): Promise<string> => {
    const { code, out, error } = await run(['apply', '--server-side', ...flags], ...objects);
    expect([code, error]).toEqual([0, '']);
    return out;
  };
  const live = async (name: string): Promise<any> =>
    JSON.parse(
      await operator.says('get', 'group', name, '-o', 'json', '--show-managed-fields=true'),
    );
  const managersOf = (object: any): string[] =>
    object.metadata.managedFields.map(
      (managedField: any) => `${managedField.manager} ${managedField.operation}`,
    );

  test('creates, changes, removes what is no longer applied, and keeps what others set', async () => {
    const name = `${prefix}-red`;
    const applied = `group.id.vestibule.org/${name} serverside-applied\n`;
    const first = group(name, { displayName: 'Red', members: ['a@example.test'] });
    expect(await apply([], first)).toBe(applied);
    const created = await live(name);
    expect(managersOf(created)).toEqual(['kubectl Apply']);
    expect(await apply([], first)).toBe(applied);
    expect(await live(name)).toEqual(created);
    await operator.says('label', 'group', name, 'team=red');
    await apply([], group(name, { displayName: 'Crimson' }));
    const changed = await live(name);
    expect(changed.spec).toEqual({ displayName: 'Crimson', members: [] });
    expect(changed.metadata.labels).toEqual({ team: 'red' });
    expect(managersOf(changed)).toEqual(['kubectl Apply', 'kubectl-label Update']);
  });

  test('several managers share an object; --force-conflicts overrides the other', async () => {
    const name = `${prefix}-shared`;
    await apply(['--field-manager=flux'], group(name, { displayName: 'A' }));
    const other = group(name, { displayName: 'B', members: ['a@example.test'] });
    const refused = await run(['apply', '--server-side', '--field-manager=argo'], other);
    expect(refused.code).toBe(1);
    expect(refused.error).toMatch(
      /Apply failed with 1 conflict: conflict with "flux": \.spec\.displayName[^]*--force-conflicts/,
    );
    await apply(['--field-manager=argo', '--force-conflicts'], other);
    const shared = await live(name);
    expect([shared.spec.displayName, managersOf(shared)]).toEqual(['B', ['argo Apply']]);
  });

  test('continues after a client-side apply, which goes on afterwards', async () => {
    const name = `${prefix}-migrated`;
    const before = group(name, { displayName: 'A', members: ['a@example.test'] });
    expect((await run(['apply'], before)).code).toBe(0);
    expect((await run(['apply', '--server-side'], group(name, { displayName: 'B' }))).code).toBe(0);
    const after = await live(name);
    expect(after.spec).toEqual({ displayName: 'B', members: [] });
    expect(managersOf(after)).toContain('kubectl Apply'); // their order is that of seconds
    expect(await run(['apply'], group(name, { displayName: 'C' }))).toMatchObject({
      code: 0,
      out: `group.id.vestibule.org/${name} configured\n`,
    });
    expect((await live(name)).spec.displayName).toBe('C');
  });

  test('tries without a trace, and shows the difference', async () => {
    const name = `${prefix}-tried`;
    await apply([], group(name, { displayName: 'A' }));
    const before = await live(name);
    const different = group(name, { displayName: 'B' });
    expect(await apply(['--dry-run=server'], different)).toBe(
      `group.id.vestibule.org/${name} serverside-applied (server dry run)\n`,
    );
    const diff = await run(['diff', '--server-side'], different);
    expect([diff.code, diff.error]).toEqual([1, '']);
    expect(diff.out).toMatch(/^-  displayName: A$/m);
    expect(diff.out).toMatch(/^\+  displayName: B$/m);
    expect((await run(['diff', '--server-side'], group(name, { displayName: 'A' }))).code).toBe(0);
    expect(await apply(['--dry-run=server'], group(`${name}-absent`, { displayName: 'A' }))).toBe(
      `group.id.vestibule.org/${name}-absent serverside-applied (server dry run)\n`,
    );
    expect(await operator.fails('get', 'group', `${name}-absent`)).toContain('NotFound');
    expect(await live(name)).toEqual(before);
  });

  test('refuses an unknown field, and hides the owners unless asked for', async () => {
    const name = `${prefix}-odd`;
    const odd = await run(
      ['apply', '--server-side', '--validate=ignore'],
      group(name, { displayName: 'A', bogus: 1 }),
    );
    expect([odd.code, odd.error]).toEqual([
      1,
      expect.stringContaining('field not declared in schema: .spec.bogus'),
    ]);
    await apply([], group(name, { displayName: 'A' }));
    expect(await operator.says('get', 'group', name, '-o', 'yaml')).not.toContain('managedFields');
    expect(
      await operator.says('get', 'group', name, '-o', 'yaml', '--show-managed-fields'),
    ).toContain('f:displayName: {}');
  });
});
