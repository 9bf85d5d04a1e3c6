import { afterAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineAction, kindsOf } from '../../apiserver/library/index.js';
import { expectFor } from '../support/expect-for.js';
import { stopAll } from '../support/service.js';
import { stores } from '../support/stores.js';
import { group, LibraryServer, verbs } from './fixture.js';

const Flunder = kindsOf({ group, version: 'v1', versions: [{ version: 'v1alpha1' }] })({
  kind: 'Flunder',
  resource: 'flunders',
  description: 'A flat fish.',
  verbs,
  hasStatusSubresource: true,
  spec: z.object({ size: z.number().int().default(1).describe('How big.') }),
  status: z.object({}),
  columns: {},
});
const Landing = defineAction({
  kind: 'Landing',
  of: Flunder,
  subresource: 'land',
  verb: 'create',
  description: 'Lands a Flunder.',
  spec: z.object({}),
  run: async (_, flunder) => flunder,
});

afterAll(stopAll);

describe.each(stores)('a group in v1, the version of Kubernetes’ core group, on %s', (store) => {
  const library = new LibraryServer(store, [Flunder], { actions: [Landing] });
  const at = (path: string, accept = 'application/json'): Promise<Response> =>
    fetch(library.server.url + path, { headers: { accept } });
  const read = async (path: string, accept?: string): Promise<any> =>
    (await at(path, accept)).json();
  const namesAt = async (path: string): Promise<string[]> =>
    (await read(path)).resources.map(({ name }: any) => name);
  const own = ['flunders', 'flunders/land', 'flunders/status'];

  test.each([
    ['/api/v1', ['namespaces']],
    ['/api/v1/', ['namespaces']],
    [`/apis/${group}/v1`, own],
    [`/apis/${group}/v1/`, own],
    ['/api/v1alpha1', own],
    [`/apis/${group}/v1alpha1`, own],
  ])('%s lists the resources of its own group', async (path, names) => {
    expect((await namesAt(path)).sort()).toEqual(names);
  });

  test('aggregated discovery has each resource in one group', async () => {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    for (const [path, resources] of [
      ['/api', { v1: ['namespaces'] }],
      ['/apis', { v1: ['flunders'], v1alpha1: ['flunders'] }],
    ] as const) {
      const [discovered] = (await read(path, accept)).items;
      const seen = discovered.versions.map((one: any) => [
        one.version,
        one.resources.map(({ resource }: any) => resource),
      ]);
      expectFor(path, Object.fromEntries(seen)).toEqual(resources);
    }
  });

  test.each([
    ['/api/v1/namespaces/default', 200],
    ['/api/v1/watch/namespaces?timeoutSeconds=1', 200],
    ['/api/v1/flunders', 404],
    ['/api/v1/watch/flunders?timeoutSeconds=1', 404],
    [`/apis/${group}/v1/flunders`, 200],
    [`/apis/${group}/v1/namespaces`, 404],
    ['/api/v1alpha1/flunders', 200],
    [`/apis/${group}/v1alpha1/flunders`, 200],
  ])('%s is answered by %i', async (path, code) => {
    const answer = await at(path);
    await answer.text();
    expect(answer.status).toBe(code);
  });

  test('OpenAPI describes what is served, and where', async () => {
    const root = `/apis/${group}/v1/flunders`;
    const paths = [root, `${root}/{name}`, `${root}/{name}/land`, `${root}/{name}/status`];
    const ofKinds = (document: any): string[] =>
      Object.keys(document.paths).filter((path) => path.includes('flunders'));
    for (const path of ['/api/openapi/v3', `/openapi/v3/apis/${group}/v1`]) {
      expectFor(path, ofKinds(await read(path)).sort()).toEqual(paths);
    }
    const { paths: described } = await read('/api/openapi/v3');
    const documents = Object.keys(described).filter((path) => !path.includes('{'));
    for (const path of documents.filter((one) => described[one].get)) {
      expectFor(path, (await at(path)).status).toBe(200);
    }
    expect(documents).toEqual(expect.arrayContaining(['/api/v1', `/apis/${group}/v1`]));
    expect(described['/api/v1'].get.summary).toContain('core group');
  });
});
