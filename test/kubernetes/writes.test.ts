import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Cluster, eachKubectl, openKubernetes } from '../support/cluster/cluster.js';
import type { Kubectl } from '../support/cluster/kubectl.js';
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
const group = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion,
  kind: 'Group',
  metadata: { name, ...metadata },
  spec: { displayName: 'Sample', ...spec },
});

const listOf = (...items: object[]): object => ({ apiVersion: 'v1', kind: 'List', items });

eachKubectl((found) => {
  const prefix = `w${found.version.replaceAll('.', '-')}`;
  let operator: Kubectl;
  beforeAll(() => {
    operator = cluster.kubectl(found);
  });
  const live = async (name: string): Promise<any> =>
    JSON.parse(await operator.says('get', 'group', name, '-o', 'json'));
  const file = (...objects: object[]): string =>
    operator.file('objects.yaml', objects.map((object) => JSON.stringify(object)).join('\n---\n'));

  test('creates, and says what is not known, as --validate wishes', async () => {
    const name = `${prefix}-created`;
    expect(await operator.says('create', '-f', file(group(name)))).toBe(
      `group.id.vestibule.org/${name} created\n`,
    );
    expect(await operator.fails('create', '-f', file(group(name)))).toContain(
      `(AlreadyExists): error when creating`,
    );
    const odd = file(group(`${prefix}-odd`, { bogus: 1 }));
    expect(await operator.fails('create', '-f', odd)).toMatch(
      /\(BadRequest\): error when creating .*strict decoding error: unknown field "spec\.bogus"/,
    );
    expect(
      await operator.run(['create', '-f', odd, '--validate=warn', '--dry-run=server']),
    ).toMatchObject({ code: 0, error: 'Warning: unknown field "spec.bogus"\n' });
    expect(await operator.says('create', '-f', odd, '--validate=ignore')).toBe(
      `group.id.vestibule.org/${prefix}-odd created\n`,
    );
    expect(
      await operator.says(
        'create',
        '-f',
        file({ ...group(''), metadata: { generateName: `${prefix}-` } }),
      ),
    ).toMatch(new RegExp(`^group\\.id\\.vestibule\\.org/${prefix}-[a-z0-9]{5} created\n$`));
    expect(
      await operator.fails('create', '-f', file(group(`${prefix}-invalid`, { displayName: '' }))),
    ).toContain('spec.displayName: Invalid value');
    expect(
      JSON.parse(
        await operator.says(
          'create',
          '--raw',
          `/apis/${apiVersion}/groups`,
          '-f',
          operator.file('raw.json', JSON.stringify(group(`${prefix}-raw`))),
        ),
      ).metadata.name,
    ).toBe(`${prefix}-raw`);
  });

  test('patches, labels and annotates by merge patch alone', async () => {
    const name = `${prefix}-patched`;
    await operator.says('create', '-f', file(group(name)));
    await operator.says(
      'patch',
      'group',
      name,
      '--type=merge',
      '-p',
      '{"metadata":{"labels":{"a":"b"}},"spec":{"members":["x@example.test"]}}',
    );
    await operator.says(
      'patch',
      'group',
      name,
      '--type=merge',
      '-p',
      '{"metadata":{"labels":{"a":null}},"spec":{"displayName":"Patched"}}',
    );
    const { spec, metadata } = await live(name);
    expect([spec, metadata.labels]).toEqual([
      { displayName: 'Patched', members: ['x@example.test'] },
      undefined,
    ]);
    expect(await operator.says('label', 'group', name, 'c=d')).toBe(
      `group.id.vestibule.org/${name} labeled\n`,
    );
    expect(
      await operator.says(
        'annotate',
        'group',
        name,
        'e/f=g',
        '--resource-version',
        (await live(name)).metadata.resourceVersion,
      ),
    ).toMatch(new RegExp(`^group\\.id\\.vestibule\\.org/${name} annotated?\n$`));
    expect(
      await operator.fails('annotate', 'group', name, 'h=i', '--resource-version=1'),
    ).toContain(
      'the object has been modified; please apply your changes to the latest version and try again',
    );
    expect(await operator.fails('patch', 'group', name, '-p', '{}')).toContain(
      'application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    );
    const json = (...operations: object[]) => [
      'patch',
      'group',
      name,
      '--type=json',
      '-p',
      JSON.stringify(operations),
    ];
    const test = { op: 'test', path: '/metadata/annotations/e~1f', value: 'g' };
    const replace = { op: 'replace', path: '/spec/displayName', value: 'By JSON patch' };
    expect(await operator.says(...json(test, replace))).toBe(
      `group.id.vestibule.org/${name} patched\n`,
    );
    expect((await live(name)).spec.displayName).toBe('By JSON patch');
    expect(await operator.says(...json(test, replace))).toBe(
      `group.id.vestibule.org/${name} patched (no change)\n`,
    );
    expect(await operator.fails(...json({ ...test, value: 'other' }, replace))).toContain(
      'operation 0 (test /metadata/annotations/e~1f): the value differs',
    );
  });

  test('applies: created, unchanged, configured, a field taken away, several at once', async () => {
    const [name, other] = [`${prefix}-applied`, `${prefix}-other`];
    const apply = (...objects: object[]) => operator.says('apply', '-f', file(...objects));
    expect(await apply(group(name, { members: ['x@example.test'] }, { labels: { a: 'b' } }))).toBe(
      `group.id.vestibule.org/${name} created\n`,
    );
    expect(await apply(group(name, { members: ['x@example.test'] }, { labels: { a: 'b' } }))).toBe(
      `group.id.vestibule.org/${name} unchanged\n`,
    );
    expect(await apply(group(name, { displayName: 'Changed', members: ['x@example.test'] }))).toBe(
      `group.id.vestibule.org/${name} configured\n`,
    );
    expect((await live(name)).metadata.labels).toBeUndefined();
    await apply(group(name));
    expect((await live(name)).spec).toEqual({ displayName: 'Sample', members: [] });
    expect(await apply({ apiVersion, kind: 'List', items: [group(name), group(other)] })).toBe(
      `group.id.vestibule.org/${name} unchanged\ngroup.id.vestibule.org/${other} created\n`,
    );
  });

  test('prunes what is no longer applied, among the kinds of --prune-allowlist', async () => {
    const [name, other] = [`${prefix}-kept`, `${prefix}-pruned`];
    const apply = (...names: string[]): Promise<string> =>
      operator.says(
        'apply',
        '--prune',
        '-l',
        `pruned=${prefix}`,
        `--prune-allowlist=${apiVersion}/Group`,
        '-f',
        file(listOf(...names.map((name) => group(name, {}, { labels: { pruned: prefix } })))),
      );
    expect(await apply(name, other)).toBe(
      `group.id.vestibule.org/${name} created\ngroup.id.vestibule.org/${other} created\n`,
    );
    expect(await apply(name)).toBe(
      `group.id.vestibule.org/${name} unchanged\ngroup.id.vestibule.org/${other} pruned\n`,
    );
  });

  test('applies a list that get printed', async () => {
    const [name, other] = [`${prefix}-printed`, `${prefix}-second`];
    const labels = { printed: prefix };
    await operator.says('create', '-f', file(listOf(group(name, {}, { labels }))));
    await operator.says('create', '-f', file(group(other, {}, { labels })));
    const printed = await operator.says('get', 'groups', '-l', `printed=${prefix}`, '-o', 'yaml');
    expect(printed).toMatch(/^apiVersion: v1\n[^]*^kind: List$/m);
    await operator.says('delete', 'groups', '-l', `printed=${prefix}`);
    const again = await operator.run(['create', '-f', '-'], printed);
    expect([again.code, again.out]).toEqual([
      0,
      `group.id.vestibule.org/${name} created\ngroup.id.vestibule.org/${other} created\n`,
    ]);
  });

  test('tries on the server without leaving a trace, and shows the difference', async () => {
    const [name, absent] = [`${prefix}-tried`, `${prefix}-absent`];
    await operator.says('apply', '-f', file(group(name)));
    const before = await live(name);
    const diff = await operator.run([
      'diff',
      '-f',
      file(group(name, { displayName: 'Different' })),
    ]);
    expect([
      diff.code,
      diff.error,
      /^-  displayName: Sample$/m.test(diff.out),
      /^\+  displayName: Different$/m.test(diff.out),
    ]).toEqual([1, '', true, true]);
    expect((await operator.run(['diff', '-f', file(group(name))])).code).toBe(0);
    expect(
      await operator.says(
        'apply',
        '--dry-run=server',
        '-f',
        file(group(name, { displayName: 'Different' })),
      ),
    ).toBe(`group.id.vestibule.org/${name} configured (server dry run)\n`);
    for (const verb of ['create', 'apply']) {
      expect(await operator.says(verb, '--dry-run=server', '-f', file(group(absent)))).toBe(
        `group.id.vestibule.org/${absent} created (server dry run)\n`,
      );
    }
    expect(await operator.run(['delete', 'group', name, '--dry-run=server'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/deleted.*\(server dry run\)/),
    });
    expect(await live(name)).toEqual(before);
    expect(await operator.fails('get', 'group', absent)).toContain('NotFound');
  });

  test('creates what the service names itself, also where the kind takes no patch', async () => {
    const { cedar } = (await cluster.operator.get('policies/p-1').is(200)).body.spec;
    const policy = (spec: object): string =>
      file({ apiVersion, kind: 'Policy', metadata: {}, spec: { cedar, ...spec } });
    expect(await operator.says('create', '--dry-run=server', '-f', policy({}))).toBe(
      'policy.id.vestibule.org/p-2 created (server dry run)\n',
    );
    expect(
      await operator.fails('create', '--dry-run=server', '-f', policy({ bogus: 1 })),
    ).toContain('unknown field "spec.bogus"');
    expect(await operator.fails('create', '-f', policy({ cedar: 'permit' }))).toContain(
      'spec.cedar: Invalid value',
    );
  });

  test('replaces, edits and deletes', async () => {
    const name = `${prefix}-replaced`;
    await operator.says('create', '-f', file(group(name)));
    expect(
      await operator.says('replace', '-f', file(group(name, { displayName: 'Replaced' }))),
    ).toBe(`group.id.vestibule.org/${name} replaced\n`);
    expect(await operator.fails('replace', '-f', file(group(`${prefix}-absent`)))).toContain(
      'NotFound',
    );
    const editor = operator.file(
      'editor.sh',
      '#!/bin/sh\nsed -i "s/displayName: Replaced/displayName: Edited/" "$1"\n',
    );
    expect(
      (await operator.run(['edit', 'group', name], '', { KUBE_EDITOR: `sh ${editor}` })).out,
    ).toBe(`group.id.vestibule.org/${name} edited\n`);
    expect((await live(name)).spec.displayName).toBe('Edited');
    expect(
      (await operator.run(['delete', 'group', name, '--wait=true', '--timeout=20s'])).out,
    ).toMatch(/deleted/);
    expect(await operator.fails('delete', 'group', name)).toContain('NotFound');
  });

  test('waits until the condition is met, or no longer than the timeout', async () => {
    const name = `${prefix}-waited`;
    await operator.says('create', '-f', file(group(name)));
    const met = operator.run(
      ['wait', `group/${name}`, '--for=jsonpath={.spec.displayName}=Ready', '--timeout=20s'],
      '',
      { KUBE_FEATURE_WatchListClient: 'true' },
    );
    await cluster.operator.patch(`groups/${name}`, { spec: { displayName: 'Ready' } }).is(200);
    expect((await met).out).toBe(`group.id.vestibule.org/${name} condition met\n`);
    const gone = operator.run(['wait', `group/${name}`, '--for=delete', '--timeout=20s']);
    await cluster.operator.delete(`groups/${name}`).is(200);
    expect((await gone).code).toBe(0);
    await operator.says('create', '-f', file(group(name)));
    const timedOut = await operator.run([
      'wait',
      `group/${name}`,
      '--for=jsonpath={.spec.displayName}=Never',
      '--timeout=1s',
    ]);
    expect([timedOut.code, timedOut.error]).toEqual([
      1,
      expect.stringContaining('timed out waiting for the condition'),
    ]);
  });
});
