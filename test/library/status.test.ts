import { afterAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import {
  type AuthorizationAttributes,
  defineAction,
  kindsOf,
  lineOfText,
  mapList,
  openStorage,
  startApiServer,
} from '../../apiserver/library/index.js';
import { expectFor } from '../support/expect-for.js';
import { stopAll, temporary } from '../support/service.js';
import { stores } from '../support/stores.js';
import { type Answer, group, LibraryServer, mediaTypes } from './fixture.js';

const defineKind = kindsOf({
  group,
  version: 'v1',
  versions: [{ version: 'v1alpha1' }],
});
const verbs = ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'] as const;
const common = { description: 'A fish.', verbs, columns: {} };
const Flunder = defineKind({
  ...common,
  kind: 'Flunder',
  resource: 'flunders',
  hasStatusSubresource: true,
  names: { v1alpha1: { 'status.weight': 'mass', 'status.secretNote': null } },
  spec: z.object({ size: z.number().int().default(1).describe('How big.') }),
  status: z.object({
    phase: z.enum(['Pending', 'Caught']).default('Pending').describe('Where it is.'),
    weight: z.number().max(9).optional().describe('How heavy.'),
    secretNote: z
      .string()
      .max(64)
      .regex(lineOfText)
      .optional()
      .describe('What an older version has no word for.'),
    conditions: mapList(z.array(z.object({ type: z.string(), status: z.string() })), 'type')
      .optional()
      .describe('Conditions.'),
  }),
  strategy: {
    default(next) {
      next.metadata.labels = { ...next.metadata.labels, defaulted: 'yes' };
    },
  },
});
const Plain = defineKind({
  ...common,
  kind: 'Plain',
  resource: 'plains',
  spec: z.object({}),
  status: z.object({}),
});

afterAll(stopAll);

describe.each(stores)('the status subresource on %s', (store) => {
  const asked: AuthorizationAttributes[] = [];
  const library = new LibraryServer(store, [Flunder, Plain], {
    authorize: (attributes) => {
      asked.push(attributes);
      return { allowed: true, reasons: [] };
    },
  });
  const flunders = 'v1/flunders';

  async function create(spec: object = { size: 2 }): Promise<string> {
    const name = library.newName();
    const { code } = await library.ask('POST', flunders, { metadata: { name }, spec });
    expect(code).toBe(201);
    return `${flunders}/${name}`;
  }
  const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
  const patch = (path: string, status: object): Promise<Answer> =>
    library.ask('PATCH', `${path}/status`, { status }, mediaTypes.merge);
  const apply = (path: string, by: string, body: object, query = ''): Promise<Answer> =>
    library.ask(
      'PATCH',
      `${path}?fieldManager=${by}${query}`,
      {
        apiVersion: `${group}/v1`,
        kind: 'Flunder',
        metadata: { name: nameOf(path.replace('/status', '')) },
        ...body,
      },
      mediaTypes.apply,
    );

  /** Every road to status, with a body that asks for more than status. */
  const roads: [string, string, string, (object: any) => unknown, string?][] = [
    [
      'a PUT',
      'PUT',
      'application/json',
      (object) => ({
        ...object,
        metadata: { ...object.metadata, labels: { other: 'label' }, annotations: { a: 'b' } },
        spec: { size: 7 },
        status: { phase: 'Caught', weight: 3 },
      }),
    ],
    [
      'a merge patch',
      'PATCH',
      mediaTypes.merge,
      () => ({
        metadata: { labels: { other: 'label' } },
        spec: { size: 7 },
        status: { phase: 'Caught', weight: 3 },
      }),
    ],
    [
      'a JSON patch',
      'PATCH',
      mediaTypes.json,
      () => [
        { op: 'replace', path: '/spec/size', value: 7 },
        { op: 'add', path: '/metadata/labels/other', value: 'label' },
        { op: 'add', path: '/status', value: { phase: 'Caught', weight: 3 } },
      ],
    ],
    [
      'an apply',
      'PATCH',
      mediaTypes.apply,
      ({ apiVersion, kind, metadata: { name } }) => ({
        apiVersion,
        kind,
        metadata: { name, labels: { other: 'label' } },
        spec: { size: 7 },
        status: { phase: 'Caught', weight: 3 },
      }),
      '?fieldManager=controller',
    ],
  ];

  test.each(roads)(
    '%s changes status and nothing else',
    async (_, method, type, body, query = '') => {
      const path = await create();
      const before = await library.get(path);
      expect(before.status).toEqual({});
      const answer = await library.ask(method, `${path}/status${query}`, body(before), type);
      expect([answer.code, answer.body.status]).toEqual([200, { phase: 'Caught', weight: 3 }]);
      const after = await library.get(path);
      expect(after.metadata.resourceVersion).not.toBe(before.metadata.resourceVersion);
      const { resourceVersion: _1, managedFields: _2, ...metadata } = after.metadata;
      const { resourceVersion: _3, ...former } = before.metadata;
      expect([metadata, after.spec, after.status]).toEqual([
        former,
        { size: 2 },
        { phase: 'Caught', weight: 3 },
      ]);
      expect(after.metadata.generation).toBe(1);
      expect(await library.get(`${path}/status`)).toEqual(after);
    },
  );

  test.each(roads)('%s stores nothing with dryRun', async (_, method, type, body, query = '') => {
    const path = await create();
    const before = await library.get(path);
    const dry = `${path}/status${query ? `${query}&` : '?'}dryRun=All`;
    const answer = await library.ask(method, dry, body(before), type);
    expect([answer.code, answer.body.status.phase]).toEqual([200, 'Caught']);
    expect(await library.get(path)).toEqual(before);
  });

  test.each(roads)(
    '%s is refused by the schema of status',
    async (_, method, type, body, query = '') => {
      const path = await create();
      const text = JSON.stringify(body(await library.get(path))).replaceAll('"Caught"', '"Lost"');
      const { code, body: answer } = await library.ask(
        method,
        `${path}/status${query}`,
        JSON.parse(text),
        type,
      );
      expect([code, answer.reason, answer.details.causes[0].field]).toEqual([
        422,
        'Invalid',
        'status.phase',
      ]);
    },
  );

  test('the main path ignores status by each verb', async () => {
    const path = await create();
    await patch(path, { weight: 2 });
    const stored = await library.get(path);
    expect(stored.status).toEqual({ phase: 'Pending', weight: 2 });
    const other = { phase: 'Caught' };
    for (const [method, type, body, query] of [
      ['PUT', 'application/json', { ...stored, status: other }, ''],
      ['PATCH', mediaTypes.merge, { status: other }, ''],
      ['PATCH', mediaTypes.json, [{ op: 'add', path: '/status/phase', value: 'Caught' }], ''],
      [
        'PATCH',
        mediaTypes.apply,
        { apiVersion: `${group}/v1`, kind: 'Flunder', metadata: {}, status: other },
        '?fieldManager=one',
      ],
    ] as const) {
      const { code, body: answer } = await library.ask(method, path + query, body, type);
      expectFor(type, [code, answer.status]).toEqual([200, stored.status]);
    }
    const name = library.newName();
    const created = await library.ask('POST', flunders, {
      metadata: { name },
      spec: {},
      status: other,
    });
    expect([created.code, created.body.status]).toEqual([201, {}]);
  });

  test('sets defaults, merges, and refuses a stale version or another object', async () => {
    const path = await create();
    const first = await patch(path, { weight: 1 });
    expect(first.body.status).toEqual({ phase: 'Pending', weight: 1 });
    const second = await patch(path, { phase: 'Caught', weight: null });
    expect(second.body.status).toEqual({ phase: 'Caught' });
    const put = (metadata: object): Promise<Answer> =>
      library.ask('PUT', `${path}/status`, { metadata, status: { weight: 4 } });
    const { metadata } = await library.get(path);
    expect(
      (await put({ ...metadata, resourceVersion: first.body.metadata.resourceVersion })).code,
    ).toBe(409);
    expect((await put({ name: metadata.name })).code).toBe(422);
    expect((await put({ ...metadata, name: 'another' })).code).toBe(400);
    expect((await put({ ...metadata, uid: 'another' })).code).toBe(409);
    expect((await put(metadata)).body.status).toEqual({ phase: 'Pending', weight: 4 });
    const unchanged = await patch(path, { weight: 4 });
    expect(unchanged.body.metadata.resourceVersion).toBe(
      (await library.get(path)).metadata.resourceVersion,
    );
    expect((await patch(path, { secretNote: 'a\u202Eb' })).body.details.causes[0].field).toBe(
      'status.secretNote',
    );
  });

  test('drops unknown fields, warns of them, and refuses them where asked', async () => {
    const path = await create();
    const body = { status: { weight: 1, depth: 2 }, spec: { colour: 'red' } };
    const warned = await library.ask('PATCH', `${path}/status`, body, mediaTypes.merge);
    expect([warned.code, warned.body.status]).toEqual([200, { phase: 'Pending', weight: 1 }]);
    expect(warned.warning).toContain('unknown field \\"status.depth\\"');
    expect(warned.warning).toContain('unknown field \\"spec.colour\\"');
    const strict = `${path}/status?fieldValidation=Strict`;
    const refused = await library.ask('PATCH', strict, body, mediaTypes.merge);
    expect([refused.code, refused.body.message]).toEqual([
      400,
      expect.stringContaining('unknown field "status.depth"'),
    ]);
    expect((await apply(`${path}/status`, 'one', { status: { depth: 2 } })).code).toBe(400);
  });

  test('is written and refused in the words of the version', async () => {
    const path = await create();
    await patch(path, { weight: 1, secretNote: 'kept' });
    const old = path.replace('v1/', 'v1alpha1/');
    expect((await library.get(`${old}/status`)).status).toEqual({ phase: 'Pending', mass: 1 });
    const written = await library.ask(
      'PATCH',
      `${old}/status`,
      { status: { mass: 5 } },
      mediaTypes.merge,
    );
    expect([written.code, written.body.status]).toEqual([200, { phase: 'Pending', mass: 5 }]);
    expect((await library.get(path)).status).toEqual({
      phase: 'Pending',
      weight: 5,
      secretNote: 'kept',
    });
    const refused = await library.ask(
      'PATCH',
      `${old}/status`,
      { status: { mass: 10 } },
      mediaTypes.merge,
    );
    expect([refused.code, refused.body.details.causes[0].field]).toEqual([422, 'status.mass']);
  });

  test('has owners of its own, by subresource', async () => {
    const path = await create();
    const entries = async (): Promise<any[]> =>
      (await library.get(path)).metadata.managedFields.map(
        ({ manager, operation, subresource, fieldsV1 }: any) => [
          manager,
          operation,
          subresource,
          Object.keys(fieldsV1),
        ],
      );
    expect((await apply(path, 'flux', { spec: { size: 3 } }, '&force=true')).code).toBe(200);
    await library.ask(
      'PATCH',
      `${path}/status?fieldManager=hand`,
      { status: { weight: 1 } },
      mediaTypes.merge,
    );
    const ready = { conditions: [{ type: 'Ready', status: 'True' }] };
    expect((await apply(`${path}/status`, 'flux', { status: ready })).code).toBe(200);
    expect(await entries()).toEqual([
      ['flux', 'Apply', undefined, ['f:spec']],
      ['flux', 'Apply', 'status', ['f:status']],
      ['before-first-apply', 'Update', undefined, ['f:metadata']],
      ['hand', 'Update', 'status', ['f:status']],
    ]);
    const conflict = await apply(`${path}/status`, 'flux', { status: { ...ready, weight: 2 } });
    expect([conflict.code, conflict.body.details.causes[0].field]).toEqual([409, '.status.weight']);
    expect(conflict.body.details.causes[0].message).toContain(
      'conflict with "hand" with subresource "status" using',
    );
    expect((await apply(path, 'flux', { spec: { size: 4 } })).body).toMatchObject({
      spec: { size: 4 },
      status: { weight: 1, ...ready },
    });
    const { body } = await apply(`${path}/status`, 'flux', { status: {} });
    expect(body.status).toEqual({ phase: 'Pending', weight: 1 });
    expect(body.spec).toEqual({ size: 4 });
    const replaced = await library.ask('PUT', path, body);
    expect([replaced.code, replaced.body.metadata.managedFields]).toEqual([
      200,
      body.metadata.managedFields,
    ]);
  });

  test('what the server itself writes to status is of the subresource', async () => {
    const path = await create();
    expect((await apply(path, 'flux', { spec: { size: 2 } })).code).toBe(200);
    await library.server.store.systemCall().change((tx) =>
      tx.update(Flunder, nameOf(path), (next) => {
        next.status = { phase: 'Caught' };
        next.spec.size = 5;
      }),
    );
    const { managedFields } = (await library.get(path)).metadata;
    expect(
      managedFields
        .filter(({ manager }: any) => manager === 'wardle')
        .map(({ subresource, fieldsV1 }: any) => [subresource, fieldsV1]),
    ).toEqual([
      [undefined, { 'f:spec': { 'f:size': {} } }],
      ['status', { 'f:status': { 'f:phase': {} } }],
    ]);
  });

  test('only kinds that declare it have it, and only its verbs', async () => {
    const path = await create();
    for (const method of ['GET', 'PUT', 'PATCH']) {
      const { code } = await library.ask(
        method,
        'v1/plains/one/status',
        method === 'GET' ? undefined : {},
      );
      expectFor(method, code).toBe(404);
    }
    for (const method of ['POST', 'DELETE']) {
      const { code, body } = await library.ask(method, `${path}/status`);
      expectFor(method, [code, body.reason]).toEqual([405, 'MethodNotAllowed']);
    }
    for (const [method, body, type, query] of [
      ['GET', undefined, undefined, ''],
      ['PUT', { metadata: { name: 'none', resourceVersion: '1' }, status: {} }, undefined, ''],
      ['PATCH', { status: {} }, mediaTypes.merge, ''],
      [
        'PATCH',
        { apiVersion: `${group}/v1`, kind: 'Flunder', status: {} },
        mediaTypes.apply,
        '?fieldManager=one',
      ],
    ] as const) {
      const answer = await library.ask(method, `${flunders}/none/status${query}`, body, type);
      expectFor([method, type], answer.code).toBe(404);
    }
    expect((await library.ask('GET', `${flunders}/none`)).code).toBe(404);
  });

  test('the authorizer sees the verb and the subresource', async () => {
    const path = await create();
    asked.length = 0;
    await library.get(`${path}/status`);
    await library.get(path);
    await patch(path, { weight: 1 });
    const seen = asked.map(({ action, subresource, name }) => [action, subresource, name]);
    expect(seen).toContainEqual(['get', 'status', nameOf(path)]);
    expect(seen).toContainEqual(['get', undefined, nameOf(path)]);
    expect(seen).toContainEqual(['patch', 'status', nameOf(path)]);
    expect(seen).not.toContainEqual(['patch', undefined, nameOf(path)]);
  });

  test('is in discovery, in both OpenAPI documents, and in reviews', async () => {
    const at = async (path: string, accept = 'application/json'): Promise<any> =>
      (await fetch(library.server.url + path, { headers: { Accept: accept } })).json();
    const { resources } = await at(`/apis/${group}/v1`);
    expect(resources.filter(({ name }: any) => name.includes('/'))).toEqual([
      {
        name: 'flunders/status',
        singularName: '',
        namespaced: false,
        kind: 'Flunder',
        verbs: ['get', 'patch', 'update'],
      },
    ]);
    const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const [found] = (await at('/apis', aggregated)).items;
    expect(
      found.versions[0].resources.map(({ subresources }: any) =>
        subresources?.map(({ subresource, verbs }: any) => [subresource, verbs]),
      ),
    ).toEqual([[['status', ['get', 'patch', 'update']]], undefined]);
    const statusPath = `/apis/${group}/v1/flunders/{name}/status`;
    const { paths } = await at(`/openapi/v3/apis/${group}/v1`);
    expect(Object.keys(paths[statusPath]).sort()).toEqual(['get', 'patch', 'put']);
    expect(Object.keys((await at('/openapi/v2')).paths[statusPath]).sort()).toEqual([
      'get',
      'patch',
      'put',
    ]);
  });
});

test('an authorizer that permits objects alone refuses status', async () => {
  const token = 'a-token-of-enough-characters';
  const server = await startApiServer({
    kinds: [Flunder],
    storage: await openStorage({ directory: temporary() }),
    authorize: ({ subresource }) => ({ allowed: subresource === undefined, reasons: [] }),
    token,
  });
  try {
    const at = (path: string, init?: RequestInit) =>
      fetch(`${server.url}/apis/${group}/v1/flunders${path}`, {
        ...init,
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      });
    const body = JSON.stringify({ metadata: { name: 'one' }, spec: {} });
    expect((await at('', { method: 'POST', body })).status).toBe(201);
    expect((await at('/one')).status).toBe(200);
    const refused = await at('/one/status');
    expect([refused.status, ((await refused.json()) as any).message]).toEqual([
      403,
      expect.stringContaining('cannot get resource "flunders/status" in API group'),
    ]);
  } finally {
    await server.stop();
  }
});

test('an action may not have the name of the subresource', async () => {
  const action = defineAction({
    of: Flunder,
    subresource: 'status',
    verb: 'get',
    kind: 'Flunder',
    description: 'Another status.',
    run: async (_call, target) => target,
  });
  await expect(
    startApiServer({
      kinds: [Flunder],
      actions: [action],
      storage: await openStorage({ directory: temporary() }),
    }),
  ).rejects.toThrow('Flunder has a status subresource, and an action of that name');
});
