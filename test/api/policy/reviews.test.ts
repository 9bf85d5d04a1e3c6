import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fieldsOf, textOf, unwrap } from '../../../apiserver/codec/protobuf.js';
import { type DecisionObject, PolicyDecision } from '../../../kinds/policy/policy-decision.js';
import { StatusError } from '../../../registry/status/status.js';
import { clock } from '../../support/clock.js';
import { expectFor } from '../../support/expect-for.js';
import fc from '../../support/fast-check.js';
import { settles } from '../../support/patience.js';
import { tokenOf } from '../../support/people/device.js';
import { begin, signIn } from '../../support/people/signin.js';
import type { Pending, Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';

const who = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const can = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const group = 'id.vestibule.org';

let service: TestService;
let operator: Tab;
let ada: Tab;
const names = {} as { ada: string; operator: string };
const tokens = {} as { ada: string; operator: string };
beforeAll(async () => {
  service = await startTest({
    quickDecisions: true,
    flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
  });
  await createClient(service, 'app');
  [operator, ada] = [
    (await signIn(service, 'op@example.test')).tab,
    (await signIn(service, 'ada@example.test')).tab,
  ];
  [names.ada, names.operator] = (await Promise.all(
    [ada, operator].map(
      async (tab) => (await tab.get('accounts/~').is(200)).body.metadata.name as string,
    ),
  )) as [string, string];
  [tokens.ada, tokens.operator] = await Promise.all([
    tokenOf(service, ada),
    tokenOf(service, operator),
  ]);
});
afterAll(stopAll);

type Who = 'ada' | 'operator' | undefined;
const post = (
  path: string,
  as: Who,
  body: string | Buffer | object,
  headers: Record<string, string | undefined> = { 'content-type': 'application/json' },
): Pending =>
  service.tab().send('POST', path, {
    plain: true,
    headers: { ...(as && { authorization: `Bearer ${tokens[as]}` }), ...headers },
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  });

const asks = async (as: Who, attributes: object): Promise<boolean> => {
  const { body } = await post(can, as, {
    kind: 'SelfSubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: { creationTimestamp: null },
    spec: { resourceAttributes: { namespace: 'default', group, ...attributes } },
    status: { allowed: false },
  }).is(201);
  expect(body).toMatchObject({
    kind: 'SelfSubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: {},
  });
  expect(typeof body.status.reason).toBe(body.status.allowed ? 'undefined' : 'string');
  return body.status.allowed;
};

/** A length-delimited field of a protobuf message. */
const field = (number: number, value: string | Buffer): Buffer => {
  const bytes = Buffer.from(value as string);
  const length =
    bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7];
  return Buffer.concat([Buffer.from([number * 8 + 2, ...length]), bytes]);
};
const wrapped = (apiVersion: string, kind: string, raw: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from('k8s\0'),
    field(1, Buffer.concat([field(1, apiVersion), field(2, kind)])),
    field(2, raw),
    field(3, ''),
    field(4, ''),
  ]);
const protobuf = {
  'content-type': 'application/vnd.kubernetes.protobuf',
  accept: 'application/vnd.kubernetes.protobuf,application/json',
};

describe('SelfSubjectReview (7.3)', () => {
  test('shows callers who they are, for requests in JSON and in protobuf', async () => {
    for (const version of ['v1', 'v1beta1']) {
      const path = who.replace('/v1/', `/${version}/`);
      const apiVersion = `authentication.k8s.io/${version}`;
      const userInfo = {
        username: names.ada,
        uid: names.ada,
        groups: ['system:authenticated'],
        extra: { 'id.vestibule.org/email': ['ada@example.test'] },
      };
      for (const [body, headers] of [
        [
          {
            kind: 'SelfSubjectReview',
            apiVersion,
            metadata: { creationTimestamp: null },
            status: { userInfo: {} },
          },
          undefined,
        ],
        [{}, undefined],
        [wrapped(apiVersion, 'SelfSubjectReview', field(2, field(1, ''))), protobuf],
      ] as const) {
        expect((await post(path, 'ada', body, headers).is(201)).body).toEqual({
          kind: 'SelfSubjectReview',
          apiVersion,
          metadata: {},
          status: { userInfo },
        });
      }
    }
    expect((await operator.post(who, {}).is(201)).body.status.userInfo).toMatchObject({
      username: names.operator,
      groups: ['operators', 'system:authenticated'],
    });
  });

  test('is 401 without credentials, for the browser of a sign-in, and for a bad token', async () => {
    await post(who, undefined, {}).fails(401, 'Unauthorized');
    await (await begin(service)).tab.post(who, {}).fails(401, 'Unauthorized');
    for (const path of [who, can]) {
      await post(
        path,
        undefined,
        {},
        { 'content-type': 'application/json', authorization: 'Bearer bad' },
      ).fails(401, 'Unauthorized');
    }
  });
});

describe('SelfSubjectAccessReview (7.3)', () => {
  test('answers as the request itself would be answered', async () => {
    for (const [as, attributes, allowed] of [
      ['operator', { verb: 'create', resource: 'policies' }, true],
      ['ada', { verb: 'create', resource: 'policies' }, false],
      [undefined, { verb: 'create', resource: 'policies' }, false],
      [undefined, { verb: 'list', resource: 'policies' }, true],
      [undefined, { verb: 'get', resource: 'policies', name: 'p-1' }, true],
      ['ada', { verb: 'list', resource: 'groups' }, false],
      ['operator', { verb: 'list', resource: 'groups' }, true],
      ['ada', { verb: 'list', resource: 'sessions' }, true],
      [undefined, { verb: 'list', resource: 'sessions' }, false],
      ['ada', { verb: 'get', resource: 'accounts', name: '~' }, true],
      ['ada', { verb: 'get', resource: 'accounts', name: names.ada }, true],
      ['ada', { verb: 'get', resource: 'accounts', name: names.operator }, false],
      ['operator', { verb: 'patch', resource: 'accounts', name: names.ada }, true],
      ['ada', { verb: 'list', resource: 'accounts', name: names.ada }, true],
      ['operator', { verb: 'delete', resource: 'groups', name: 'absent' }, true],
      ['ada', { verb: 'delete', resource: 'groups', name: 'absent' }, false],
      ['operator', { verb: 'watch', resource: 'groups' }, true],
      [
        'operator',
        { verb: 'create', resource: 'accounts', subresource: 'disable', name: names.ada },
        true,
      ],
      [
        'ada',
        { verb: 'create', resource: 'accounts', subresource: 'disable', name: names.ada },
        false,
      ],
      [
        'ada',
        { verb: 'create', resource: 'accounts', subresource: 'emailchallenge', name: '~' },
        true,
      ],
      [
        'operator',
        { verb: 'get', resource: 'accounts', subresource: 'disable', name: names.ada },
        false,
      ],
      ['operator', { verb: 'delete', resource: 'policies', name: 'p-1' }, false],
      ['operator', { verb: 'impersonate', resource: 'groups' }, false],
      ['operator', { verb: 'get', resource: 'groups', name: 'Not A Name' }, false],
      ['operator', { verb: 'get', resource: 'groups', name: '~' }, false],
      ['operator', { verb: 'get', resource: 'pods' }, false],
      ['operator', { verb: 'create', resource: 'policies', group: '' }, false],
      ['operator', { verb: '*', resource: 'groups' }, true],
      ['operator', { verb: '*', resource: '*', group: '*' }, false],
      ['ada', { verb: '*', resource: 'grants' }, true],
      ['ada', { verb: 'get', resource: 'grants' }, true],
      ['ada', { verb: 'create', resource: 'grants' }, false],
      ['ada', { verb: 'delete', resource: 'clients' }, false],
      ['ada', { verb: 'create', resource: 'passkeys' }, true],
      ['operator', { verb: 'list', resource: '*' }, true],
      ['operator', { verb: 'list', resource: '*', group: '' }, true],
      ['operator', { verb: 'list', resource: '*', group: 'apps' }, false],
      ['ada', { verb: 'list', resource: '*' }, false],
      ['ada', { verb: 'list', resource: 'namespaces', group: '' }, true],
      ['ada', { verb: 'get', resource: 'namespaces', name: 'default', group: '' }, true],
      ['operator', { verb: 'delete', resource: 'namespaces', group: '' }, false],
      ['operator', { verb: 'watch', resource: 'events', group: '' }, true],
      ['operator', { verb: 'get', resource: 'events', group: '' }, false],
      ['operator', { verb: 'list', resource: 'pods', group: '' }, false],
      [undefined, { verb: 'list', resource: 'events', group: '' }, false],
    ] as const) {
      expectFor([as, attributes], await asks(as, attributes)).toEqual(allowed);
    }
  });

  test('of what is no object too', async () => {
    for (const [path, verb, allowed] of [
      ['/version', 'get', true],
      ['/apis', 'get', true],
      ['/livez', 'get', true],
      ['/version', 'post', false],
      ['/nowhere', 'get', false],
      ['*', 'get', false],
    ] as const) {
      expectFor(
        path,
        (await post(can, undefined, { spec: { nonResourceAttributes: { path, verb } } }).is(201))
          .body.status.allowed,
      ).toEqual(allowed);
    }
  });

  test('reads what newer kubectl send', async () => {
    const resource = (verb: string): Buffer =>
      Buffer.concat(
        ['default', verb, group, '', 'policies', '', ''].map((value, i) => field(i + 1, value)),
      );
    const review = (spec: Buffer): Buffer =>
      wrapped(
        'authorization.k8s.io/v1',
        'SelfSubjectAccessReview',
        Buffer.concat([field(1, ''), field(2, spec), field(3, Buffer.from([8, 0]))]),
      );
    for (const [as, allowed] of [
      ['operator', true],
      ['ada', false],
    ] as const) {
      expect(
        (await post(can, as, review(field(1, resource('create'))), protobuf).is(201)).body.status
          .allowed,
      ).toBe(allowed);
    }
    expect(
      (
        await post(
          can,
          'ada',
          review(field(2, Buffer.concat([field(1, '/version'), field(2, 'get')]))),
          protobuf,
        ).is(201)
      ).body.status.allowed,
    ).toBe(true);
    await post(
      can,
      'ada',
      review(Buffer.concat([field(1, resource('get')), field(2, '')])),
      protobuf,
    ).fails(422, 'Invalid', 'spec.resourceAttributes');
    await post(
      can,
      'ada',
      wrapped('authorization.k8s.io/v1', 'SelfSubjectReview', Buffer.alloc(0)),
      protobuf,
    ).fails(400, 'BadRequest');
    for (const body of [
      Buffer.alloc(0),
      Buffer.from('{}'),
      Buffer.from('k8s\0\x0a\x7f'),
      Buffer.concat([Buffer.from('k8s\0'), Buffer.alloc(20, 0xff)]),
    ]) {
      await post(can, 'ada', body, protobuf).fails(400, 'BadRequest');
    }
    await post(can, 'ada', Buffer.alloc(70_000), protobuf).fails(413, 'RequestEntityTooLarge');
    await post(
      can,
      'ada',
      {},
      { ...protobuf, accept: 'application/vnd.kubernetes.protobuf' },
    ).fails(406, 'NotAcceptable');
    await post(
      '/apis/id.vestibule.org/v1beta1/groups',
      'operator',
      wrapped('v1', 'Group', Buffer.alloc(0)),
      protobuf,
    ).fails(415, 'UnsupportedMediaType');
    await ada
      .send('POST', can, {
        headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
        body: review(Buffer.alloc(0)),
      })
      .fails(415, 'UnsupportedMediaType');
  });

  test('refuses what is no question, and any other way to ask', async () => {
    for (const spec of [
      undefined,
      {},
      { resourceAttributes: { verb: 'get' }, nonResourceAttributes: { path: '/' } },
    ]) {
      await post(can, 'ada', { spec }).fails(422, 'Invalid', 'spec.resourceAttributes');
    }
    await post(can, 'ada', { spec: { resourceAttributes: { verb: 7 } } }).fails(
      422,
      'Invalid',
      'spec.resourceAttributes.verb',
    );
    await post(can, 'ada', { kind: 'SubjectAccessReview' }).fails(400, 'BadRequest');
    await post(can, 'ada', { apiVersion: 'authorization.k8s.io/v1beta1' }).fails(400, 'BadRequest');
    expect(
      (
        await post(can, 'ada', {
          spec: {
            resourceAttributes: {
              verb: 'list',
              group,
              resource: 'policies',
              fieldSelector: { rawSelector: 'x' },
            },
          },
        }).is(201)
      ).body.status.allowed,
    ).toBe(true);
    for (const path of [who, can]) {
      expect(
        (await service.tab().get(path, { plain: true }).fails(405, 'MethodNotAllowed')).headers
          .allow,
      ).toBe('POST');
      await ada
        .post(path, {}, { headers: { 'sec-fetch-site': 'cross-site' } })
        .fails(403, 'Forbidden');
    }
    for (const path of [
      '/apis/authentication.k8s.io',
      '/apis/authentication.k8s.io/v1',
      '/apis/authorization.k8s.io/v1',
      '/apis/authorization.k8s.io/v1beta1/selfsubjectaccessreviews',
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      '/apis/authentication.k8s.io/v1/tokenreviews',
    ]) {
      await post(path, 'operator', {}).fails(404, 'NotFound');
    }
  });

  test('leaves no decision behind, nor a group in discovery', async () => {
    for (const as of ['ada', undefined] as const) {
      for (const verb of ['create', 'delete', 'patch']) {
        await asks(as, { verb, resource: 'clients', name: 'app' });
      }
    }
    await ada.delete('clients/app').fails(404, 'NotFound');
    const recorded = async (): Promise<string[]> =>
      ((await service.store.reader(PolicyDecision).list()) as DecisionObject[])
        .filter(
          ({ spec }) =>
            spec.resource?.kind === 'Client' &&
            ['create', 'delete', 'patch'].includes(spec.action) &&
            spec.principal.includes(names.ada),
        )
        .map(({ spec }) => spec.action);
    expect(await settles(recorded, ({ length }) => length > 0)).toEqual(['delete']);
    for (const path of ['/apis', '/openapi/v3']) {
      expect((await service.tab().get(path, { plain: true }).is(200)).bytes.toString()).not.toMatch(
        /selfsubject|k8s\.io\/v1"/i,
      );
    }
  });
});

describe('SelfSubjectRulesReview', () => {
  const rules = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';
  const rulesOf = async (as: Who): Promise<any> =>
    (await post(rules, as, { spec: { namespace: 'default' } }).is(201)).body;

  test('lists exactly what an access review without a name permits', async () => {
    const ours = (await operator.get(`/apis/${group}/v1beta1`).is(200)).body.resources;
    const core = (await operator.get('/api/v1').is(200)).body.resources;
    const offered: [string, { name: string; verbs: string[] }][] = [
      ...ours.map((our: any) => [group, our]),
      ...core.map((one: any) => ['', one]),
    ];
    for (const as of ['ada', 'operator', undefined] as const) {
      const { kind, apiVersion, status } = await rulesOf(as);
      expect([kind, apiVersion]).toEqual(['SelfSubjectRulesReview', 'authorization.k8s.io/v1']);
      const permitted: string[] = status.resourceRules.flatMap(
        ({ verbs, resources }: Record<string, string[]>) =>
          verbs!.map((verb) => `${verb} ${resources!.join()}`),
      );
      const asked: string[] = [];
      for (const [of, { name, verbs }] of offered) {
        for (const verb of verbs) {
          const [resource, subresource] = name.split('/');
          if (await asks(as, { group: of, resource, verb, ...(subresource && { subresource }) })) {
            asked.push(`${verb} ${name}`);
          }
        }
      }
      expectFor(as, [...permitted].sort()).toEqual([...asked].sort());
    }
  });

  test('differs by caller, and says that rules may depend on the object', async () => {
    const [ofAda, ofOperator] = [await rulesOf('ada'), await rulesOf('operator')];
    const verbsOn = (review: any, resource: string): string[] =>
      review.status.resourceRules.find(({ resources }: any) => resources[0] === resource)?.verbs ??
      [];
    expect(verbsOn(ofOperator, 'clients')).toContain('create');
    expect(verbsOn(ofAda, 'clients')).not.toContain('create');
    expect(verbsOn(ofAda, 'sessions')).toContain('list');
    expect(ofAda.status).toMatchObject({
      incomplete: true,
      evaluationError: 'policy may decide otherwise about single objects',
    });
    expect(ofAda.status.nonResourceRules[0]).toEqual({
      verbs: ['get'],
      nonResourceURLs: expect.arrayContaining(['/apis', '/openapi/*', '/version']),
    });
  });
});

test('parameters of a review are judged as those of any write', async () => {
  const wanted = { spec: { nonResourceAttributes: { path: '/api', verb: 'get' } } };
  for (const [path, body] of [
    [who, {}],
    [can, wanted],
  ] as const) {
    await ada.post(`${path}?dryRun=All&fieldValidation=Strict`, body).is(201);
    await ada.post(`${path}?dryRun=Some`, body).fails(422, 'Invalid', 'dryRun');
    await ada.post(`${path}?fieldValidation=Loud`, body).fails(422, 'Invalid', 'fieldValidation');
  }
});

test('impersonation is 403 wherever it is tried', async () => {
  for (const header of [
    'impersonate-user',
    'impersonate-group',
    'impersonate-uid',
    'impersonate-extra-scopes',
  ]) {
    for (const path of [who, can]) {
      await post(path, 'operator', {}, { 'content-type': 'application/json', [header]: 'x' }).fails(
        403,
        'Forbidden',
      );
    }
    for (const path of [
      '/apis',
      '/openapi/v3',
      '/version',
      '/apis/id.vestibule.org/v1beta1/groups',
    ]) {
      await service
        .tab()
        .get(path, {
          plain: true,
          headers: { authorization: `Bearer ${tokens.operator}`, [header]: 'x' },
        })
        .fails(403, 'Forbidden');
    }
  }
});

test('no bytes make the reader of protobuf do anything but answer or refuse', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.boolean(), (bytes, framed) => {
      const body = Buffer.concat([Buffer.from(framed ? 'k8s\0' : ''), bytes]);
      for (const read of [() => unwrap(body), () => fieldsOf(Buffer.from(bytes))]) {
        try {
          read();
        } catch (error) {
          if (!(error instanceof StatusError)) throw error;
        }
      }
    }),
    { numRuns: 2_000 },
  );
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(fc.integer({ min: 1, max: 15 }), fc.string({ maxLength: 60, unit: 'grapheme' })),
        { maxLength: 8 },
      ),
      (parts) => {
        const read = fieldsOf(Buffer.concat(parts.map(([number, value]) => field(number, value))));
        for (const [number, value] of new Map(parts)) expect(textOf(read, number)).toBe(value);
      },
    ),
  );
});

test('a rule that forbids differs from the lack of one that permits', async () => {
  const statusOf = async (tab: Tab) =>
    (
      await tab
        .post(can, { spec: { resourceAttributes: { group, resource: 'groups', verb: 'create' } } })
        .is(201)
    ).body.status;
  expect(await statusOf(operator)).toEqual({ allowed: true });
  expect(await statusOf(ada)).toEqual({ allowed: false, reason: expect.any(String) });
  clock.own();
  clock.advance(11 * 60_000);
  const status = await statusOf(operator).finally(() => clock.release());
  expect(status).toEqual({
    allowed: false,
    denied: true,
    reason: expect.stringContaining('sign in again'),
  });
});
