import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { expectFor } from '../../support/expect-for.js';
import { startWithOperator } from '../../support/people/operator.js';
import type { Pending } from '../../support/people/tab.js';
import { stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const apiVersion = 'id.vestibule.org/v1beta1';

/** As an operator's `adopt` and Go's SetControllerReference set it, with what C# and Python add. */
const owner = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  name: 'shop',
  uid: '3f0d3c1e-2f51-4c7b-9f0e-6f2b8b1a9b11',
  controller: true,
};
const owners = [owner];

/** Metadata and status that typed clients and operators send with every object. */
const sent: readonly (readonly [what: string, metadata: object, status?: unknown])[] = [
  ['as Go writes it', { creationTimestamp: null }, {}],
  [
    'every other member null',
    Object.fromEntries(
      [
        'generateName',
        'namespace',
        'selfLink',
        'uid',
        'generation',
        'creationTimestamp',
        'deletionTimestamp',
        'deletionGracePeriodSeconds',
        'labels',
        'annotations',
        'ownerReferences',
        'finalizers',
        'managedFields',
      ].map((name) => [name, null]),
    ),
    null,
  ],
  [
    'every other member empty',
    {
      generateName: '',
      namespace: '',
      selfLink: '',
      uid: '',
      generation: 0,
      labels: {},
      annotations: {},
      ownerReferences: [],
      finalizers: [],
      managedFields: [],
    },
    { conditions: [] },
  ],
  ['a namespace', { namespace: 'default' }],
  ['a self link', { selfLink: '/apis/id.vestibule.org/v1beta1/groups/x', generation: 7 }],
  ['an owner', { ownerReferences: owners }],
  ['an owner with null', { ownerReferences: [{ ...owner, blockOwnerDeletion: null }] }],
];

/** Kinds that a caller creates: resource, kind, and the spec of an object. */
const creatable: readonly (readonly [
  resource: string,
  kind: string,
  spec: (name: string) => object,
])[] = [
  ['groups', 'Group', () => ({ displayName: 'A' })],
  ['clients', 'Client', () => ({ displayName: 'A' })],
  [
    'audiences',
    'Audience',
    (name) => ({
      displayName: 'A',
      identifier: `https://${name}.example.test`,
      scopes: [{ name: `read-${name}`, title: 'Read', description: 'Reads.' }],
    }),
  ],
];

const changes: readonly (readonly [verb: string, method: string, type: string])[] = [
  ['create', 'POST', 'application/json'],
  ['create', 'POST', 'application/yaml'],
  ['update', 'PUT', 'application/json'],
  ['update', 'PUT', 'application/yaml'],
  ['merge patch', 'PATCH', 'application/merge-patch+json'],
  ['JSON patch', 'PATCH', 'application/json-patch+json'],
  ['apply', 'PATCH', 'application/apply-patch+yaml'],
];

describe.each(stores)('metadata as typed clients send it, on %s', (store) => {
  let service: TestService;
  let authorization: string;
  beforeAll(async () => {
    const { token, ...started } = await startWithOperator({ store });
    service = started.service;
    authorization = `Bearer ${token}`;
  });

  /** A request as a program sends it: a token, none of a browser's headers. */
  const send = (method: string, path: string, body?: unknown, type?: string): Pending<any> =>
    service.tab().send(method, `/apis/${apiVersion}/${path}`, {
      plain: true,
      headers: { authorization, ...(type && { 'content-type': type }) },
      ...(body !== undefined && {
        body: type === 'application/yaml' ? stringify(body) : JSON.stringify(body),
      }),
    });
  let count = 0;

  describe.each(creatable)('%s', (resource, kind, spec) => {
    const draft = (name: string, metadata: object, status?: unknown): object => ({
      apiVersion,
      kind,
      metadata: { name, ...metadata },
      spec: spec(name),
      ...(status !== undefined && { status }),
    });
    test.each(changes)('%s: %s of %s', async (verb, method, type) => {
      for (const [what, metadata, status] of sent) {
        const name = `${resource}-${(count += 1)}`;
        const begins = verb === 'create' || verb === 'apply';
        const before = begins
          ? undefined
          : (await send('POST', resource, draft(name, {}), 'application/json').is(201)).body;
        const version = before && { resourceVersion: before.metadata.resourceVersion };
        const whole = draft(name, { ...(verb === 'update' && version), ...metadata }, status);
        const body =
          verb === 'JSON patch'
            ? Object.entries(metadata).map(([member, value]) => ({
                op: 'add',
                path: `/metadata/${member}`,
                value,
              }))
            : whole;
        const path = verb === 'create' ? resource : `${resource}/${name}?fieldManager=test`;
        const answer = await send(method, path, body, type);
        expectFor(what, [answer.code, answer.body.message]).toEqual([
          begins ? 201 : 200,
          undefined,
        ]);
        const { metadata: made } = (await send('GET', `${resource}/${name}`).is(200)).body;
        expectFor(what, [made.ownerReferences, made.namespace, made.generateName]).toEqual([
          'ownerReferences' in metadata && (metadata.ownerReferences as unknown[])?.length
            ? owners
            : undefined,
          undefined,
          undefined,
        ]);
      }
    });
  });

  const group = (metadata: object): object => ({ metadata, spec: { displayName: 'A' } });

  test('kinds that the service names, and owned ones, take it and keep no owner', async () => {
    for (const [what, metadata, status] of sent) {
      const { metadata: made } = (
        await send('PATCH', 'accounts/~', { metadata, status }, 'application/merge-patch+json')
      ).body;
      expectFor(what, made.ownerReferences).toEqual(undefined);
    }
    const { cedar } = (await send('GET', 'policies/p-1').is(200)).body.spec;
    const [, metadata] = sent.find(([what]) => what === 'every other member empty')!;
    await send('POST', 'policies', { metadata: { ...metadata, name: '' }, spec: { cedar } }).is(
      201,
    );
  });

  test('what is not served is refused with its field, or named in a warning', async () => {
    const unknown = { ...owner, namespace: 'default' };
    for (const [metadata, field] of [
      [{ finalizers: ['a/b'] }, 'metadata.finalizers'],
      [{ ownerReferences: [{ ...owner, uid: '' }] }, 'metadata.ownerReferences[0].uid'],
      [{ ownerReferences: [owner, owner] }, 'metadata.ownerReferences[1]'],
      [{ ownerReferences: [owner, { ...owner, uid: 'b' }] }, 'metadata.ownerReferences'],
    ] as const) {
      await send('POST', 'groups', group({ name: 'never', ...metadata })).fails(
        422,
        'Invalid',
        field,
      );
    }
    const { headers, body } = await send(
      'POST',
      'groups',
      group({ name: 'warned', ownerReferences: [unknown] }),
    ).is(201);
    expect([headers.warning, body.metadata.ownerReferences]).toEqual([
      expect.stringContaining('unknown field \\"metadata.ownerReferences[0].namespace\\"'),
      owners,
    ]);
    await send(
      'POST',
      'groups?fieldValidation=Strict',
      group({ name: 'strict', ownerReferences: [unknown] }),
    ).fails(400, 'BadRequest');
  });
});
