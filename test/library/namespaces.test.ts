import { afterAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import {
  type AuthorizationAttributes,
  defineAction,
  kindsOf,
  namespacedName,
  Registry,
} from '../../apiserver/library/index.js';
import { until } from '../provider/support/fixture.js';
import { expectFor } from '../support/expect-for.js';
import { stopAll } from '../support/service.js';
import { stores } from '../support/stores.js';
import { ask, Fishery, watch } from './fishery.js';
import { type Answer, group, LibraryServer, mediaTypes, verbs } from './fixture.js';

const define = kindsOf({ group, version: 'v1', versions: [{ version: 'v1alpha1' }] });
const common = { description: 'Where fish are.', verbs, status: z.object({}), columns: {} };
const Pond = define({
  ...common,
  kind: 'Pond',
  resource: 'ponds',
  scope: 'Namespaced',
  hasStatusSubresource: true,
  names: { v1alpha1: { 'spec.depth': 'fathoms' } },
  spec: z.object({
    depth: z.number().int().default(1).describe('How deep.'),
    label: z.string().max(63).optional().describe('What no other pond is called.'),
  }),
  status: z.object({ fish: z.number().int().optional().describe('How many.') }),
  columns: { Depth: ({ spec }) => spec.depth },
  unique: { label: ({ spec }) => spec.label },
  selectableFields: {
    'spec.depth': ({ spec }) => String(spec.depth),
    'spec.label': { unique: 'label', normalize: (text) => text },
  },
});
const Lake = define({ ...common, kind: 'Lake', resource: 'lakes', spec: z.object({}) });
const drain = defineAction({
  of: Pond,
  subresource: 'drain',
  verb: 'create',
  kind: 'PondDrain',
  description: 'Lets the water out.',
  spec: z.object({}),
  run: (call, { metadata }) =>
    call.change((tx) =>
      tx.update(Pond, namespacedName(metadata), ({ spec }) => {
        spec.depth = 0;
      }),
    ),
});

/** A body as kubectl writes it. */
const pond = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: `${group}/v1`,
  kind: 'Pond',
  metadata: { name, ...metadata },
  spec,
});

afterAll(stopAll);

describe.each(stores)('namespaced kinds on %s', (store) => {
  let asked: AuthorizationAttributes[] = [];
  const audited: any[] = [];
  let permits: (attributes: AuthorizationAttributes) => boolean = () => true;
  const library = new LibraryServer(store, [Pond, Lake], {
    actions: [drain],
    reconcilers: [
      {
        name: 'stock',
        kind: Pond,
        isDue: ({ spec, status }) => spec.depth === 42 && status.fish === undefined,
        reconcile: async (tx, { metadata }) => {
          await tx.update(Pond, namespacedName(metadata), ({ status }) => {
            status.fish = 42;
          });
        },
      },
    ],
    audit: { write: (event) => void audited.push(event) },
    metrics: true,
    authorize: (attributes) => {
      asked.push(attributes);
      return { allowed: permits(attributes), reasons: [] };
    },
  });
  const inNamespace = (namespace: string, name = ''): string =>
    `v1/namespaces/${namespace}/ponds${name && `/${name}`}`;
  const create = async (namespace: string, name: string, spec: object = {}): Promise<any> => {
    const { code, body } = await library.ask('POST', inNamespace(namespace), pond(name, spec));
    expectFor(`${namespace}/${name}`, code).toBe(201);
    return body;
  };
  const namesIn = (list: any): string[] =>
    list.items.map(({ metadata }: any) => `${metadata.namespace}/${metadata.name}`);
  const listed = async (path: string): Promise<string[]> => namesIn(await library.get(path));
  /** A namespace that no other test has. */
  const newNamespace = (): string => library.newName();

  /** Every road on which one object is reached; each returns the object or a Status. */
  const roads: [string, (path: string, name: string) => Promise<Answer>][] = [
    ['GET', (path) => library.ask('GET', path)],
    ['GET of the older version', (path) => library.ask('GET', path.replace('v1/', 'v1alpha1/'))],
    [
      'PUT',
      async (path) =>
        library.ask('PUT', path, { ...(await library.get(path)), spec: { depth: 7 } }),
    ],
    [
      'a merge patch',
      (path) => library.ask('PATCH', path, { spec: { depth: 7 } }, mediaTypes.merge),
    ],
    [
      'a JSON patch',
      (path) =>
        library.ask(
          'PATCH',
          path,
          [{ op: 'replace', path: '/spec/depth', value: 7 }],
          mediaTypes.json,
        ),
    ],
    [
      'an apply',
      (path, name) =>
        library.ask(
          'PATCH',
          `${path}?fieldManager=ada&force=true`,
          pond(name, { depth: 7 }),
          mediaTypes.apply,
        ),
    ],
    ['GET of its status', (path) => library.ask('GET', `${path}/status`)],
    [
      'a patch of its status',
      (path) => library.ask('PATCH', `${path}/status`, { status: { fish: 3 } }, mediaTypes.merge),
    ],
    ['an action', (path) => library.ask('POST', `${path}/drain`, { kind: 'PondDrain', spec: {} })],
    ['DELETE', (path) => library.ask('DELETE', path)],
  ];

  test.each(roads)('%s reaches the object of its namespace alone', async (road, run) => {
    const [one, other, name] = [newNamespace(), newNamespace(), library.newName()];
    const stored = await create(one, name);
    const untouched = await create(other, name);
    expect(stored.metadata).toMatchObject({ name, namespace: one });
    expect((await library.ask('GET', inNamespace(newNamespace(), name))).code).toBe(404);
    asked = [];
    const { code, body } = await run(inNamespace(one, name), name);
    expect(code).toBe(200);
    if (road === 'DELETE') expect(body.details).toMatchObject({ name, uid: stored.metadata.uid });
    else expect(body.metadata).toMatchObject({ name, namespace: one, uid: stored.metadata.uid });
    expect(asked.length).toBeGreaterThan(0);
    for (const attributes of asked) expect(attributes).toMatchObject({ name, namespace: one });
    expect(audited.at(-1).objectRef).toMatchObject({ name, namespace: one, resource: 'ponds' });
    expect(await library.get(inNamespace(other, name))).toEqual(untouched);
    expect((await library.ask('GET', inNamespace(one, name))).code).toBe(
      road === 'DELETE' ? 404 : 200,
    );
    const absent = await run(inNamespace(one, 'absent'), 'absent').catch((error: Error) => error);
    if (road === 'an apply') return expect(absent).toMatchObject({ code: 201 });
    if (absent instanceof Error) return expect(absent.message).toContain('"absent" not found');
    expect(absent.body).toMatchObject({
      code: 404,
      message: `ponds.${group} "absent" not found`,
      details: { name: 'absent' },
    });
  });

  /** Every road on which an object begins. */
  const creations: [string, (namespace: string, metadata: object) => Promise<Answer>][] = [
    [
      'POST',
      (namespace, metadata) => library.ask('POST', inNamespace(namespace), pond('n', {}, metadata)),
    ],
    [
      'an apply',
      (namespace, metadata) =>
        library.ask(
          'PATCH',
          `${inNamespace(namespace, 'n')}?fieldManager=ada`,
          pond('n', {}, metadata),
          mediaTypes.apply,
        ),
    ],
  ];

  test.each(creations)('%s takes the namespace from the path', async (_, send) => {
    for (const metadata of [{}, { namespace: '' }]) {
      const namespace = newNamespace();
      const { code, body } = await send(namespace, metadata);
      expectFor(metadata, [code, body.metadata?.namespace]).toEqual([201, namespace]);
    }
    const namespace = newNamespace();
    expect((await send(namespace, { namespace })).code).toBe(201);
    expect((await send(namespace, { namespace: 'another' })).body).toMatchObject({
      code: 400,
      message:
        'the namespace of the provided object does not match the namespace sent on the request',
    });
    expect((await library.ask('GET', inNamespace('another', 'n'))).code).toBe(404);
  });

  test('a name that is taken is taken in its namespace alone', async () => {
    const namespace = newNamespace();
    await create(namespace, 'n');
    expect((await library.ask('POST', inNamespace(namespace), pond('n'))).body).toMatchObject({
      code: 409,
      message: `ponds.${group} "n" already exists`,
      details: { name: 'n' },
    });
    await create(newNamespace(), 'n');
    const body = { metadata: { generateName: 'n-' }, spec: {} };
    const { code, body: made } = await library.ask('POST', inNamespace(namespace), body);
    expect([code, made.metadata.namespace]).toEqual([201, namespace]);
    expect(made.metadata.name).toMatch(/^n-/);
  });

  const moves: [string, string, (object: any) => unknown][] = [
    ['PUT', 'application/json', (object) => object],
    ['PATCH', mediaTypes.merge, ({ metadata: { namespace } }) => ({ metadata: { namespace } })],
    [
      'PATCH',
      mediaTypes.json,
      ({ metadata }) => [{ op: 'replace', path: '/metadata/namespace', value: metadata.namespace }],
    ],
  ];

  test.each(moves)('%s of %s cannot move an object', async (method, type, change) => {
    const namespace = newNamespace();
    const object = await create(namespace, 'n');
    const moved = { ...object, metadata: { ...object.metadata, namespace: 'elsewhere' } };
    for (const path of [inNamespace(namespace, 'n'), `${inNamespace(namespace, 'n')}/status`]) {
      expectFor(path, (await library.ask(method, path, change(moved), type)).code).toBe(400);
    }
    expect(await library.get(inNamespace(namespace, 'n'))).toEqual(object);
  });

  test('a path that does not fit the scope of its kind is refused', async () => {
    await create('fits', 'n');
    const { code: made } = await library.ask('POST', 'v1/lakes', {
      metadata: { name: 'n' },
      spec: {},
    });
    expect(made).toBe(201);
    const refused: [string, string, number, string?][] = [
      ['GET', 'v1/ponds/n', 404],
      ['PATCH', 'v1/ponds/n', 404],
      ['GET', 'v1/ponds/n/status', 404],
      ['POST', 'v1/ponds/n/drain', 404],
      ['POST', 'v1/ponds', 405, 'GET, HEAD'],
      ['DELETE', 'v1/ponds', 405, 'GET, HEAD'],
      ['PUT', 'v1/ponds', 405, 'GET, HEAD'],
      ['GET', 'v1/namespaces/fits/lakes', 404],
      ['GET', 'v1/namespaces/fits/lakes/n', 404],
      ['POST', 'v1/namespaces/fits/lakes', 404],
      ['GET', 'v1/namespaces/fits', 404],
      ['GET', 'v1/namespaces', 404],
      ['GET', 'v1/namespaces/fits/', 404],
      ['GET', 'v1/namespaces/fits/absents', 404],
      ['GET', 'v1/namespaces/No/ponds', 400],
      ['GET', `v1/namespaces/${'n'.repeat(64)}/ponds`, 400],
      ['GET', 'v1/namespaces//ponds', 400],
      ['GET', 'v1/namespaces/fits/namespaces/fits/ponds', 404],
    ];
    for (const [method, path, code, allow] of refused) {
      const response = await fetch(`${library.server.url}/apis/${group}/${path}`, {
        method,
        ...(method === 'POST' && { body: JSON.stringify(pond('n')) }),
        headers: { 'Content-Type': method === 'PATCH' ? mediaTypes.merge : 'application/json' },
      });
      expectFor(`${method} ${path}`, [response.status, response.headers.get('allow')]).toEqual([
        code,
        allow ?? null,
      ]);
    }
  });

  test('a list is of one namespace or of all', async () => {
    const [one, other] = [newNamespace(), newNamespace()];
    const longer = `${one}-longer`;
    for (const namespace of [one, longer, other]) {
      await create(namespace, 'a', { depth: 1 });
      await create(namespace, 'b', { depth: 2 });
    }
    const ours = (names: readonly string[]) =>
      names.filter((name) => [one, longer, other].includes(name.split('/')[0]!));
    expect(await listed(inNamespace(one))).toEqual([`${one}/a`, `${one}/b`]);
    expect(ours(await listed('v1/ponds')).sort()).toEqual(
      [one, longer, other].flatMap((namespace) => [`${namespace}/a`, `${namespace}/b`]).sort(),
    );
    expect(await listed(inNamespace(newNamespace()))).toEqual([]);
    const selected: [string, string[]][] = [
      [`${inNamespace(one)}?fieldSelector=metadata.name=b`, [`${one}/b`]],
      [`${inNamespace(one)}?fieldSelector=metadata.namespace=${one}`, [`${one}/a`, `${one}/b`]],
      [`${inNamespace(one)}?fieldSelector=metadata.namespace=${other}`, []],
      [`v1/ponds?fieldSelector=metadata.namespace=${one}`, [`${one}/a`, `${one}/b`]],
      [`v1/ponds?fieldSelector=metadata.namespace=${one},metadata.name=b`, [`${one}/b`]],
      [`${inNamespace(one)}?fieldSelector=metadata.namespace!=${one}`, []],
      [`${inNamespace(one)}?fieldSelector=spec.depth=2`, [`${one}/b`]],
    ];
    for (const [path, names] of selected) expectFor(path, await listed(path)).toEqual(names);
    const named = await listed('v1/ponds?fieldSelector=metadata.name=b');
    expect(ours(named).sort()).toEqual([one, longer, other].map((ns) => `${ns}/b`).sort());
    const { body } = await library.ask('GET', 'v1/lakes?fieldSelector=metadata.namespace=a');
    expect(body).toMatchObject({
      code: 400,
      message: expect.stringContaining('metadata.namespace'),
    });
  });

  test('a list in pages stays in its namespace', async () => {
    const [one, other] = [newNamespace(), newNamespace()];
    for (const name of ['a', 'b', 'c']) {
      await create(one, name);
      await create(other, name);
    }
    const names: string[] = [];
    let token = '';
    do {
      const page = await library.get(`${inNamespace(one)}?limit=1&continue=${token}`);
      names.push(...namesIn(page));
      token = page.metadata.continue ?? '';
      if (token) {
        for (const path of [inNamespace(other), 'v1/ponds']) {
          const answer = await library.ask('GET', `${path}?limit=1&continue=${token}`);
          expectFor(path, answer.code).toBe(400);
        }
      }
    } while (token);
    expect(names).toEqual(['a', 'b', 'c'].map((name) => `${one}/${name}`));
  });

  test('a unique value is unique in all namespaces, and found in its own alone', async () => {
    const [one, other] = [newNamespace(), newNamespace()];
    await create(one, 'n', { label: one });
    const { body } = await library.ask('POST', inNamespace(other), pond('m', { label: one }));
    expect(body).toMatchObject({ code: 409, reason: 'AlreadyExists', details: { name: 'm' } });
    const query = `?fieldSelector=spec.label=${one}`;
    expect(await listed(`v1/ponds${query}`)).toEqual([`${one}/n`]);
    expect(await listed(`${inNamespace(one)}${query}`)).toEqual([`${one}/n`]);
    expect(await listed(`${inNamespace(other)}${query}`)).toEqual([]);
    const found = await library.server.store.reader(Pond).byUnique('label', one);
    expect(found?.metadata).toMatchObject({ namespace: one, name: 'n' });
    const moved = await library.server.store
      .systemCall()
      .change((tx) => tx.byUnique(Pond, 'label', one));
    expect(moved?.metadata.namespace).toBe(one);
    await library.ask('DELETE', inNamespace(one, 'n'));
    await create(other, 'm', { label: one });
  });

  test('a deletecollection is of its namespace', async () => {
    const [one, other] = [newNamespace(), newNamespace()];
    for (const namespace of [one, other]) {
      for (const name of ['a', 'b']) await create(namespace, name);
    }
    const { body } = await library.ask(
      'DELETE',
      `${inNamespace(one)}?fieldSelector=metadata.name=a`,
    );
    expect(namesIn(body)).toEqual([`${one}/a`]);
    await library.ask('DELETE', inNamespace(one));
    expect(await listed(inNamespace(one))).toEqual([]);
    expect(await listed(inNamespace(other))).toEqual([`${other}/a`, `${other}/b`]);
  });

  test('a watch is of one namespace, of one name in it, or of all', async () => {
    const [one, other] = [newNamespace(), newNamespace()];
    await create(one, 'first');
    const base = `${library.server.url}/apis/${group}`;
    const { resourceVersion } = (await library.get('v1/ponds')).metadata;
    const since = `watch=1&resourceVersion=${resourceVersion}`;
    const opened = await Promise.all(
      [
        `${inNamespace(one)}?watch=1`,
        `${inNamespace(one)}?${since}&fieldSelector=metadata.name=a`,
        `${inNamespace(one, 'a')}?${since}`,
        `v1/watch/namespaces/${one}/ponds?resourceVersion=${resourceVersion}`,
        `v1/ponds?${since}`,
        `v1/ponds?${since}&fieldSelector=metadata.namespace=${other}`,
      ].map((path) => watch(`${base}/${path}`, {})),
    );
    await until(async () => opened[0]!.events.length > 0, 'what is there already');
    await create(one, 'a');
    await create(other, 'a');
    await create(one, 'b');
    await library.ask('DELETE', inNamespace(one, 'a'));
    await create(other, 'end');
    const expected = [
      ['ADDED first', 'ADDED a', 'ADDED b', 'DELETED a'],
      ['ADDED a', 'DELETED a'],
      ['ADDED a', 'DELETED a'],
      ['ADDED a', 'ADDED b', 'DELETED a'],
      ['ADDED a', 'ADDED a', 'ADDED b', 'DELETED a', 'ADDED end'],
      ['ADDED a', 'ADDED end'],
    ];
    await until(
      async () => opened.every(({ events }, i) => events.length >= expected[i]!.length),
      'all events',
    );
    expect(opened.map(({ events }) => events)).toEqual(expected);
    for (const one of opened) one.close();
  });

  test.each([
    ['Table', 'list', 'rows'],
    ['PartialObjectMetadataList', 'list', 'items'],
  ])('%s has the namespace of each object', async (as, _, member) => {
    const namespace = newNamespace();
    await create(namespace, 'n', { depth: 4 });
    const accept = `application/json;as=${as};g=meta.k8s.io;v=v1`;
    const response = await fetch(`${library.server.url}/apis/${group}/v1/ponds`, {
      headers: { Accept: accept },
    });
    const items = ((await response.json()) as any)[member].map((one: any) => one.object ?? one);
    const metadata = items.map((one: any) => one.metadata);
    expect(metadata).toContainEqual(expect.objectContaining({ namespace, name: 'n' }));
  });

  test('an older version has the namespace, too', async () => {
    const namespace = newNamespace();
    await create(namespace, 'n', { depth: 4 });
    expect(await library.get(`v1alpha1/namespaces/${namespace}/ponds/n`)).toMatchObject({
      metadata: { name: 'n', namespace },
      spec: { fathoms: 4 },
    });
  });

  test('transactions and readers name an object by its namespace', async () => {
    const { store } = library.server;
    const [namespace, other] = [newNamespace(), newNamespace()];
    const name = namespacedName({ namespace, name: 'n' });
    const call = store.systemCall();
    const spec = { depth: 2 };
    await call.change((tx) => tx.create(Pond, { metadata: { namespace, name: 'n' }, spec }));
    await call.change((tx) => tx.create(Pond, { metadata: { namespace: other, name: 'n' }, spec }));
    await call.change((tx) =>
      tx.update(Pond, name, (next) => {
        next.spec.depth = 3;
      }),
    );
    expect((await store.reader(Pond).get(name))?.spec.depth).toBe(3);
    expect((await store.reader(Pond).cached(name))?.metadata.namespace).toBe(namespace);
    expect((await store.reader(Pond).list(namespace)).map(({ spec: { depth } }) => depth)).toEqual([
      3,
    ]);
    const counts = await call.change(async (tx) => {
      const { length } = await tx.list(Pond, undefined, namespace);
      await tx.create(Pond, { metadata: { namespace, name: 'two' }, spec });
      await tx.create(Pond, { metadata: { namespace: `${other}-more`, name: 'two' }, spec });
      return [length, (await tx.list(Pond, undefined, namespace)).length];
    });
    expect(counts).toEqual([1, 2]);
    await store.commit([
      await store.stage(Pond, `${other}/n`, (old) => ({ ...old!, spec: { depth: 9 } })),
      await store.stage(Pond, `${other}/made`, () => ({ metadata: {}, spec })),
    ]);
    expect((await library.get(inNamespace(other, 'n'))).spec.depth).toBe(9);
    expect((await library.get(inNamespace(other, 'made'))).metadata.namespace).toBe(other);
    await call.change((tx) => tx.delete(Pond, name));
    expect(await call.change((tx) => tx.get(Pond, name))).toBeUndefined();
    const wrong = [
      call.change((tx) => tx.create(Pond, { metadata: { name: 'n' }, spec })),
      call.change((tx) => tx.create(Lake, { metadata: { name: 'n', namespace }, spec: {} })),
    ];
    await expect(wrong[0]).rejects.toThrow(
      'a Pond is created in a namespace: set metadata.namespace',
    );
    await expect(wrong[1]).rejects.toThrow(`a Lake is in no namespace (got "${namespace}")`);
  });

  test('a controller reconciles the object of its namespace', async () => {
    const [one, other, name] = [newNamespace(), newNamespace(), library.newName()];
    const untouched = await create(other, name);
    await create(one, name, { depth: 42 });
    const fish = async () => (await library.get(inNamespace(one, name))).status.fish;
    await until(async () => (await fish()) === 42, 'the fish');
    expect(await library.get(inNamespace(other, name))).toEqual(untouched);
  });

  test('a key has the namespace before the name', async () => {
    await create('of-the-key', 'n');
    const { entries } = await library.server.store.storage.list({
      start: 'objects/ponds/of-the-key/',
      end: 'objects/ponds/of-the-key0',
    });
    expect(entries.map(({ key }) => key)).toEqual(['objects/ponds/of-the-key/n']);
  });

  const referenceTo = (kind: string, { metadata: { name, uid } }: any, blocks = false) => ({
    apiVersion: `${group}/v1`,
    kind,
    name,
    uid,
    ...(blocks && { blockOwnerDeletion: true }),
  });
  const isGone = async (path: string): Promise<boolean> =>
    (await library.ask('GET', path)).code === 404;
  const owned = (namespace: string, name: string, reference: object): Promise<Answer> =>
    library.ask(
      'POST',
      inNamespace(namespace),
      pond(name, {}, { ownerReferences: [reference], finalizers: [] }),
    );

  test('an owner counts in its own namespace, and one without namespace in each', async () => {
    const [one, other] = [newNamespace(), newNamespace()];
    const owner = await create(one, 'owner');
    const lakeName = library.newName();
    const lake = (await library.ask('POST', 'v1/lakes', { metadata: { name: lakeName }, spec: {} }))
      .body;
    await owned(one, 'stays', referenceTo('Pond', owner));
    await owned(one, 'ofthelake', referenceTo('Lake', lake));
    await owned(other, 'absent', referenceTo('Pond', owner));
    await until(
      () => isGone(inNamespace(other, 'absent')),
      'a dependent in another namespace to go',
    );
    expect(await isGone(inNamespace(one, 'stays'))).toBe(false);
    await library.ask('DELETE', `v1/lakes/${lakeName}`);
    await until(() => isGone(inNamespace(one, 'ofthelake')), 'the dependent of the lake to go');
    expect(await isGone(inNamespace(one, 'stays'))).toBe(false);
    await library.ask('DELETE', inNamespace(one, 'owner'));
    await until(() => isGone(inNamespace(one, 'stays')), 'the dependent to go');
  });

  test('an object without namespace is not collected for an owner in one', async () => {
    const [namespace, name] = [newNamespace(), library.newName()];
    const owner = await create(namespace, 'owner');
    const ownerReferences = [referenceTo('Pond', owner, true)];
    await library.ask('POST', 'v1/lakes', { metadata: { name, ownerReferences }, spec: {} });
    const { code } = await library.ask('DELETE', inNamespace(namespace, 'owner'), {
      propagationPolicy: 'Foreground',
    });
    expect(code).toBe(200);
    await until(() => isGone(inNamespace(namespace, 'owner')), 'the owner to go');
    expect(await isGone(`v1/lakes/${name}`)).toBe(false);
  });

  test('a deletion in the foreground waits for dependents of its namespace', async () => {
    const namespace = newNamespace();
    const owner = await create(namespace, 'owner');
    const reference = referenceTo('Pond', owner, true);
    const body = pond('held', {}, { ownerReferences: [reference], finalizers: ['a/b'] });
    await library.ask('POST', inNamespace(namespace), body);
    await library.ask('DELETE', inNamespace(namespace, 'owner'), {
      propagationPolicy: 'Foreground',
    });
    await until(
      async () =>
        Boolean((await library.get(inNamespace(namespace, 'held'))).metadata.deletionTimestamp),
      'the dependent to be deleted',
    );
    expect(await isGone(inNamespace(namespace, 'owner'))).toBe(false);
    await library.ask(
      'PATCH',
      inNamespace(namespace, 'held'),
      { metadata: { finalizers: null } },
      mediaTypes.merge,
    );
    await until(() => isGone(inNamespace(namespace, 'owner')), 'the owner to go');
  });

  test('the authorizer decides by namespace, and a refusal names it', async () => {
    const [one, other] = [newNamespace(), newNamespace()];
    await create(one, 'n');
    await create(other, 'n');
    permits = ({ action, namespace, every }) =>
      action === 'discovery' ||
      (namespace === one && !every) ||
      (namespace === undefined && !every);
    expect(await listed(inNamespace(one))).toEqual([`${one}/n`]);
    expect(await listed('v1/ponds')).toEqual([`${one}/n`]);
    const { body } = await library.ask('POST', inNamespace(other), pond('m'));
    const reviews: [object, boolean][] = [
      [{ verb: 'list', namespace: one }, true],
      [{ verb: 'list', namespace: other }, false],
      [{ verb: 'get', namespace: one, name: 'n' }, true],
      [{ verb: 'get', namespace: other, name: 'n' }, false],
      [{ verb: 'get', namespace: other, name: 'n', subresource: 'status' }, false],
      [{ verb: 'list' }, true],
      [{ verb: 'list', namespace: 'No' }, false],
    ];
    const allowed: boolean[] = [];
    for (const [attributes] of reviews) {
      const review = await fetch(
        `${library.server.url}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews`,
        {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({
            spec: { resourceAttributes: { group, resource: 'ponds', ...attributes } },
          }),
        },
      );
      allowed.push(((await review.json()) as any).status.allowed);
    }
    permits = () => true;
    expect(body.code).toBe(401);
    expect(allowed).toEqual(reviews.map(([, is]) => is));
  });

  test('a refusal names the namespace, and one of all the cluster', async () => {
    const fishery = new Fishery('embedded');
    const token = 'a-token-of-enough-characters';
    const { url } = await fishery.start({
      kinds: [Pond],
      token,
      authorize: ({ action }) => ({ allowed: action === 'discovery', reasons: [] }),
    });
    const headers = { Authorization: `Bearer ${token}` };
    const scopes = [
      [inNamespace('north'), 'in the namespace "north"'],
      ['v1/ponds', 'at the cluster scope'],
    ];
    for (const [path, scope] of scopes) {
      const { code, body } = await ask(`${url}/apis/${group}/${path}`, { headers });
      expectFor(path, code).toBe(403);
      expectFor(path, body.message).toContain(`in API group "${group}" ${scope}: `);
    }
    await fishery.stop();
  });

  test('a namespace is there when it is named', async () => {
    const asks: [string, number][] = [
      ['default', 200],
      [newNamespace(), 200],
      ['No', 404],
      ['a.b', 404],
    ];
    for (const [name, code] of asks) {
      const response = await fetch(`${library.server.url}/api/v1/namespaces/${name}`);
      const { metadata } = (await response.json()) as any;
      expectFor(name, [response.status, metadata.name]).toEqual([
        code,
        code === 200 ? name : undefined,
      ]);
    }
    const all = await fetch(`${library.server.url}/api/v1/namespaces`);
    expect(((await all.json()) as any).items).toHaveLength(1);
  });

  test('discovery says which kinds are namespaced', async () => {
    const { resources } = await library.get('v1');
    const scopes = Object.fromEntries(resources.map((one: any) => [one.name, one.namespaced]));
    expect(scopes).toEqual({
      ponds: true,
      'ponds/status': true,
      'ponds/drain': true,
      lakes: false,
    });
    for (const version of ['v2', 'v2beta1']) {
      const response = await fetch(`${library.server.url}/apis`, {
        headers: {
          Accept: `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
        },
      });
      const { items } = (await response.json()) as any;
      const found = items[0].versions[0].resources.map((one: any) => [one.resource, one.scope]);
      expectFor(version, found).toEqual([
        ['ponds', 'Namespaced'],
        ['lakes', 'Cluster'],
      ]);
    }
  });

  test('OpenAPI has the namespace in its paths', async () => {
    const response = await fetch(`${library.server.url}/openapi/v3/apis/${group}/v1`);
    const { paths, components } = (await response.json()) as any;
    const root = `/apis/${group}/v1`;
    expect(Object.keys(paths)).toEqual([
      `${root}/namespaces/{namespace}/ponds/{name}`,
      `${root}/namespaces/{namespace}/ponds`,
      `${root}/ponds`,
      `${root}/namespaces/{namespace}/ponds/{name}/status`,
      `${root}/lakes/{name}`,
      `${root}/lakes`,
      `${root}/namespaces/{namespace}/ponds/{name}/drain`,
    ]);
    expect(Object.keys(paths[`${root}/ponds`])).toEqual(['get']);
    for (const [path, methods] of Object.entries<any>(paths)) {
      for (const [method, { parameters }] of Object.entries<any>(methods)) {
        const named = parameters.map(({ name }: any) => name).includes('namespace');
        expectFor(`${method} ${path}`, named).toBe(path.includes('{namespace}'));
      }
    }
    expect(components.schemas.ObjectMeta.properties.namespace).toMatchObject({ type: 'string' });
    const ids = Object.values<any>(paths).flatMap((methods) =>
      Object.values<any>(methods).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('metrics say whether a request was for a namespace', async () => {
    const namespace = newNamespace();
    await library.get(inNamespace(namespace));
    await library.get('v1/ponds');
    const text = await (await fetch(`${library.server.url}/metrics`)).text();
    for (const scope of ['namespace', 'cluster']) {
      expectFor(scope, text).toMatch(
        new RegExp(`apiserver_request_total{[^}]*verb="LIST"[^}]*scope="${scope}"`),
      );
    }
  });
});

describe('the scope of a kind', () => {
  test('a namespaced kind with an owner is refused, and a kind called namespaces', () => {
    const owned = define({
      ...common,
      kind: 'Owned',
      resource: 'owneds',
      scope: 'Namespaced',
      owner: 'spec.account',
      spec: z.object({ account: z.string() }),
    });
    expect(() => new Registry([owned], [])).toThrow('Owned is namespaced, and so has no owner');
    const named = define({
      ...common,
      kind: 'Namespace',
      resource: 'namespaces',
      spec: z.object({}),
    });
    expect(() => new Registry([named], [])).toThrow('cannot have the resource namespaces');
  });
});
