import { afterAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import {
  type AnyKind,
  type AuthorizationAttributes,
  kindsOf,
  openStorage,
  Registry,
  startApiServer,
} from '../../apiserver/library/index.js';
import { StoredVersions } from '../../registry/store/replicas/stored-versions.js';
import { until } from '../provider/support/fixture.js';
import { expectFor } from '../support/expect-for.js';
import { stopAll, temporary } from '../support/service.js';
import { stores } from '../support/stores.js';
import { watch } from './fishery.js';
import { type Answer, LibraryServer, mediaTypes, verbs } from './fixture.js';

const wardle = 'wardle.example.com';
const weather = 'weather.example.com';
const common = {
  description: 'What stands somewhere.',
  verbs,
  spec: z.object({
    place: z.string().default('north').describe('Where.'),
    label: z.string().optional().describe('What no other one is called.'),
  }),
  status: z.object({ seen: z.number().int().optional().describe('How often.') }),
  hasStatusSubresource: true,
  columns: {},
  unique: { label: ({ spec }: any) => spec.label },
};
const inWardle = kindsOf({ group: wardle, version: 'v1', versions: [{ version: 'v1alpha1' }] });
const inWeather = kindsOf({
  group: weather,
  version: 'v2',
  versions: [{ version: 'v2beta1', deprecated: true }],
  hasQualifiedKeys: true,
});
const Fish = inWardle({ ...common, kind: 'Station', resource: 'stations' });
const Flunder = inWardle({ ...common, kind: 'Flunder', resource: 'flunders' });
const Weather = inWeather({
  ...common,
  kind: 'Station',
  resource: 'stations',
  names: { v2beta1: { 'spec.place': 'site' } },
});
const Cloud = inWeather({ ...common, kind: 'Cloud', resource: 'clouds' });
const kinds: readonly AnyKind[] = [Fish, Flunder, Weather, Cloud];

afterAll(stopAll);

describe.each(stores)('two groups on %s', (store) => {
  let asked: AuthorizationAttributes[] = [];
  const library = new LibraryServer(store, kinds, {
    authorize: (attributes) => {
      asked.push(attributes);
      return { allowed: true, reasons: [] };
    },
  });

  async function send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(library.server.url + path, {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      code: response.status,
      body: text.startsWith('{') ? JSON.parse(text) : text,
      warning: response.headers.get('warning'),
    };
  }
  const read = async (path: string, accept = 'application/json'): Promise<any> => {
    const { code, body } = await send('GET', path, undefined, { Accept: accept });
    expectFor(path, code).toBe(200);
    return body;
  };
  const fish = `/apis/${wardle}/v1/stations`;
  const sky = `/apis/${weather}/v2/stations`;
  const station = (path: string, name: string, spec: object = {}) => ({
    apiVersion: path.split('/').slice(2, 4).join('/'),
    kind: 'Station',
    metadata: { name },
    spec,
  });
  async function create(path: string, name: string, spec: object = {}): Promise<any> {
    const { code, body } = await send('POST', path, station(path, name, spec));
    expectFor(path, code).toBe(201);
    return body;
  }
  const patch = (path: string, body: unknown, type: keyof typeof mediaTypes): Promise<Answer> =>
    send('PATCH', path, body, { 'Content-Type': mediaTypes[type] });

  /** Every road on which objects of one group are changed. */
  const roads: [string, (path: string, name: string) => Promise<Answer>][] = [
    [
      'PUT',
      async (path, name) => {
        const object = await read(`${path}/${name}`);
        return send('PUT', `${path}/${name}`, { ...object, spec: { place: 'south' } });
      },
    ],
    [
      'a merge patch',
      (path, name) => patch(`${path}/${name}`, { spec: { place: 'south' } }, 'merge'),
    ],
    [
      'a JSON patch',
      (path, name) =>
        patch(`${path}/${name}`, [{ op: 'replace', path: '/spec/place', value: 'south' }], 'json'),
    ],
    [
      'an apply',
      (path, name) =>
        patch(
          `${path}/${name}?fieldManager=ada&force=true`,
          station(path, name, { place: 'south' }),
          'apply',
        ),
    ],
    [
      'a patch of its status',
      (path, name) => patch(`${path}/${name}/status`, { status: { seen: 1 } }, 'merge'),
    ],
    ['DELETE', (path, name) => send('DELETE', `${path}/${name}`)],
    ['deletecollection', (path) => send('DELETE', path)],
  ];

  test.each(roads)('%s leaves the resource of that name in the other group', async (_, run) => {
    for (const [path, otherPath] of [
      [fish, sky],
      [sky, fish],
    ] as const) {
      const name = library.newName();
      const [stored, other] = [await create(path, name), await create(otherPath, name)];
      expect([stored.apiVersion, other.apiVersion]).toEqual(
        [path, otherPath].map((one) => one.split('/').slice(2, 4).join('/')),
      );
      const listed = await read(otherPath);
      asked = [];
      expectFor(path, (await run(path, name)).code).toBe(200);
      for (const { kind } of asked) expectFor(path, kind?.group).toBe(path.split('/')[2]);
      expect(await read(`${otherPath}/${name}`)).toEqual(other);
      expect((await read(otherPath)).items).toEqual(listed.items);
      const now = await send('GET', `${path}/${name}`);
      expect(now.body.metadata?.resourceVersion).not.toBe(stored.metadata.resourceVersion);
    }
  });

  test('a watch has the events of its group alone', async () => {
    const { resourceVersion } = (await read(fish)).metadata;
    const opened = await Promise.all(
      [fish, sky].map((path) =>
        watch(`${library.server.url}${path}?watch=1&resourceVersion=${resourceVersion}`, {}),
      ),
    );
    const name = library.newName();
    await create(fish, `${name}-fish`);
    await create(sky, `${name}-sky`);
    await until(async () => opened.every(({ events }) => events.length > 0), 'the events');
    await create(fish, `${name}-end`);
    await until(async () => opened[0]!.events.length > 1, 'the last event');
    expect(opened.map(({ events }) => events)).toEqual([
      [`ADDED ${name}-fish`, `ADDED ${name}-end`],
      [`ADDED ${name}-sky`],
    ]);
    for (const one of opened) one.close();
  });

  test('a unique value is unique in its group', async () => {
    const label = library.newName();
    await create(fish, `${label}-a`, { label });
    await create(sky, `${label}-b`, { label });
    const { code } = await send('POST', sky, station(sky, `${label}-c`, { label }));
    expect(code).toBe(409);
  });

  test('transactions and readers know the group by the kind', async () => {
    const name = library.newName();
    await create(fish, name, { place: 'fish' });
    await create(sky, name, { place: 'sky' });
    const { store: objects } = library.server;
    for (const [kind, place] of [
      [Fish, 'fish'],
      [Weather, 'sky'],
    ] as const) {
      const call = objects.systemCall();
      expect((await call.change((tx) => tx.get(kind, name)))?.spec.place).toBe(place);
      expect((await objects.reader(kind).cached(name))?.spec.place).toBe(place);
    }
  });

  test('keys of one group are as they were, and of others have its name', async () => {
    const name = library.newName();
    await create(fish, name);
    await create(sky, name);
    const { storage } = library.server.store;
    for (const key of [`objects/stations/${name}`, `objects/stations.${weather}/${name}`]) {
      expectFor(key, (await storage.get(key)).entry).toBeDefined();
    }
  });

  test('an owner of another group counts', async () => {
    const [name, decoy] = [library.newName(), library.newName()];
    const { metadata } = await create(fish, name);
    await create(sky, decoy);
    const owned = async (apiVersion: string, uid: string): Promise<string> => {
      const path = `/apis/${weather}/v2/clouds`;
      const ownerReferences = [{ apiVersion, kind: 'Station', name, uid }];
      const body = { metadata: { generateName: 'cloud-', ownerReferences }, spec: {} };
      const answer = await send('POST', path, body);
      expect(answer.code).toBe(201);
      return `${path}/${answer.body.metadata.name}`;
    };
    const kept = await owned(`${wardle}/v1alpha1`, metadata.uid);
    const wrong = await owned(`${weather}/v2`, metadata.uid);
    const gone = async (path: string) => (await send('GET', path)).code === 404;
    await until(() => gone(wrong), 'what names an absent owner to go');
    expect(await gone(kept)).toBe(false);
    await send('DELETE', `${fish}/${name}`);
    await until(() => gone(kept), 'the dependent to go');
  });

  const versionsOf = (group: string, names: readonly string[]) =>
    names.map((version) => ({ groupVersion: `${group}/${version}`, version }));

  test('discovery lists both groups with their versions', async () => {
    const groups = [
      { name: wardle, versions: versionsOf(wardle, ['v1', 'v1alpha1']) },
      { name: weather, versions: versionsOf(weather, ['v2', 'v2beta1']) },
    ].map((one) => ({ ...one, preferredVersion: one.versions[0] }));
    expect((await read('/apis')).groups).toEqual(groups);
    for (const group of groups) {
      expectFor(group.name, await read(`/apis/${group.name}`)).toMatchObject(group);
    }
    const resourcesAt = async (path: string) =>
      (await read(path)).resources.map(({ name }: any) => name);
    for (const version of ['v1', 'v1alpha1']) {
      expectFor(version, await resourcesAt(`/apis/${wardle}/${version}`)).toEqual([
        'stations',
        'flunders',
        'stations/status',
        'flunders/status',
      ]);
    }
    for (const version of ['v2', 'v2beta1']) {
      expectFor(version, await resourcesAt(`/apis/${weather}/${version}`)).toEqual([
        'stations',
        'clouds',
        'stations/status',
        'clouds/status',
      ]);
    }
    expect((await read('/api')).groupVersions).toEqual(
      groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => groupVersion)),
    );
  });

  test.each(['v2', 'v2beta1'])('aggregated discovery of %s has both groups', async (version) => {
    const accept = `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
    const { items } = await read('/apis', accept);
    const found = items.map(({ metadata, versions }: any) => [
      metadata.name,
      versions.map((one: any) => [one.version, one.resources.map(({ resource }: any) => resource)]),
      versions[0].resources[0].responseKind,
    ]);
    expect(found).toEqual([
      [
        wardle,
        ['v1', 'v1alpha1'].map((one) => [one, ['stations', 'flunders']]),
        { group: wardle, version: 'v1', kind: 'Station' },
      ],
      [
        weather,
        ['v2', 'v2beta1'].map((one) => [one, ['stations', 'clouds']]),
        { group: weather, version: 'v2', kind: 'Station' },
      ],
    ]);
    expect((await read('/api', accept)).items).toHaveLength(1);
  });

  test('OpenAPI has a document of each version of each group', async () => {
    const all = [`${wardle}/v1`, `${wardle}/v1alpha1`, `${weather}/v2`, `${weather}/v2beta1`];
    const { paths } = await read('/openapi/v3');
    expect(Object.keys(paths)).toEqual(all.map((one) => `apis/${one}`));
    for (const apiVersion of all) {
      const document = await read(paths[`apis/${apiVersion}`].serverRelativeURL);
      const [group, version] = apiVersion.split('/');
      const other = group === wardle ? 'Cloud' : 'Flunder';
      expectFor(apiVersion, Object.keys(document.components.schemas)).not.toContain(other);
      expectFor(apiVersion, document.components.schemas.Station).toMatchObject({
        'x-kubernetes-group-version-kind': [{ group, version, kind: 'Station' }],
      });
      for (const path of Object.keys(document.paths)) {
        expectFor(path, path.startsWith(`/apis/${apiVersion}/`)).toBe(true);
      }
    }
    const { definitions, paths: all2 } = await read('/openapi/v2');
    for (const apiVersion of all) {
      const [group, version] = apiVersion.split('/') as [string, string];
      const name = `${group.split('.').reverse().join('.')}.${version}.Station`;
      expectFor(name, definitions[name]).toBeDefined();
      expectFor(apiVersion, all2[`/apis/${apiVersion}/stations`]).toBeDefined();
    }
  });

  test('the first group alone is served below /api, except as v1', async () => {
    const name = library.newName();
    await create(fish, name);
    expect((await read(`/api/v1alpha1/stations/${name}`)).apiVersion).toBe(`${wardle}/v1alpha1`);
    for (const path of ['/api/v1/stations', '/api/v2/stations', '/api/v2', '/api/v2beta1']) {
      expectFor(path, (await send('GET', path)).code).toBe(404);
    }
    expect(await read('/api/v1')).toMatchObject({ groupVersion: 'v1' });
    expect((await read('/api/v1/namespaces/default')).kind).toBe('Namespace');
    const described = Object.keys((await read('/api/openapi/v3')).paths);
    expect(described).toContain(`/apis/${wardle}/v1/stations`);
    expect(described).not.toContain('/api/v1/stations');
  });

  test('a warning names the preferred version of the group', async () => {
    const name = library.newName();
    await create(sky, name, { place: 'west' });
    const { body, warning } = await send('GET', `/apis/${weather}/v2beta1/stations/${name}`);
    expect(body.spec).toEqual({ site: 'west' });
    expect(warning).toContain(
      `${weather}/v2beta1 Station is deprecated; use ${weather}/v2 Station`,
    );
    expect((await send('GET', `/apis/${wardle}/v1alpha1/stations`)).warning).toBeNull();
  });

  test('an access review knows the groups', async () => {
    const review = async (kind: string, spec: object): Promise<any> =>
      (await send('POST', `/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s`, { kind, spec }))
        .body.status;
    const asking = (group: string, resource: string) =>
      review('SelfSubjectAccessReview', {
        resourceAttributes: { group, resource, verb: 'list' },
      });
    const asks: [string, string, boolean][] = [
      [wardle, 'flunders', true],
      [weather, 'clouds', true],
      [weather, 'flunders', false],
      [wardle, 'clouds', false],
      ['absent.example.com', 'stations', false],
      ['*', '*', true],
    ];
    for (const [group, resource, allowed] of asks) {
      expectFor(`${resource}.${group}`, (await asking(group, resource)).allowed).toBe(allowed);
    }
    asked = [];
    await asking(weather, 'stations');
    const stations = asked.flatMap(({ kind }) => (kind ? [kind.group] : []));
    expect([...new Set(stations)]).toEqual([weather]);
    const { resourceRules } = await review('SelfSubjectRulesReview', {});
    const served = resourceRules.map(({ apiGroups, resources }: any) => [
      ...apiGroups,
      ...resources,
    ]);
    expect(served).toContainEqual([weather, 'stations']);
    expect(served).toContainEqual([wardle, 'stations']);
  });
});

describe('the versions in which two groups are stored', () => {
  test('each group has its own record', async () => {
    const storage = await openStorage({ directory: temporary() });
    const registry = new Registry(kinds, []);
    for (const group of registry.groups) {
      await StoredVersions.open(storage, registry, group);
    }
    const read = async (key: string) =>
      JSON.parse(String((await storage.get(key)).entry?.value ?? 'null'));
    expect(await read('meta/stored-versions')).toEqual({ written: 'v1', present: ['v1'] });
    expect(await read(`meta/stored-versions/${weather}`)).toEqual({
      written: 'v2',
      present: ['v2'],
    });
    const other = kindsOf({ group: weather, version: 'v3', hasQualifiedKeys: true });
    const next = new Registry(
      [Fish, Flunder, other({ ...common, kind: 'Cloud', resource: 'clouds' })],
      [],
    );
    await StoredVersions.open(storage, next);
    await expect(StoredVersions.open(storage, next, next.groups[1])).rejects.toThrow(
      'the store has objects of version v2, and this release reads v3',
    );
    await storage.close();
  });

  test('a group that is added later leaves the objects of the first one', async () => {
    const directory = temporary();
    const start = async (served: readonly AnyKind[]) =>
      startApiServer({ kinds: served, storage: await openStorage({ directory }) });
    const before = await start([Fish]);
    const call = before.store.systemCall();
    await call.change((tx) =>
      tx.create(Fish, { metadata: { name: 'old' }, spec: { place: 'north' } }),
    );
    await before.stop();
    for (const served of [
      [Fish, Weather],
      [Weather, Fish],
    ]) {
      const after = await start(served);
      expect((await after.store.reader(Fish).get('old'))?.metadata.name).toBe('old');
      expect(await after.store.reader(Weather).list()).toEqual([]);
      await after.stop();
    }
  });
});

describe('groups that contradict each other', () => {
  const plain = kindsOf({ group: weather, version: 'v2' });

  test('two whose keys have no group are refused, with what to set', () => {
    const Plain = plain({ ...common, kind: 'Cloud', resource: 'clouds' });
    expect(() => new Registry([Fish, Plain], [])).toThrow(
      `${wardle} and ${weather} would share keys of the store: set hasQualifiedKeys in kindsOf of the ` +
        'group that has no objects yet',
    );
  });

  test('kinds of one group with other versions are refused', () => {
    const Other = kindsOf({ group: weather, version: 'v9', hasQualifiedKeys: true })({
      ...common,
      kind: 'Other',
      resource: 'others',
    });
    expect(() => new Registry([Fish, Weather, Other], [])).toThrow(
      `all kinds of a group must have its versions: Station is of ${weather}/v2, Other of ${weather}/v9`,
    );
  });
});
