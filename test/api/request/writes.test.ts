import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectFor } from '../../support/expect-for.js';
import { Stream } from '../../support/network/stream.js';
import { tokenOf } from '../../support/people/device.js';
import { signIn } from '../../support/people/signin.js';
import type { Answer, Pending, Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';

let service: TestService;
let operator: Tab;
let authorization: string;
beforeAll(async () => {
  service = await startTest({
    flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
  });
  await createClient(service, 'app');
  operator = (await signIn(service, 'op@example.test')).tab;
  authorization = `Bearer ${await tokenOf(service, operator)}`;
});
afterAll(stopAll);

/** A request as kubectl sends it: a token, none of a browser's headers. */
function send<T = any>(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string | undefined> = {
    'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
  },
): Pending<T> {
  return service.tab().send(method, `/apis/id.vestibule.org/v1beta1/${path}`, {
    plain: true,
    headers: { authorization, ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}

let made = 0;
const named = (
  more: object = {},
  spec: object = {},
): { metadata: { name: string }; spec: object } => ({
  metadata: { name: `group-${(made += 1)}`, ...more } as { name: string },
  spec: { displayName: 'Sample', ...spec },
});
const create = async (more: object = {}): Promise<any> =>
  (await send('POST', 'groups', named(more)).is(201)).body;
const version = async (name: string): Promise<string> =>
  (await send('GET', `groups/${name}`).is(200)).body.metadata.resourceVersion;

describe('create (6.2, 3)', () => {
  test('answers 201 with what is stored, and ignores fields that the caller may not set', async () => {
    const body = {
      ...named({
        uid: 'mine',
        creationTimestamp: null,
        generation: 7,
        deletionTimestamp: '2020-01-01T00:00:00Z',
        managedFields: [{ manager: 'x' }],
        selfLink: '/x',
      }),
      status: { lies: true },
    };
    const { body: object } = await send('POST', 'groups', body).is(201);
    expect(object).toEqual((await send('GET', `groups/${body.metadata.name}`).is(200)).body);
    expect(object).toMatchObject({
      status: {},
      metadata: {
        generation: 1,
        uid: expect.stringMatching(/^[0-9a-f]{8}-/),
        creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        resourceVersion: expect.stringMatching(/^[1-9]\d*$/),
      },
    });
    expect(Object.keys(object.metadata).sort()).toEqual([
      'creationTimestamp',
      'generation',
      'name',
      'resourceVersion',
      'uid',
    ]);
    const { details } = await send('POST', 'groups', body).fails(409, 'AlreadyExists');
    expect(details).toEqual({
      name: body.metadata.name,
      group: 'id.vestibule.org',
      kind: 'groups',
    });
  });

  test('without a name needs the beginning of one', async () => {
    const { message } = await send('POST', 'groups', { spec: { displayName: 'x' } }).fails(
      422,
      'Invalid',
      'metadata.name',
    );
    expect(message).toContain('metadata.name: Required value: name or generateName is required');
    const { body } = await send('POST', 'groups', {
      metadata: { generateName: 'begun-' },
      spec: { displayName: 'x' },
    }).is(201);
    expect(body.metadata.name).toMatch(/^begun-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(body.metadata.generateName).toBe('begun-');
    expect(
      (await send('GET', `groups/${body.metadata.name}`).is(200)).body.metadata.generateName,
    ).toBe('begun-');
    const both = named({ generateName: 'begun-' });
    expect((await send('POST', 'groups', both).is(201)).body.metadata.name).toBe(
      both.metadata.name,
    );
    const long = (
      await send('POST', 'groups', {
        metadata: { generateName: 'x'.repeat(100) },
        spec: { displayName: 'x' },
      }).is(201)
    ).body.metadata.name as string;
    expect(long).toMatch(/^x{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  test('refuses what cannot be meant', async () => {
    await send('POST', 'groups', { ...named(), kind: 'Client' }).fails(400, 'BadRequest');
    await send('POST', 'groups', { ...named(), apiVersion: 'v1' }).fails(400, 'BadRequest');
    await send('POST', 'groups', named({ resourceVersion: '1' })).fails(400, 'BadRequest');
    await send('POST', 'groups', named({ finalizers: ['a/b'] })).fails(
      422,
      'Invalid',
      'metadata.finalizers',
    );
    await send('POST', 'groups', named({ labels: { a: 'x'.repeat(64) } })).fails(
      422,
      'Invalid',
      'metadata.labels.a',
    );
    await send('POST', 'groups', named({ annotations: { a: 'x'.repeat(262_145) } })).fails(
      413,
      'RequestEntityTooLarge',
    );
    for (const name of ['Upper', '.', '..', 'a/b', 'a%b', 'x'.repeat(254)]) {
      await send('POST', 'groups', { ...named(), metadata: { name } }).fails(
        422,
        'Invalid',
        'metadata.name',
      );
    }
    await send('POST', 'groups/one', named()).fails(405, 'MethodNotAllowed');
    for (const [method, path, code] of [
      ['PATCH', 'groups', 405],
      ['PUT', 'groups', 405],
      ['GET', 'groups/a/b', 404],
      ['GET', 'bogus', 404],
      ['PUT', 'groups/a/status', 404],
    ] as const) {
      await send(method, path, {}).fails(code, code === 405 ? 'MethodNotAllowed' : 'NotFound');
    }
  });

  test('takes a body without a type from a caller that is no browser', async () => {
    const untyped = { 'content-type': undefined };
    await send('POST', 'groups', named(), untyped).is(201);
    await send(
      'PUT',
      'groups/absent',
      { ...named(), metadata: { name: 'absent', resourceVersion: '1' } },
      untyped,
    ).fails(404, 'NotFound');
    for (const headers of [{ origin: operator.origin }, { 'sec-fetch-site': 'same-origin' }]) {
      await operator
        .send('POST', 'groups', { plain: true, headers, body: JSON.stringify(named()) })
        .fails(415, 'UnsupportedMediaType');
    }
    for (const type of [
      'text/yaml',
      'text/plain',
      'application/json; charset=latin1',
      'application/vnd.kubernetes.protobuf',
    ]) {
      await send('POST', 'groups', JSON.stringify(named()), { 'content-type': type }).fails(
        415,
        'UnsupportedMediaType',
      );
    }
    for (const body of ['', '[]', 'null', '{']) {
      await send('POST', 'groups', body).fails(400, 'BadRequest');
    }
  });
});

describe('PUT (6.2, 30, 31)', () => {
  test('replaces what there is, of the version it names', async () => {
    const object = await create();
    const { name } = object.metadata;
    const at = `groups/${name}`;
    await send('PUT', at, { ...object, metadata: { ...object.metadata, name: 'other' } }).fails(
      400,
      'BadRequest',
    );
    const { message } = await send('PUT', at, { ...object, metadata: { name } }).fails(
      422,
      'Invalid',
      'metadata.resourceVersion',
    );
    expect(message).toContain(
      'metadata.resourceVersion: Invalid value: must be specified for an update',
    );
    await send('PUT', 'groups/absent', {
      ...object,
      metadata: { ...object.metadata, name: 'absent' },
    }).fails(404, 'NotFound');
    await send('PUT', at, { ...object, metadata: { ...object.metadata, uid: 'other' } }).fails(
      409,
      'Conflict',
    );
    await send('PUT', at, { ...object, kind: 'Client' }).fails(400, 'BadRequest');
    const { body } = await send('PUT', at, {
      ...object,
      spec: { displayName: 'Replaced' },
      status: { lies: true },
    }).is(200);
    expect([body.spec, body.status, body.metadata.generation]).toEqual([
      { displayName: 'Replaced', members: [] },
      {},
      2,
    ]);
    const stale = await send('PUT', at, object).fails(409, 'Conflict');
    expect(stale.message).toBe(
      `Operation cannot be fulfilled on groups.id.vestibule.org "${name}": the object has been modified; please apply your changes to the latest version and try again`,
    );
  });

  test('of the same is 200 with the same version, and no watch gets an event', async () => {
    const object = await create({ labels: { a: 'b' } });
    const at = `groups/${object.metadata.name}`;
    const stream = new Stream(
      operator,
      `groups?watch=true&resourceVersion=${object.metadata.resourceVersion}`,
    );
    await stream.until(({ code }) => code === 200);
    expect((await send('PUT', at, object).is(200)).body).toEqual(object);
    expect((await send('PATCH', at, { spec: object.spec }).is(200)).body).toEqual(object);
    const { body } = await send('PATCH', at, { metadata: { labels: { a: null } } }).is(200);
    await stream.until(({ events }) => events.length > 0);
    expect(
      stream.events.map(({ type, object: { metadata } }) => [type, metadata.resourceVersion]),
    ).toEqual([['MODIFIED', body.metadata.resourceVersion]]);
    expect([body.metadata.generation, body.metadata.labels]).toEqual([1, undefined]);
    stream.close();
  });
});

describe('merge patch (6.2, 23, 24, 25)', () => {
  test('without a version wins in the end, twenty at once', async () => {
    const {
      metadata: { name },
    } = await create();
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        send('PATCH', `groups/${name}`, { metadata: { labels: { [`l${i}`]: 'x' } } }).is(200),
      ),
    );
    expect(
      Object.keys((await send('GET', `groups/${name}`).is(200)).body.metadata.labels),
    ).toHaveLength(20);
  });

  test('with one is held to it; what never changes does not', async () => {
    const {
      metadata: { name, resourceVersion },
    } = await create();
    const at = `groups/${name}`;
    await send('PATCH', at, { spec: { displayName: 'Moved' } }).is(200);
    await send('PATCH', at, { metadata: { resourceVersion }, spec: {} }).fails(409, 'Conflict');
    for (const none of [null, '']) {
      await send('PATCH', at, { metadata: { resourceVersion: none } }).fails(
        422,
        'Invalid',
        'metadata.resourceVersion',
      );
    }
    await send('PATCH', at, { metadata: { name: 'other' } }).fails(400, 'BadRequest');
    await send('PATCH', at, { metadata: { uid: 'other' } }).fails(422, 'Invalid', 'metadata.uid');
    for (const body of ['[]', '"x"', 'null', '7']) {
      await send('PATCH', at, body).fails(400, 'BadRequest');
    }
    for (const type of [
      'application/json',
      'text/plain',
      'application/strategic-merge-patch+json',
      'application/apply-patch+cbor',
      undefined,
    ]) {
      expect(
        (await send('PATCH', at, {}, { 'content-type': type }).fails(415, 'UnsupportedMediaType'))
          .message,
      ).toMatch(
        /accepted media types include: application\/json-patch\+json, application\/merge-patch\+json, application\/apply-patch\+yaml$/,
      );
    }
  });
});

describe('fieldValidation', () => {
  const unknown = {
    metadata: { name: 'odd', extra: 1 },
    spec: { displayName: 'Odd', x: 1 },
    extra: 1,
  };
  const warnings = ({ rawHeaders }: Answer): string[] =>
    rawHeaders.filter((_, i) => rawHeaders[i - 1]?.toLowerCase() === 'warning' && i % 2 === 1);

  test.each([
    ['POST', 'groups', 201],
    ['PUT', 'groups/odd', 200],
    ['PATCH', 'groups/odd', 200],
  ] as const)(
    'of a %s: all are refused, warned of, or dropped without a word',
    async (method, path, code) => {
      if (method !== 'POST') {
        await send('POST', 'groups', {
          metadata: { name: 'odd' },
          spec: { displayName: 'Odd' },
        }).is(201);
      }
      const body = async (): Promise<any> => ({
        ...unknown,
        metadata: {
          ...unknown.metadata,
          ...(method === 'PUT' && { resourceVersion: await version('odd') }),
        },
      });
      const all = ['extra', 'metadata.extra', 'spec.x'];
      const { message } = await send(method, `${path}?fieldValidation=Strict`, await body()).fails(
        400,
        'BadRequest',
      );
      expect(message).toContain(
        `strict decoding error: ${all.map((field) => `unknown field "${field}"`).join(', ')}`,
      );
      for (const query of ['?fieldValidation=Warn', '']) {
        const answer = await send(method, `${path}${query}`, await body()).is(code);
        expectFor([method, query], [warnings(answer), answer.body.spec]).toEqual([
          all.map((field) => `299 - "unknown field \\"${field}\\""`),
          { displayName: 'Odd', members: [] },
        ]);
        if (method === 'POST') await send('DELETE', 'groups/odd').is(200);
      }
      const silent = await send(method, `${path}?fieldValidation=Ignore`, await body()).is(code);
      expect([warnings(silent), silent.body.extra, silent.body.metadata.extra]).toEqual([
        [],
        undefined,
        undefined,
      ]);
      await send(method, `${path}?fieldValidation=Other`, await body()).fails(
        422,
        'Invalid',
        'fieldValidation',
      );
      await operator
        .send(method, `${path}?fieldValidation=Ignore`, {
          body: JSON.stringify(await body()),
          headers: {
            'content-type':
              method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
          },
        })
        .fails(422, 'Invalid', 'spec.x');
      await send('DELETE', 'groups/odd').is(200);
    },
  );

  test('a key given twice is 400 in every mode, and named', async () => {
    for (const mode of ['Strict', 'Warn', 'Ignore']) {
      for (const [body, field] of [
        [
          '{"metadata":{"name":"twice"},"spec":{"displayName":"a","displayName":"b"}}',
          'spec.displayName',
        ],
        ['{"spec":{"members":["a@example.test",{"x":1,"x":2}]}}', 'spec.members[1].x'],
        ['{"kind":"Group","kind":"Group"}', 'kind'],
      ]) {
        expect(
          (await send('POST', `groups?fieldValidation=${mode}`, body).fails(400, 'BadRequest'))
            .message,
        ).toContain(`duplicate field "${field}"`);
      }
    }
    await send('GET', 'groups/twice').fails(404, 'NotFound');
  });
});

describe('dryRun', () => {
  test('answers as if it were done, and does nothing', async () => {
    const object = await create({ labels: { a: 'b' } });
    const at = `groups/${object.metadata.name}`;
    const stream = await new Stream(
      operator,
      `groups?watch=true&resourceVersion=${object.metadata.resourceVersion}`,
    ).until(({ code }) => code === 200);
    const dry = named();
    const { body } = await send('POST', 'groups?dryRun=All', dry).is(201);
    expect(body).toMatchObject({
      spec: { displayName: 'Sample', members: [] },
      metadata: {
        name: dry.metadata.name,
        uid: expect.any(String),
        resourceVersion: '', // as it would be created
      },
    });
    expect(
      (await send('PATCH', `${at}?dryRun=All`, { spec: { displayName: 'Tried' } }).is(200)).body,
    ).toMatchObject({ spec: { displayName: 'Tried' }, metadata: { generation: 2 } });
    expect(
      (await send('PUT', `${at}?dryRun=All`, { ...object, spec: { displayName: 'Tried' } }).is(200))
        .body.spec.displayName,
    ).toBe('Tried');
    for (const [path, options] of [
      [`${at}?dryRun=All`, undefined],
      [
        at,
        {
          kind: 'DeleteOptions',
          apiVersion: 'v1',
          dryRun: ['All'],
          propagationPolicy: 'Background',
        },
      ],
    ] as const) {
      expect((await send('DELETE', path, options).is(200)).body).toMatchObject({
        kind: 'Status',
        status: 'Success',
        details: { uid: object.metadata.uid },
      });
    }
    await send('POST', 'groups?dryRun=All', {
      ...named(),
      metadata: { name: object.metadata.name },
    }).fails(409, 'AlreadyExists');
    await send('POST', 'groups?dryRun=All', named({}, { displayName: '' })).fails(
      422,
      'Invalid',
      'spec.displayName',
    );
    await send('PATCH', `${at}?dryRun=All`, { metadata: { resourceVersion: '1' } }).fails(
      409,
      'Conflict',
    );
    for (const value of ['all', 'true', 'None']) {
      await send('PATCH', `${at}?dryRun=${value}`, {}).fails(422, 'Invalid', 'dryRun');
    }
    expect((await send('GET', at).is(200)).body).toEqual(object);
    await send('GET', `groups/${dry.metadata.name}`).fails(404, 'NotFound');
    const real = await create();
    await stream.until(({ events }) => events.length > 0);
    expect(stream.events.map(({ object: { metadata } }) => metadata.name)).toEqual([
      real.metadata.name,
    ]);
    stream.close();
  });

  test('is not for actions, which do nothing then', async () => {
    await send('POST', 'clients/app/secret?dryRun=All', {}).fails(400, 'BadRequest');
    await operator.post('passkeys?dryRun=All', { spec: {} }).fails(400, 'BadRequest');
    expect((await send('GET', 'clients/app').is(200)).body.status.secrets).toEqual([]);
  });
});

describe('delete', () => {
  test('holds preconditions against what is there, in body or query', async () => {
    const {
      metadata: { name, uid, resourceVersion },
    } = await create();
    const at = `groups/${name}`;
    for (const preconditions of [
      { uid: 'other' },
      { resourceVersion: '1' },
      { uid, resourceVersion: '1' },
    ]) {
      await send('DELETE', at, { preconditions }).fails(409, 'Conflict');
    }
    for (const [path, options] of [
      [`${at}?propagationPolicy=Sideways`, undefined],
      [at, { propagationPolicy: 'Sideways' }],
    ] as const) {
      await send('DELETE', path, options).fails(422, 'Invalid', 'propagationPolicy');
    }
    await send('DELETE', at, { kind: 'Group' }).fails(400, 'BadRequest');
    const { body } = await send('DELETE', `${at}?propagationPolicy=Sideways`, {
      propagationPolicy: 'Foreground',
      gracePeriodSeconds: 0,
      preconditions: { uid, resourceVersion },
    }).is(200);
    expect(body).toMatchObject({
      status: 'Success',
      details: { name, group: 'id.vestibule.org', kind: 'groups', uid },
    });
    await send('DELETE', at).fails(404, 'NotFound');
    for (const query of [
      '?propagationPolicy=Orphan',
      '?propagationPolicy=Background&gracePeriodSeconds=5',
      '',
    ]) {
      await send('DELETE', `groups/${(await create()).metadata.name}${query}`).is(200);
    }
  });
});
