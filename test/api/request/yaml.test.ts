import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { expectFor } from '../../support/expect-for.js';
import { startWithOperator } from '../../support/people/operator.js';
import type { Init } from '../../support/people/tab.js';
import { stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

const mounts = ['/api/v1beta1/', '/apis/id.vestibule.org/v1beta1/'];
const yaml = 'application/yaml';

describe.each(stores)('YAML, on %s', (store) => {
  let service: TestService;
  let token: string;
  beforeAll(async () => {
    ({ service, token } = await startWithOperator({ store }));
  });
  afterAll(stopAll);

  const send = (method: string, path: string, { headers, ...init }: Init = {}) =>
    service.tab().send(method, path, {
      plain: true,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...init,
    });
  const group = (name: string, spec: object, more: object = {}) =>
    stringify({
      apiVersion: 'id.vestibule.org/v1beta1',
      kind: 'Group',
      metadata: { name, ...more },
      spec,
    });

  test.each(mounts)('is taken in create, update and delete, below %s', async (mount) => {
    const name = `yaml-${mount.length}`;
    const headers = { 'content-type': yaml };
    const made = await send('POST', `${mount}groups`, {
      headers,
      body: group(name, { displayName: 'First' }),
    }).is(201);
    const { resourceVersion, uid } = made.body.metadata;
    await send('PUT', `${mount}groups/${name}`, {
      headers: { 'content-type': `${yaml}; charset=utf-8` },
      body: group(name, { displayName: 'Second' }, { resourceVersion }),
    }).is(200);
    expect((await send('GET', `${mount}groups/${name}`).is(200)).body.spec.displayName).toBe(
      'Second',
    );
    await send('DELETE', `${mount}groups/${name}`, {
      headers,
      body: stringify({ preconditions: { uid: 'other' } }),
    }).fails(409, 'Conflict');
    await send('DELETE', `${mount}groups/${name}`, {
      headers,
      body: stringify({ kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid } }),
    }).is(200);
  });

  test('that is none, or no object, is 400; actions and reviews take JSON alone', async () => {
    const headers = { 'content-type': yaml };
    for (const body of ['a: [', '- a', 'a: &x 1\nb: *x', '!!js/function a', 'a: 1\na: 2', '']) {
      await send('POST', 'groups', { headers, body }).fails(400, 'BadRequest');
    }
    for (const path of [
      'clients/app/secret',
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    ]) {
      await send('POST', path, { headers, body: 'spec: {}' }).fails(415, 'UnsupportedMediaType');
    }
    for (const type of ['application/merge-patch+yaml', 'text/yaml', 'application/x-yaml']) {
      await send('POST', 'groups', { headers: { 'content-type': type }, body: 'a: 1' }).fails(
        415,
        'UnsupportedMediaType',
      );
    }
    await send('PATCH', 'clients/app', { headers, body: 'spec: {}' }).fails(
      415,
      'UnsupportedMediaType',
    );
  });

  const given: readonly (readonly [path: string, code: number])[] = [
    ...mounts.flatMap((mount) => [
      [`${mount}clients`, 200] as const,
      [`${mount}clients?limit=1`, 200] as const,
      [`${mount}clients/app`, 200] as const,
      [`${mount}clients/absent`, 404] as const,
      [`${mount}clients?limit=x`, 400] as const,
    ]),
    ['/api', 200],
    ['/api/v1', 200],
    ['/api/v1/namespaces', 200],
    ['/api/v1/namespaces/default', 200],
    ['/api/v1/events', 200],
    ['/api/v1beta1', 200],
    ['/apis', 200],
    ['/api/openapi/v3', 200],
    ['/openapi/v2', 200],
    ['/openapi/v3', 200],
    ['/version', 200],
    ['/nowhere', 404],
  ];
  test.each(given)('is given where it is preferred: %s', async (path, code) => {
    const json = await send('GET', path).is(code);
    for (const [accept, isYAML] of [
      [yaml, true],
      ['Application/YAML', true],
      [`${yaml}, application/json;q=0.9`, true],
      [`application/json;q=0.5, ${yaml}`, true],
      [`application/json, ${yaml}`, false],
      [`${yaml};q=0, application/json`, false],
      [`application/vnd.kubernetes.protobuf, ${yaml}`, true],
    ] as const) {
      const { headers, bytes } = await send('GET', path, { headers: { accept } }).is(code);
      expectFor(accept, headers['content-type']).toEqual(isYAML ? yaml : 'application/json');
      const value: any = parse(bytes.toString());
      if (code === 200 && !path.includes('client')) {
        expect(value).toEqual(json.body);
      } else {
        expect(value.kind).toBe(json.body.kind);
      }
    }
  });

  test('is given for what a create makes, and never for a watch', async () => {
    const { headers, bytes } = await send('POST', 'groups?dryRun=All', {
      headers: { 'content-type': yaml, accept: yaml },
      body: group('made', { displayName: 'Made' }),
    }).is(201);
    expect([headers['content-type'], parse(bytes.toString()).spec.displayName]).toEqual([
      yaml,
      'Made',
    ]);
    await send('GET', 'groups?watch=true', { headers: { accept: yaml } }).is(406);
    const watched = await send('GET', 'groups?watch=true&timeout=10ms', {
      headers: { accept: `${yaml}, application/json` },
    }).is(200);
    expect(watched.headers['content-type']).toBe('application/json');
  });
});
