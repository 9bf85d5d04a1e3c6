import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { servedVersions } from '../../../kinds/api-version.js';
import { kinds } from '../../../kinds/index.js';
import { expectFor } from '../../support/expect-for.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';

const G = 'id.vestibule.org';
const mount = `/apis/${G}/v1beta1`;
const v3 = `/openapi/v3${mount}`;
const aggregated = (version: string): string =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
/** What kubectl 1.33 sends. */
const kubectl = `${aggregated('v2')},${aggregated('v2beta1')},application/json`;

let service: TestService;
let operator: Tab;
beforeAll(async () => {
  service = await startTest({
    flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
  });
  await createClient(service, 'app');
  operator = (await signIn(service, 'op@example.test')).tab;
});
afterAll(stopAll);

const get = (path: string, accept?: string) =>
  service.tab().get(path, { plain: true, headers: { accept } });

/**
 * Returns the definitions that the paths of an OpenAPI v2 document lead to. A cluster that takes one
 * version would keep any other with references to what it dropped, and kubectl refuses that.
 */
function reachedFrom({ paths, definitions }: any): ReadonlySet<string> {
  const found = new Set<string>();
  const follow = (from: unknown): void => {
    for (const [, name] of JSON.stringify(from).matchAll(/"#\/definitions\/([^"]+)"/g)) {
      if (!found.has(name!)) follow(found.add(name!) && definitions[name!]);
    }
  };
  follow(paths);
  return found;
}

describe('plain discovery (1.1)', () => {
  test('documents answer with a slash at their end as without; nothing else does', async () => {
    for (const path of [
      '/api',
      '/api/v1',
      '/api/v1beta1',
      '/apis',
      '/apis/id.vestibule.org',
      '/apis/id.vestibule.org/v1beta1',
      '/version',
    ]) {
      const [plain, slashed] = [await get(path).is(200), await get(`${path}/`).is(200)];
      expectFor(path, [slashed.bytes.toString(), slashed.headers.etag]).toEqual([
        plain.bytes.toString(),
        plain.headers.etag,
      ]);
      await get(`${path}//`).fails(404, 'NotFound');
    }
    for (const path of [
      '/openapi/v3/',
      '/openapi/v2/',
      '/api/openapi/v3/',
      '/livez/',
      '/readyz/',
      '/healthz/',
      '/api/v1beta1/policies/',
      '/apis/id.vestibule.org/v1beta1/policies/',
      '/account/',
    ]) {
      await get(path).fails(404, 'NotFound');
    }
  });

  test('what can be listed can be watched', async () => {
    const { resources } = (await get('/api/v1beta1').is(200)).body;
    const listed = resources.filter(({ verbs }: any) => verbs.includes('list'));
    expect(listed.length).toBeGreaterThan(10);
    expect(listed.filter(({ verbs }: any) => !verbs.includes('watch'))).toEqual([]);
  });

  test('one group, two versions, the same below a slash', async () => {
    const versions = servedVersions.map((version) => ({
      groupVersion: `${G}/${version}`,
      version,
    }));
    const [preferredVersion] = versions;
    for (const path of ['/apis', '/apis/']) {
      expect((await get(path).is(200)).body).toEqual({
        kind: 'APIGroupList',
        apiVersion: 'v1',
        groups: [{ name: G, versions, preferredVersion }],
      });
    }
    for (const path of [`/apis/${G}`, `/apis/${G}/`]) {
      expect((await get(path).is(200)).body).toEqual({
        kind: 'APIGroup',
        apiVersion: 'v1',
        name: G,
        versions,
        preferredVersion,
      });
    }
    for (const path of [
      '/openapi/v3/',
      '/apis/other',
      '/apis/apps/v1',
      `/apis/${G}/v1`,
      '/openapi/v3/apis',
      '/openapi/v3/api/v1',
      '/openapi/v2/',
      `${mount}/groups/`,
    ]) {
      await get(path).fails(404, 'NotFound');
    }
    for (const path of ['/apis', '/apis/', `/apis/${G}`, mount, '/openapi/v3', v3, '/openapi/v2']) {
      await service.tab().post(path, {}, { plain: true }).fails(405, 'MethodNotAllowed');
    }
  });

  test('both mounts list the same resources: main ones before any subresource', async () => {
    const { body } = await get(mount).is(200);
    expect((await get('/api/v1beta1').is(200)).body).toEqual(body);
    const names = body.resources.map((resource: any) => resource.name) as string[];
    expect(names.findIndex((name) => name.includes('/'))).toBe(
      names.filter((name) => !name.includes('/')).length,
    );
    expect(new Set(names).size).toBe(names.length);
    for (const resource of body.resources) {
      expect(resource.verbs).toEqual([...resource.verbs].sort());
      expect(resource).toMatchObject(
        resource.name.includes('/')
          ? { singularName: '', namespaced: false }
          : {
              singularName: expect.stringMatching(/^[a-z]+$/),
              namespaced: false,
              categories: ['identity'],
            },
      );
    }
    const of = (name: string): any =>
      body.resources.find((resource: any) => resource.name === name);
    expect(
      Object.fromEntries(
        [
          'sessions',
          'accounts',
          'passkeys',
          'policydecisions',
          'policies',
          'claimsreviews',
          'groups',
        ].map((name) => [name, of(name).shortNames]),
      ),
    ).toEqual({
      sessions: ['sess'],
      accounts: ['acct'],
      passkeys: ['pk'],
      policydecisions: ['pd'],
      policies: ['pol'],
      claimsreviews: ['cr'],
      groups: undefined,
    });
    expect([of('policies').singularName, of('claimsproviders').singularName]).toEqual([
      'policy',
      'claimsprovider',
    ]);
    expect([
      of('interactions/emailchallenge').kind,
      of('interactions/login').kind,
      of('interactions/account').kind,
      of('interactions/passkeys').kind,
    ]).toEqual(['EmailChallenge', 'Login', 'Account', 'Passkey']);
    expect([of('interactions/account').verbs, of('interactions/login').verbs]).toEqual([
      ['get', 'patch'],
      ['create'],
    ]);
  });

  test('a version that kubectl can compare', async () => {
    const { body } = await get('/version').is(200);
    expect(body.gitVersion).toMatch(/^v1\.\d+\.\d+\+vestibule\.\d+\.\d+\.\d+$/);
    expect(body.buildDate).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(Object.keys(body).sort()).toEqual([
      'buildDate',
      'compiler',
      'gitCommit',
      'gitTreeState',
      'gitVersion',
      'goVersion',
      'major',
      'minor',
      'platform',
    ]);
  });
});

describe('aggregated discovery (1.1, 1.2)', () => {
  test.each(['v2', 'v2beta1'])(
    '%s alone is answered as itself, with a responseKind everywhere',
    async (version) => {
      for (const accept of [
        aggregated(version),
        `application/json;as=APIGroupDiscoveryList;v=${version};g=apidiscovery.k8s.io;profile=nopeer`,
      ]) {
        const { body, headers } = await get('/apis', accept).is(200);
        expect(headers['content-type']).toBe(aggregated(version));
        expect(body).toMatchObject({
          kind: 'APIGroupDiscoveryList',
          apiVersion: `apidiscovery.k8s.io/${version}`,
          metadata: {},
          items: [
            {
              metadata: { name: G },
              versions: servedVersions.map((served) => ({ version: served, freshness: 'Current' })),
            },
          ],
        });
        const { resources } = body.items[0].versions[0];
        const { resources: plain } = (await get(mount).is(200)).body;
        const flat = resources.flatMap((resource: any) => [
          resource,
          ...(resource.subresources ?? []).map((sub: any) => ({
            ...sub,
            resource: `${resource.resource}/${sub.subresource}`,
          })),
        ]);
        expect(
          Object.fromEntries(flat.map((one: any) => [one.resource, [one.responseKind, one.verbs]])),
        ).toEqual(
          Object.fromEntries(
            plain.map((one: any) => [
              one.name,
              [{ group: G, version: 'v1beta1', kind: one.kind }, one.verbs],
            ]),
          ),
        );
        for (const resource of resources) {
          expect(resource).toMatchObject({
            scope: 'Cluster',
            singularResource: expect.stringMatching(/./),
            categories: ['identity'],
          });
        }
      }
    },
  );

  test('/api has the core group for those clients, and its versions for all others', async () => {
    const { body, headers } = await get('/api', kubectl).is(200);
    expect([headers['content-type'], body]).toEqual([
      aggregated('v2'),
      {
        kind: 'APIGroupDiscoveryList',
        apiVersion: 'apidiscovery.k8s.io/v2',
        metadata: {},
        items: [
          {
            metadata: {},
            versions: [
              {
                version: 'v1',
                resources: [
                  {
                    resource: 'namespaces',
                    responseKind: { group: '', version: 'v1', kind: 'Namespace' },
                    scope: 'Cluster',
                    singularResource: 'namespace',
                    verbs: ['get', 'list', 'watch'],
                    shortNames: ['ns'],
                  },
                  {
                    resource: 'events',
                    responseKind: { group: '', version: 'v1', kind: 'Event' },
                    scope: 'Namespaced',
                    singularResource: 'event',
                    verbs: ['list', 'watch'],
                    shortNames: ['ev'],
                  },
                ],
                freshness: 'Current',
              },
            ],
          },
        ],
      },
    ]);
    for (const accept of [
      'application/json',
      '*/*',
      undefined,
      'text/html,application/xhtml+xml,*/*;q=0.8',
    ]) {
      expect((await get('/api', accept).is(200)).body).toMatchObject({
        versions: ['v1'],
        groupVersions: servedVersions.map((served) => `${G}/${served}`),
      });
    }
  });

  test('the first clause that can be served wins; none is 406', async () => {
    for (const [accept, type] of [
      [kubectl, aggregated('v2')],
      [`${aggregated('v2beta1')},application/json`, aggregated('v2beta1')],
      [`${aggregated('v9')},${aggregated('v2')}`, aggregated('v2')],
      [
        `application/json;g=other;v=v2;as=APIGroupDiscoveryList,application/json`,
        'application/json',
      ],
      [`application/json,${aggregated('v2')}`, 'application/json'],
      [`${aggregated('v2')};q=0.1,application/json`, 'application/json'],
      ['application/vnd.kubernetes.protobuf, application/json;q=0.5', 'application/json'],
    ] as const) {
      expectFor(accept, (await get('/apis', accept).is(200)).headers['content-type']).toEqual(type);
    }
    for (const accept of [
      aggregated('v9'),
      'application/vnd.kubernetes.protobuf',
      'application/json;q=0',
      'application/yaml;q=0',
    ]) {
      await get('/apis', accept).fails(406, 'NotAcceptable');
    }
    for (const path of [`/apis/${G}`, mount, '/api/v1beta1']) {
      expect((await get(path, kubectl).is(200)).headers['content-type']).toBe('application/json');
      await get(path, aggregated('v2')).fails(406, 'NotAcceptable');
    }
  });

  test('each form has an ETag of its own, and 304 answers a caller that has it', async () => {
    const etags = new Set<string>();
    for (const [path, accept] of [
      ['/apis', kubectl],
      ['/apis', aggregated('v2beta1')],
      ['/apis', 'application/json'],
      ['/api', kubectl],
      ['/api', '*/*'],
      [`/apis/${G}`, '*/*'],
      ['/openapi/v3', '*/*'],
      [v3, '*/*'],
      ['/openapi/v2', '*/*'],
    ] as const) {
      const first = await get(path, accept).is(200);
      expectFor(path, [first.headers.vary, first.headers['cache-control']]).toEqual([
        'Accept, Accept-Encoding',
        'public, max-age=0',
      ]);
      etags.add(first.headers.etag!);
      const again = await service
        .tab()
        .get(path, { plain: true, headers: { accept, 'if-none-match': first.headers.etag! } })
        .is(304);
      expect([again.bytes.length, again.headers.etag]).toEqual([0, first.headers.etag]);
    }
    expect(etags.size).toBe(9);
  });
});

describe('the second mount', () => {
  test('answers as the first does, with the same objects and versions', async () => {
    const { body } = await operator
      .post(`${mount}/groups`, { metadata: { name: 'both' }, spec: { displayName: 'Both' } })
      .is(201);
    expect((await operator.get('groups/both').is(200)).body).toEqual(body);
    const { body: patched } = await operator
      .patch(`${mount}/groups/both`, { spec: { displayName: 'One' } })
      .is(200);
    expect((await operator.get(`${mount}/groups`).is(200)).body.items).toEqual(
      (await operator.get('groups').is(200)).body.items,
    );
    expect((await operator.put('groups/both', patched).is(200)).body.metadata.resourceVersion).toBe(
      patched.metadata.resourceVersion,
    );
    await operator.post(`${mount}/groups/both`, {}).fails(405, 'MethodNotAllowed');
    await operator.get(`${mount}/groups/both/status`).fails(404, 'NotFound');
    await operator.delete(`${mount}/groups/both`).is(200);
    await operator.get('groups/both').fails(404, 'NotFound');
  });
});

describe('OpenAPI for kubectl (1.3)', () => {
  test('the index leads to a document that may be kept for ever', async () => {
    const { body } = await get('/openapi/v3').is(200);
    const { serverRelativeURL: address } = body.paths[`apis/${G}/v1beta1`];
    expect([
      Object.keys(body),
      Object.keys(body.paths),
      /^\/openapi\/v3\/apis\/id\.vestibule\.org\/v1beta1\?hash=[0-9A-F]{32}$/.test(address),
    ]).toEqual([['paths'], servedVersions.map((version) => `apis/${G}/${version}`), true]);
    const right = await get(address).is(200);
    expect([right.headers['cache-control'], right.headers.vary, right.headers.etag]).toEqual([
      'public, immutable',
      'Accept, Accept-Encoding',
      `"${address.split('=')[1]}"`,
    ]);
    expect(Date.parse(right.headers.expires!) - Date.now()).toBeGreaterThan(364 * 86_400_000);
    for (const hash of ['', 'WRONG', address.split('=')[1].toLowerCase()]) {
      expect((await get(`${v3}?hash=${hash}`).is(301)).headers.location).toBe(address);
    }
    expect((await get(v3).is(200)).bytes.equals(right.bytes)).toBe(true);
    for (const accept of [
      'application/com.github.proto-openapi.spec.v3@v1.0+protobuf',
      'application/yaml;q=0',
    ]) {
      await get(v3, accept).fails(406, 'NotAcceptable');
    }
  });

  test('a v2 document that has the kinds, and is empty as protobuf', async () => {
    for (const accept of [
      'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
      'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
      'application/com.github.proto-openapi.spec.v2@v1.0+protobuf,application/json',
    ]) {
      const { bytes, headers } = await get('/openapi/v2', accept).is(200);
      expect([bytes.length, headers['content-type']]).toEqual([
        0,
        'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
      ]);
    }
    const { body } = await get('/openapi/v2').is(200);
    const prefixOf = (version: string): string => `org.vestibule.id.${version}.`;
    const [paths, definitions]: [string[], string[]] = [[], []];
    for (const version of servedVersions) {
      const { body: newer } = await get(`/openapi/v3/apis/${G}/${version}`).is(200);
      paths.push(...Object.keys(newer.paths));
      definitions.push(
        ...Object.keys(newer.components.schemas).map((name) => prefixOf(version) + name),
      );
      // As Terraform's kubernetes_manifest finds the type of an object.
      for (const { kind } of kinds) {
        const schema = body.definitions[prefixOf(version) + kind];
        expect(schema['x-kubernetes-group-version-kind']).toEqual([{ group: G, version, kind }]);
      }
    }
    expect([body.swagger, Object.keys(body.paths)]).toEqual(['2.0', paths]);
    expect(definitions).toEqual(expect.arrayContaining(Object.keys(body.definitions)));
    expect(Object.keys(body.definitions).sort()).toEqual([...reachedFrom(body)].sort());
    const prefix = prefixOf('v1beta1');
    const text = JSON.stringify(body);
    for (const word of ['#/components/', '"nullable"', '"requestBody"', '"content"', '"allOf"']) {
      expectFor(word, text.includes(word)).toEqual(false);
    }
    for (const [, name] of text.matchAll(/"\$ref":"#\/definitions\/([^"]+)"/g)) {
      expect(body.definitions).toHaveProperty([name!]);
    }
    const { post } = body.paths[`${mount}/groups`];
    expect(post.parameters.find((parameter: any) => parameter.in === 'body')).toMatchObject({
      name: 'body',
      required: true,
    });
    expect([post.consumes, post.responses['201'].schema]).toEqual([
      ['application/json'],
      { $ref: `#/definitions/${prefix}Group` },
    ]);
  });

  test('its operations tell kind, action, validation and the types of patch', async () => {
    const { body } = await get(v3).is(200);
    const { resources } = (await get(mount).is(200)).body as {
      resources: { name: string; kind: string; verbs: string[] }[];
    };
    const methods: Record<string, readonly [boolean, string, string]> = {
      get: [true, 'get', 'get'],
      list: [false, 'get', 'list'],
      create: [false, 'post', 'post'],
      update: [true, 'put', 'put'],
      patch: [true, 'patch', 'patch'],
      delete: [true, 'delete', 'delete'],
      deletecollection: [false, 'delete', 'deletecollection'],
    };
    for (const { name, kind, verbs } of resources) {
      for (const verb of verbs) {
        if (verb === 'watch') continue;
        const [resource, subresource] = name.split('/');
        const [item, method, action] = methods[verb]!;
        const path = subresource
          ? `${mount}/${resource}/{name}/${subresource}`
          : `${mount}/${resource}${item ? '/{name}' : ''}`;
        const operation = body.paths[path]?.[method];
        expectFor(
          [path, method],
          [operation?.['x-kubernetes-group-version-kind'], operation?.['x-kubernetes-action']],
        ).toEqual([{ group: G, version: 'v1beta1', kind }, action]);
        if (method !== 'patch') continue;
        expect(operation.parameters).toContainEqual(
          expect.objectContaining({ name: 'fieldValidation', in: 'query' }),
        );
        expect(Object.keys(operation.requestBody.content)).toEqual([
          'application/merge-patch+json',
          'application/json-patch+json',
          ...(subresource ? [] : ['application/apply-patch+yaml']),
        ]);
      }
    }
    for (const { name, kind } of resources.filter((resource) => !resource.name.includes('/'))) {
      expectFor(name, body.components.schemas[kind]['x-kubernetes-group-version-kind']).toEqual([
        { group: G, version: 'v1beta1', kind },
      ]);
    }
  });

  test('its schemas are what Go reads: one type, no unions, all described', async () => {
    const { body } = await get(v3).is(200);
    expect(body.openapi).toBe('3.0.0');
    const words = new Set([
      '$ref',
      'allOf',
      'type',
      'description',
      'properties',
      'required',
      'items',
      'additionalProperties',
      'enum',
      'default',
      'format',
      'nullable',
      'minimum',
      'maximum',
      'exclusiveMinimum',
      'exclusiveMaximum',
      'minLength',
      'maxLength',
      'minItems',
      'maxItems',
      'pattern',
      'x-kubernetes-preserve-unknown-fields',
      'x-kubernetes-group-version-kind',
      'x-kubernetes-selectable-fields',
      'x-kubernetes-list-map-keys',
      'x-kubernetes-list-type',
    ]);
    const faults: string[] = [];
    const check = (schema: any, at: string): void => {
      if (schema.properties && Object.keys(schema.properties).length === 0) {
        faults.push(`${at}: no properties`);
      }
      for (const word of Object.keys(schema)) if (!words.has(word)) faults.push(`${at}: ${word}`);
      if (schema.$ref && !body.components.schemas[schema.$ref.split('/').at(-1)]) {
        faults.push(`${at}: ${schema.$ref}`);
      }
      if (
        schema.type !== undefined &&
        !['object', 'array', 'string', 'integer', 'number', 'boolean'].includes(schema.type)
      ) {
        faults.push(`${at}: ${schema.type}`);
      }
      for (const word of ['exclusiveMinimum', 'exclusiveMaximum']) {
        if (schema[word] !== undefined && typeof schema[word] !== 'boolean') {
          faults.push(`${at}: ${word}`);
        }
      }
      if (
        schema.format !== undefined &&
        !['int32', 'int64', 'date-time', 'byte', 'double'].includes(schema.format)
      ) {
        faults.push(`${at}: ${schema.format}`);
      }
      for (const [name, property] of Object.entries<any>(schema.properties ?? {})) {
        if (!property.description && !property.$ref) faults.push(`${at}.${name}: nothing said`);
        check(property, `${at}.${name}`);
      }
      for (const inner of [
        schema.items,
        ...(schema.allOf ?? []),
        ...(typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : []),
      ]) {
        if (inner) check(inner, `${at}/`);
      }
    };
    for (const [name, schema] of Object.entries(body.components.schemas)) check(schema, name);
    for (const [path, methods] of Object.entries<any>(body.paths)) {
      for (const [method, { parameters, requestBody, responses }] of Object.entries<any>(methods)) {
        for (const { schema } of [
          ...(parameters ?? []),
          ...[requestBody, ...Object.values<any>(responses)].flatMap((one) =>
            Object.values<any>(one?.content ?? {}),
          ),
        ]) {
          check(schema, `${method} ${path}`);
        }
      }
    }
    expect(faults).toEqual([]);
    expect(JSON.stringify(body.paths)).not.toContain('"required":false'); // Go would not write it again
    expect(body.components.schemas.Passkey.properties.status.properties.lastUsedTimestamp).toEqual({
      type: 'string',
      format: 'date-time',
      nullable: true,
      description: expect.any(String),
    });
    const login =
      body.paths[`${mount}/interactions/{name}/login`].post.requestBody.content['application/json']
        .schema.properties.spec;
    expect([
      login.properties.method.enum,
      Object.keys(login.properties).sort(),
      login.required,
    ]).toEqual([
      ['EmailCode', 'EmailLink', 'Passkey'],
      ['code', 'credential', 'method', 'token'],
      ['method'],
    ]);
  });
});
