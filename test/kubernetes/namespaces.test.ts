import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { kindsOf } from '../../apiserver/library/index.js';
import { LibraryServer, verbs } from '../library/fixture.js';
import { eachKubectl } from '../support/cluster/cluster.js';
import { Kubectl } from '../support/cluster/kubectl.js';
import { stopAll } from '../support/service.js';
import { stores } from '../support/stores.js';

const common = {
  description: 'Where fish are.',
  verbs,
  spec: z.object({ depth: z.number().int().default(1).describe('How deep.') }),
  status: z.object({ fish: z.number().int().optional().describe('How many.') }),
  hasStatusSubresource: true,
  columns: { Depth: ({ spec }: any) => spec.depth },
} as const;
const wardle = kindsOf({ group: 'wardle.example.com', version: 'v1', categories: ['fish'] });
const weather = kindsOf({
  group: 'weather.example.com',
  version: 'v1alpha1',
  hasQualifiedKeys: true,
});
const Pond = wardle({ ...common, kind: 'Pond', resource: 'ponds', scope: 'Namespaced' });
const Lake = wardle({ ...common, kind: 'Lake', resource: 'lakes' });
const Cloud = weather({ ...common, kind: 'Pond', resource: 'ponds', scope: 'Namespaced' });

const pond = (name: string, depth: number, apiVersion = 'wardle.example.com/v1') =>
  JSON.stringify({ apiVersion, kind: 'Pond', metadata: { name }, spec: { depth } });

afterAll(stopAll);

describe.each(stores)('namespaces and groups on %s', (store) => {
  const library = new LibraryServer(store, [Pond, Lake, Cloud]);

  eachKubectl((found) => {
    const prefix = `n${found.version.replaceAll('.', '-')}`;
    let kubectl: Kubectl;
    beforeAll(() => {
      kubectl = new Kubectl(found, { url: library.server.url });
    });
    afterAll(() => kubectl?.remove());
    const file = (text: string): string => kubectl.file('object.yaml', text);
    const create = (namespace: string, name: string, depth = 1): Promise<string> =>
      kubectl.says('-n', namespace, 'create', '-f', file(pond(name, depth)));

    test('knows the scope of each kind and both groups', async () => {
      const listed = (await kubectl.says('api-resources', '--no-headers', '-o', 'name')).trim();
      expect(listed.split('\n').sort()).toEqual([
        'lakes.wardle.example.com',
        'namespaces',
        'ponds.wardle.example.com',
        'ponds.weather.example.com',
      ]);
      const namespaced = await kubectl.says('api-resources', '--namespaced=true', '-o', 'name');
      expect(namespaced.trim().split('\n').sort()).toEqual([
        'ponds.wardle.example.com',
        'ponds.weather.example.com',
      ]);
      expect((await kubectl.says('api-versions')).trim().split('\n')).toEqual([
        'v1',
        'wardle.example.com/v1',
        'weather.example.com/v1alpha1',
      ]);
      expect(await kubectl.says('explain', 'ponds.spec.depth')).toContain('How deep.');
      expect(
        await kubectl.says('explain', 'ponds', '--api-version=weather.example.com/v1alpha1'),
      ).toContain('weather.example.com');
    });

    test('gets by -n and -A what it created', async () => {
      const [one, other] = [`${prefix}-one`, `${prefix}-other`];
      expect(await create(one, 'a', 2)).toBe('pond.wardle.example.com/a created\n');
      await create(other, 'a', 3);
      expect(await kubectl.fails('-n', one, 'create', '-f', file(pond('a', 2)))).toContain(
        'AlreadyExists',
      );
      expect(await kubectl.says('-n', one, 'get', 'ponds', '--no-headers')).toMatch(
        /^a +2 +\S+\n$/,
      );
      const all = await kubectl.says('get', 'ponds', '-A', '--no-headers');
      expect(all).toMatch(new RegExp(`^${one} +a +2 `, 'm'));
      expect(all).toMatch(new RegExp(`^${other} +a +3 `, 'm'));
      expect(await kubectl.fails('-n', one, 'get', 'pond', 'b')).toBe(
        'Error from server (NotFound): ponds.wardle.example.com "b" not found\n',
      );
      expect((await kubectl.run(['-n', `${prefix}-none`, 'get', 'ponds'])).error).toBe(
        `No resources found in ${prefix}-none namespace.\n`,
      );
    });

    test('takes the namespace of a file, unless another is asked for', async () => {
      const namespace = `${prefix}-file`;
      const object = JSON.parse(pond('a', 1));
      const inFile = JSON.stringify({ ...object, metadata: { name: 'a', namespace } });
      await kubectl.says('apply', '-f', file(inFile));
      expect(await kubectl.says('-n', namespace, 'get', 'ponds', '-o', 'name')).toBe(
        'pond.wardle.example.com/a\n',
      );
      expect(await kubectl.fails('-n', 'another', 'apply', '-f', file(inFile))).toContain(
        'does not match the namespace',
      );
      expect(await kubectl.says('apply', '-f', file(inFile))).toContain('unchanged');
    });

    test('applies on the server and patches status in a namespace', async () => {
      const namespace = `${prefix}-applied`;
      const args = ['-n', namespace, 'apply', '--server-side', '-f'];
      expect(await kubectl.says(...args, file(pond('a', 4)))).toContain('serverside-applied');
      await kubectl.says(...args, file(pond('a', 5)));
      const depth = ['-n', namespace, 'get', 'pond', 'a', '-o', 'jsonpath={.spec.depth}'];
      expect(await kubectl.says(...depth)).toBe('5');
      const patch = [
        '--subresource=status',
        '--type=merge',
        '-p',
        '{"spec":{"depth":6},"status":{"fish":3}}',
      ];
      await kubectl.says('-n', namespace, 'patch', 'pond', 'a', ...patch);
      const fish = [
        '-n',
        namespace,
        'get',
        'pond',
        'a',
        '-o',
        'jsonpath={.spec.depth} {.status.fish}',
      ];
      expect(await kubectl.says(...fish)).toBe('5 3');
    });

    test('describes, labels, replaces and waits for an object of a namespace', async () => {
      const namespace = `${prefix}-used`;
      const inIt = (...args: string[]): Promise<string> => kubectl.says('-n', namespace, ...args);
      await create(namespace, 'a', 2);
      expect(await inIt('describe', 'pond', 'a')).toMatch(
        new RegExp(`^Namespace: +${namespace}$`, 'm'),
      );
      await inIt('label', 'pond', 'a', 'tier=deep');
      await inIt('replace', '-f', file(pond('a', 8)));
      expect(await inIt('get', 'ponds', '-l', 'tier=deep', '-o', 'name')).toBe('');
      await inIt('wait', 'pond', 'a', '--for=jsonpath={.spec.depth}=8');
      await inIt('delete', 'pond', 'a', '--cascade=foreground');
      expect(await kubectl.fails('-n', namespace, 'describe', 'pond', 'a')).toContain(
        'ponds.wardle.example.com "a" not found',
      );
    });

    test('watches a namespace, and deletes all in it', async () => {
      const [namespace, other] = [`${prefix}-watched`, `${prefix}-kept`];
      await create(namespace, 'a');
      await create(other, 'a');
      const watch = kubectl.follow('-n', namespace, 'get', 'ponds', '-w', '--output-watch-events');
      try {
        await watch.until((text) => /ADDED +a /.test(text));
        await create(namespace, 'b');
        await watch.until((text) => /ADDED +b /.test(text));
        await kubectl.says('-n', namespace, 'delete', 'ponds', '--all');
        await watch.until((text) => /DELETED +a /.test(text) && /DELETED +b /.test(text));
      } finally {
        await watch.stop();
      }
      expect(await kubectl.says('-n', other, 'get', 'ponds', '-o', 'name')).toBe(
        'pond.wardle.example.com/a\n',
      );
    });

    test('asks what it may do in a namespace', async () => {
      for (const resource of ['ponds.wardle.example.com', 'ponds.weather.example.com']) {
        const can = await kubectl.run(['auth', 'can-i', 'create', resource, '-n', 'one']);
        expect(can.out).toMatch(/^yes$/m);
      }
      const rules = (await kubectl.run(['auth', 'can-i', '--list', '-n', 'one'])).out;
      expect(rules).toContain('ponds.weather.example.com');
    });

    test('keeps two groups of one resource apart', async () => {
      const namespace = `${prefix}-groups`;
      await create(namespace, 'a', 2);
      const cloud = pond('a', 9, 'weather.example.com/v1alpha1');
      await kubectl.says('-n', namespace, 'create', '-f', file(cloud));
      const depthOf = (group: string): Promise<string> =>
        kubectl.says('-n', namespace, 'get', `ponds.${group}`, 'a', '-o', 'jsonpath={.spec.depth}');
      expect(await depthOf('wardle.example.com')).toBe('2');
      expect(await depthOf('weather.example.com')).toBe('9');
      await kubectl.says('-n', namespace, 'delete', 'ponds.weather.example.com', 'a');
      expect(await depthOf('wardle.example.com')).toBe('2');
    });
  });
});
