import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { kindsOf } from '../../apiserver/library/index.js';
import { group, LibraryServer } from '../library/fixture.js';
import { until } from '../provider/support/fixture.js';
import { eachKubectl } from '../support/cluster/cluster.js';
import { Kubectl } from '../support/cluster/kubectl.js';
import { stopAll } from '../support/service.js';
import { stores } from '../support/stores.js';

const verbs = ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'] as const;
const Flunder = kindsOf({ group, version: 'v1' })({
  kind: 'Flunder',
  resource: 'flunders',
  description: 'A flat fish.',
  verbs,
  hasStatusSubresource: true,
  spec: z.object({ size: z.number().int().default(1).describe('How big.') }),
  status: z.object({ phase: z.enum(['Swims', 'Caught']).optional().describe('What it does.') }),
  columns: { Phase: ({ status }) => status.phase ?? '' },
});

afterAll(stopAll);

describe.each(stores)('the life of an object on %s', (store) => {
  const library = new LibraryServer(store, [Flunder]);

  eachKubectl((found) => {
    let kubectl: Kubectl;
    beforeAll(() => {
      kubectl = new Kubectl(found, { url: library.server.url });
    });
    afterAll(() => kubectl.remove());

    const manifest = (name: string, metadata: object, more: object = {}): string =>
      kubectl.file(
        `${name}.yaml`,
        JSON.stringify({
          apiVersion: `${group}/v1`,
          kind: 'Flunder',
          metadata: { name, ...metadata },
          spec: {},
          ...more,
        }),
      );
    async function create(metadata: object = {}): Promise<string> {
      const name = library.newName();
      await kubectl.says('create', '-f', manifest(name, metadata));
      return name;
    }
    const at = (name: string, path: string): Promise<string> =>
      kubectl.says('get', 'flunder', name, '-o', `jsonpath={${path}}`);
    async function referenceTo(name: string): Promise<object> {
      const uid = await at(name, '.metadata.uid');
      const of = { apiVersion: `${group}/v1`, kind: 'Flunder', name, uid };
      return { ownerReferences: [{ ...of, blockOwnerDeletion: true }] };
    }
    const isGone = async (name: string): Promise<boolean> =>
      (await kubectl.run(['get', 'flunder', name])).error.includes('NotFound');

    test('status is patched, applied, replaced and read by its subresource', async () => {
      const name = await create();
      const patch = (...more: string[]): Promise<string> =>
        kubectl.says(
          'patch',
          'flunder',
          name,
          '--type=merge',
          '-p',
          '{"spec":{"size":7},"status":{"phase":"Caught"}}',
          ...more,
        );
      expect(await patch('--subresource=status')).toMatch(/patched\n$/);
      expect(await at(name, '.status.phase')).toBe('Caught');
      expect(await at(name, '.spec.size')).toBe('1');
      const row = await kubectl.says(
        'get',
        'flunder',
        name,
        '--subresource=status',
        '--no-headers',
      );
      expect(row).toMatch(/ Caught /);
      const applied = manifest(name, {}, { status: { phase: 'Swims' } });
      const how = ['--server-side', '--force-conflicts', '--subresource=status'];
      const done = await kubectl.run(['apply', ...how, '-f', applied]);
      if (done.error.includes('unknown flag')) {
        expect(Number(found.version.split('.')[1])).toBeLessThan(32);
      } else {
        expect(await at(name, '.status.phase')).toBe('Swims');
      }
      const resourceVersion = await at(name, '.metadata.resourceVersion');
      const replaced = manifest(name, { resourceVersion }, { status: {} });
      await kubectl.says('replace', '--subresource=status', '-f', replaced);
      expect(await at(name, '.status.phase')).toBe('');
      const review = await kubectl.run([
        'auth',
        'can-i',
        'patch',
        'flunders',
        '--subresource=status',
      ]);
      expect(review.out).toMatch(/^yes$/m);
    });

    test('a deletion waits for finalizers', async () => {
      const name = await create({ finalizers: ['example.com/nets'] });
      await kubectl.says('delete', 'flunder', name, '--wait=false');
      expect(await at(name, '.metadata.deletionTimestamp')).not.toBe('');
      const wait = kubectl.says('wait', '--for=delete', `flunder/${name}`, '--timeout=60s');
      await kubectl.says(
        'patch',
        'flunder',
        name,
        '--type=merge',
        '-p',
        '{"metadata":{"finalizers":null}}',
      );
      await wait;
      expect(await isGone(name)).toBe(true);
    });

    test('a deletion takes dependents along: before, afterwards or not at all', async () => {
      for (const cascade of ['foreground', 'background', 'orphan']) {
        const owner = await create();
        const dependent = await create(await referenceTo(owner));
        await kubectl.says('delete', 'flunder', owner, `--cascade=${cascade}`);
        expect(await isGone(owner)).toBe(true);
        if (cascade === 'foreground') expect(await isGone(dependent)).toBe(true);
        if (cascade === 'orphan') {
          expect(await at(dependent, '.metadata.ownerReferences')).toBe('');
        } else {
          await until(() => isGone(dependent), 'the dependent to go');
        }
      }
    });
  });
});
