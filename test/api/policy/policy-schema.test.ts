import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { cedar } from '../../policy/oracle.js';
import { startTest, stopAll, type TestService } from '../../support/service.js';

const paths = ['/api/v1beta1/policyschema', '/apis/id.vestibule.org/v1beta1/policyschema'];
const plain = { plain: true } as const;

let service: TestService;
beforeAll(async () => {
  service = await startTest();
});
afterAll(stopAll);

const get = (path: string, accept = '*/*') =>
  service.tab().get(path, { ...plain, headers: { accept } });

describe.each(paths)('%s', (path) => {
  test.each(['*/*', 'text/plain', 'text/*', 'text/html,application/xhtml+xml,*/*;q=0.8'])(
    'is the Cedar text for Accept %s',
    async (accept) => {
      const { bytes, headers } = await get(path, accept).is(200);
      expect(headers['content-type']).toBe('text/plain;charset=utf-8');
      expect(bytes.toString()).toContain('action "signIn"');
    },
  );

  test.each(['application/json', 'application/json, */*'])(
    'is the same as JSON for Accept %s',
    async (accept) => {
      const text = (await get(path).is(200)).bytes.toString();
      const { body, headers } = await get(path, accept).is(200);
      expect(headers['content-type']).toBe('application/json');
      expect(body).toEqual((cedar.schemaToJson(text) as { json: object }).json);
    },
  );

  test('is enough to validate the policy in force, in both formats', async () => {
    const policy = (await service.tab().get('/api/v1beta1/policies/p-1', plain).is(200)).body;
    const schemas = [
      (await get(path).is(200)).bytes.toString(),
      (await get(path, 'application/json').is(200)).body,
    ];
    for (const schema of schemas) {
      expect(
        cedar.validate({ schema, policies: { staticPolicies: policy.spec.cedar } }),
      ).toMatchObject({ type: 'success', validationErrors: [] });
    }
  });

  test('has an ETag for each format', async () => {
    const [text, json] = await Promise.all([
      get(path).is(200),
      get(path, 'application/json').is(200),
    ]);
    expect(text.headers.etag).not.toBe(json.headers.etag);
    expect(text.headers.vary).toContain('Accept');
    const again = { ...plain, headers: { accept: '*/*', 'if-none-match': text.headers.etag! } };
    await service.tab().get(path, again).is(304);
  });

  test('is no collection: it has no objects and takes no other method', async () => {
    expect((await service.tab().get(`${path}/x`, plain).is(404)).body.reason).toBe('NotFound');
    const refused = await service.tab().send('POST', path, plain).is(405);
    expect(refused.headers.allow).toBe('GET, HEAD');
    expect((await get(path, 'image/png').is(406)).body.reason).toBe('NotAcceptable');
  });
});

test('the OpenAPI document lists both formats', async () => {
  const { body } = await service.tab().get('/api/openapi/v3', plain).is(200);
  const { content } = body.paths[paths[0]!].get.responses['200'];
  expect(Object.keys(content)).toEqual(['text/plain;charset=utf-8', 'application/json']);
});

test('a policy may not close it', async () => {
  const { check } = service.store.systemCall().ports.policy;
  const policy = (await service.tab().get('/api/v1beta1/policies/p-1', plain).is(200)).body;
  for (const path of paths) {
    expect(
      await check(
        `${policy.spec.cedar}\n@id("x") @message("No.") forbid (principal, action, resource == Path::"${path}");`,
      ),
    ).toMatchObject({ faults: [{ message: expect.stringContaining('discovery must be open') }] });
  }
});
