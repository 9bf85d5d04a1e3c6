import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import {
  type ApiServer,
  kindsOf,
  mapList,
  openStorage,
  startApiServer,
} from '../../apiserver/library/index.js';
import { encode } from '../../registry/encoded-object.js';
import { FieldTree } from '../../registry/versions/field-names.js';
import { byPriority, viewIn } from '../../registry/versions/kind-view.js';
import type { Storage } from '../../storage/storage.js';
import { type EtcdServer, startEtcd } from '../storage/etcd-server.js';
import { expectFor } from '../support/expect-for.js';
import fc from '../support/fast-check.js';
import { stores } from '../support/stores.js';

const group = 'wardle.example.com';
const names = {
  'spec.reach': 'radius',
  'spec.prey.species': 'kind',
  'spec.note': null,
  'status.caught': 'catches',
};
const Fischer = kindsOf({
  group,
  version: 'v1',
  versions: [{ version: 'v1alpha1', deprecated: true }, { version: 'v1beta1' }],
})({
  kind: 'Fischer',
  resource: 'fischers',
  description: 'Who fishes.',
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
  names: { v1alpha1: names },
  spec: z.object({
    reach: z.number().int().max(9).describe('How far.'),
    prey: mapList(
      z.array(z.object({ species: z.string(), most: z.number().optional() })),
      'species',
    )
      .optional()
      .describe('What of.'),
    note: z.string().optional().describe('What an older version has no word for.'),
  }),
  status: z.object({ caught: z.number().describe('How many.') }),
  columns: { Reach: ({ spec }) => spec.reach },
  selectableFields: {
    'spec.reach': ({ spec }) => String(spec.reach),
    'spec.note': ({ spec }) => spec.note,
  },
  strategy: {
    default(next) {
      next.status = { caught: next.spec.reach };
    },
  },
});
const [v1, v1beta1, v1alpha1] = Fischer.versions.map(({ version }) => version) as [
  string,
  string,
  string,
];

interface Answer {
  readonly code: number;
  readonly body: any;
  readonly warning: string | null;
}

describe.each(stores)('a kind in three versions on %s', (store) => {
  const directory = mkdtempSync(join(tmpdir(), 'vestibule-versions-'));
  let etcd: EtcdServer | undefined;
  let server: ApiServer;
  let count = 0;
  const open = (): Promise<Storage> =>
    openStorage(etcd ? { servers: [etcd.endpoint], prefix: '/w/' } : { directory });
  const start = async (): Promise<void> => {
    server = await startApiServer({ kinds: [Fischer], storage: await open() });
  };

  beforeAll(async () => {
    if (store === 'etcd') etcd = await startEtcd();
    await start();
  });
  afterAll(async () => {
    await server.stop();
    await etcd?.stop();
    rmSync(directory, { recursive: true });
  });

  async function ask(
    method: string,
    version: string,
    path: string,
    body?: unknown,
    type = 'application/json',
  ): Promise<Answer> {
    const response = await fetch(`${server.url}/apis/${group}/${version}/fischers${path}`, {
      method,
      ...(body !== undefined && {
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { 'Content-Type': type },
      }),
    });
    const text = await response.text();
    return {
      code: response.status,
      body: text.startsWith('{') ? JSON.parse(text) : text,
      warning: response.headers.get('warning'),
    };
  }
  const get = async (version: string, name: string): Promise<any> =>
    (await ask('GET', version, `/${name}`)).body;
  const newName = (): string => `f-${(count += 1)}`;

  /** Creates one in the newest version, with all that the oldest has no word for. */
  async function create(): Promise<string> {
    const metadata = { name: newName() };
    const spec = { reach: 3, prey: [{ species: 'sole', most: 2 }], note: 'deep' };
    const { code } = await ask('POST', v1, '', { metadata, spec });
    expect(code).toBe(201);
    return metadata.name;
  }
  const oldSpec = { radius: 3, prey: [{ kind: 'sole', most: 2 }] };
  const newSpec = { reach: 3, prey: [{ species: 'sole', most: 2 }], note: 'deep' };

  test('is discovered in all of them, the stable one first', async () => {
    expect([v1, v1beta1, v1alpha1]).toEqual(['v1', 'v1beta1', 'v1alpha1']);
    const at = async (path: string): Promise<any> => (await fetch(server.url + path)).json();
    const served = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `${group}/${version}`);
    expect((await at('/api')).groupVersions).toEqual(served);
    const [listed] = (await at('/apis')).groups;
    expect(listed.versions.map((one: any) => one.groupVersion)).toEqual(served);
    expect(listed.preferredVersion.version).toBe('v1');
    const { paths } = await at('/openapi/v3');
    for (const [version, field] of [
      [v1, 'reach'],
      [v1beta1, 'reach'],
      [v1alpha1, 'radius'],
    ] as const) {
      const { resources, groupVersion } = await at(`/apis/${group}/${version}`);
      expectFor(version, [groupVersion, resources.length]).toEqual([`${group}/${version}`, 1]);
      const { serverRelativeURL } = paths[`apis/${group}/${version}`];
      const { components } = await at(serverRelativeURL);
      const { spec, apiVersion } = components.schemas.Fischer.properties;
      expectFor(version, Object.keys(spec.properties)).toEqual(
        version === v1alpha1 ? ['radius', 'prey'] : ['reach', 'prey', 'note'],
      );
      expectFor(version, spec.required).toEqual([field]);
      expectFor(version, spec.properties[field].description).toBe('How far.');
      expectFor(version, apiVersion.type).toBe('string');
    }
    const { definitions } = await at('/openapi/v2');
    expect(Object.keys(definitions).filter((name) => /\.Fischer$/.test(name))).toHaveLength(3);
  });

  test('is selected by the names of each', async () => {
    const name = await create();
    const found = async (version: string, field: string): Promise<any> => {
      const path = `?fieldSelector=metadata.name=${name},${field}=3`;
      const { code, body } = await ask('GET', version, path);
      return code === 200 ? body.items.length : [code, body.message];
    };
    expect(await found(v1, 'spec.reach')).toBe(1);
    expect(await found(v1alpha1, 'spec.radius')).toBe(1);
    const known = '"spec.radius" is not a known field selector: only "metadata.name"';
    expect(await found(v1, 'spec.radius')).toEqual([400, `${known}, "spec.reach", "spec.note"`]);
    for (const hidden of ['spec.reach', 'spec.note']) {
      expect(await found(v1alpha1, hidden)).toEqual([
        400,
        expect.stringMatching(`^"${hidden}" is not a known field selector: only .*"spec.radius"`),
      ]);
    }
    const { paths } = (await (await fetch(`${server.url}/openapi/v3`)).json()) as any;
    const { serverRelativeURL } = paths[`apis/${group}/${v1alpha1}`];
    const { components } = (await (await fetch(server.url + serverRelativeURL)).json()) as any;
    expect(components.schemas.Fischer['x-kubernetes-selectable-fields']).toEqual([
      { fieldPath: 'spec.radius' },
    ]);
  });

  test('is read in each, with the names of each', async () => {
    const name = await create();
    for (const version of [v1, v1beta1]) {
      const { apiVersion, spec, status } = await get(version, name);
      expectFor(version, { apiVersion, spec, status }).toEqual({
        apiVersion: `${group}/${version}`,
        spec: newSpec,
        status: { caught: 3 },
      });
    }
    const old = await ask('GET', v1alpha1, `/${name}`);
    expect(old.body).toMatchObject({ apiVersion: `${group}/v1alpha1`, status: { catches: 3 } });
    expect(old.body.spec).toEqual(oldSpec);
    expect(old.warning).toBe(
      `299 - "${group}/v1alpha1 Fischer is deprecated; use ${group}/v1 Fischer"`,
    );
    expect((await ask('GET', v1, `/${name}`)).warning).toBeNull();
    const list = async (version: string): Promise<any> =>
      (await ask('GET', version, '?limit=500')).body;
    expect((await list(v1alpha1)).apiVersion).toBe(`${group}/v1alpha1`);
    for (const [version, spec] of [
      [v1, newSpec],
      [v1alpha1, oldSpec],
      [v1beta1, newSpec],
    ] as const) {
      const { items } = await list(version);
      expectFor(version, items.at(-1)).toMatchObject({ apiVersion: `${group}/${version}`, spec });
    }
  });

  test.each([
    ['a PUT', 'PUT', (body: any) => body, 'application/json'],
    ['a merge patch', 'PATCH', () => ({ spec: { radius: 4 } }), 'application/merge-patch+json'],
    [
      'a JSON patch',
      'PATCH',
      () => [{ op: 'replace', path: '/spec/radius', value: 4 }],
      'application/json-patch+json',
    ],
  ])('%s in the oldest keeps what that has no word for', async (_, method, change, type) => {
    const name = await create();
    const { metadata, apiVersion, kind } = await get(v1alpha1, name);
    const body = { apiVersion, kind, metadata, spec: { ...oldSpec, radius: 4 } };
    const { code, body: answer } = await ask(method, v1alpha1, `/${name}`, change(body), type);
    expect([code, answer.spec]).toEqual([200, { ...oldSpec, radius: 4 }]);
    expect((await get(v1, name)).spec).toEqual({ ...newSpec, reach: 4 });
  });

  test('says what is wrong in the words of the version', async () => {
    const name = newName();
    const create = (version: string, spec: object): Promise<Answer> =>
      ask('POST', version, '', { metadata: { name }, spec });
    for (const [version, field] of [
      [v1, 'spec.reach'],
      [v1alpha1, 'spec.radius'],
    ] as const) {
      const { code, body } = await create(version, { [field.slice(5)]: 10 });
      expectFor(version, [code, body.details.causes[0].field]).toEqual([422, field]);
      expectFor(version, body.message).toContain(`${field}: `);
    }
    const unknown = await create(v1alpha1, { radius: 1, reach: 2, note: 'x' });
    expect(unknown.code).toBe(201);
    for (const field of ['spec.reach', 'spec.note']) {
      expect(unknown.warning).toContain(`unknown field \\"${field}\\"`);
    }
    expect((await get(v1, name)).spec).toEqual({ reach: 1 });
    const other = await ask('PUT', v1alpha1, `/${name}`, {
      apiVersion: `${group}/v1`,
      kind: 'Fischer',
      metadata: (await get(v1, name)).metadata,
      spec: { reach: 1 },
    });
    expect([other.code, other.body.message]).toEqual([
      400,
      `the API version in the data does not match the expected API version (${group}/v1alpha1)`,
    ]);
  });

  test('is watched in each', async () => {
    const name = newName();
    const { body } = await ask('GET', v1, '');
    const from = body.metadata.resourceVersion;
    const watch = async (version: string): Promise<any> => {
      const query = `watch=1&resourceVersion=${from}&fieldSelector=metadata.name%3D${name}`;
      const response = await fetch(`${server.url}/apis/${group}/${version}/fischers?${query}`);
      let text = '';
      for await (const piece of response.body!) {
        text += Buffer.from(piece as Uint8Array).toString();
        if (text.includes('\n')) break;
      }
      return JSON.parse(text.split('\n', 1)[0]!);
    };
    const events = Promise.all([watch(v1), watch(v1alpha1), watch(v1alpha1)]);
    await ask('POST', v1beta1, '', { metadata: { name }, spec: { reach: 2 } });
    const [hub, ...old] = await events;
    expect([hub.type, hub.object.apiVersion, hub.object.spec]).toEqual([
      'ADDED',
      `${group}/v1`,
      { reach: 2 },
    ]);
    for (const { object } of old) {
      expect([object.apiVersion, object.spec]).toEqual([`${group}/v1alpha1`, { radius: 2 }]);
    }
  });

  test('who applies keeps its fields from version to version', async () => {
    const name = newName();
    const apply = (version: string, spec: object, by: string, query = ''): Promise<Answer> =>
      ask(
        'PATCH',
        version,
        `/${name}?fieldManager=${by}${query}`,
        { apiVersion: `${group}/${version}`, kind: 'Fischer', metadata: { name }, spec },
        'application/apply-patch+yaml',
      );
    expect((await apply(v1alpha1, { ...oldSpec }, 'flux')).code).toBe(201);
    const [entry] = (await get(v1, name)).metadata.managedFields;
    expect(entry).toMatchObject({
      manager: 'flux',
      apiVersion: `${group}/v1alpha1`,
      fieldsV1: {
        'f:spec': { 'f:radius': {}, 'f:prey': { 'k:{"kind":"sole"}': { 'f:kind': {} } } },
      },
    });
    const conflict = await apply(v1, { reach: 4 }, 'argo');
    expect([conflict.code, conflict.body.details.causes[0].field]).toEqual([409, '.spec.reach']);
    const old = await apply(v1alpha1, { radius: 4 }, 'argo');
    expect([old.code, old.body.details.causes[0].field]).toEqual([409, '.spec.radius']);
    expect(old.body.details.causes[0].message).toContain('conflict with "flux"');
    const { code, body } = await apply(v1, { reach: 5 }, 'flux');
    expect([code, body.spec]).toEqual([200, { reach: 5 }]);
    expect(body.metadata.managedFields).toMatchObject([
      { manager: 'flux', apiVersion: `${group}/v1`, fieldsV1: { 'f:spec': { 'f:reach': {} } } },
    ]);
  });

  test('is read where it was stored in another, and written in the one that is set', async () => {
    const name = await create();
    const stored = async (): Promise<string> => {
      const { entry } = await server.store.storage.get(`objects/fischers/${name}`);
      return entry!.value.toString('utf8', 4);
    };
    expect(await stored()).toMatch(/^\{"apiVersion":"wardle.example.com\/v1","kind"/);
    server.store.registry.storedVersion = v1alpha1;
    const patch = { metadata: { labels: { a: 'b' } } };
    const type = 'application/merge-patch+json';
    expect((await ask('PATCH', v1, `/${name}`, patch, type)).code).toBe(200);
    expect(await stored()).toMatch(/^\{"apiVersion":"wardle.example.com\/v1alpha1".*"radius":3/);
    await server.stop();
    await start();
    for (const version of [v1, v1beta1]) {
      expectFor(version, (await get(version, name)).spec).toEqual(newSpec);
    }
    expect((await get(v1alpha1, name)).spec).toEqual(oldSpec);
    await ask('PATCH', v1, `/${name}`, patch, type);
    expect(await stored()).toMatch(/^\{"apiVersion":"wardle.example.com\/v1","kind"/);
  });

  test('an object of a version that is not known is named, and its bytes are not', async () => {
    const unknown = { ...viewIn(Fischer, v1)!, apiVersion: `${group}/v2` };
    const object = { metadata: { name: 'late' }, spec: { reach: 1 }, status: { caught: 1 } };
    await server.store.storage.commit(
      [],
      [{ put: 'objects/fischers/late', value: encode(unknown, object as never) }],
    );
    const { code, body } = await ask('GET', v1, '/late');
    expect([code, body.reason]).toEqual([500, 'InternalError']);
    await expect(server.store.reader(Fischer).get('late')).rejects.toThrow(
      `Fischer "late" is stored in version ${group}/v2, which this release does not know`,
    );
    await server.store.storage.commit([], [{ delete: 'objects/fischers/late' }]);
  });
});

test('versions are in the order of Kubernetes', () => {
  const order = [
    'v10',
    'v2',
    'v1',
    'v11beta2',
    'v10beta3',
    'v3beta1',
    'v12alpha1',
    'v11alpha2',
    'foo1',
    'foo10',
  ];
  fc.assert(
    fc.property(fc.shuffledSubarray(order, { minLength: 2 }), (some) => {
      expect([...some].sort(byPriority)).toEqual(order.filter((one) => some.includes(one)));
    }),
  );
});

test('what a version says survives the way to the hub and back', () => {
  const tree = FieldTree.of(names);
  const spec = fc.record({
    radius: fc.integer(),
    prey: fc.array(fc.record({ kind: fc.string(), most: fc.integer() })),
  });
  fc.assert(
    fc.property(fc.record({ spec, status: fc.record({ catches: fc.integer() }) }), (object) => {
      expect(tree.fromHub(tree.toHub(object))).toEqual(object);
    }),
  );
  expect(tree.path('spec.prey[0].species')).toBe('spec.prey[0].kind');
  expect(tree.path('spec.other.species')).toBe('spec.other.species');
});
