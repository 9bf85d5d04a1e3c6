import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiPaths } from '../../../apiserver/request/api-paths.js';
import { apiDescription } from '../../../cmd/vestibule/serve/api-description.js';
import { read } from '../../docs/pages.js';
import { expectFor } from '../../support/expect-for.js';
import { startTest, stopAll, type TestService } from '../../support/service.js';

let service: TestService;
beforeAll(async () => {
  service = await startTest();
});
afterAll(stopAll);

const mainGroup = { name: 'id.vestibule.org', versions: [{ version: 'v1beta1' }] };
const paths = new ApiPaths(
  { groups: [mainGroup], mainGroup },
  apiDescription.documents!.map(({ name }) => name),
);
const roots = paths.mounts.map(({ root }) => root);
const get = async (path: string): Promise<any> =>
  (await service.tab().get(path, { plain: true }).is(200)).body;

/** The resource of a path below the API, with its subresource. */
const resourceOf = (rest: string): string => {
  const [resource, , subresource] = rest.replace(/^watch\//, '').split('/');
  return subresource === undefined ? resource! : `${resource}/${subresource}`;
};

/** What answers below the paths of the API and is no resource. */
const documentsOf = (all: readonly string[], listed: ReadonlySet<string>): string[] =>
  all.flatMap((path) => {
    const root = roots.find((root) => path.startsWith(root));
    const rest = path.slice(root?.length);
    return root === undefined || listed.has(resourceOf(rest)) ? [] : [rest];
  });

test('what answers below the API is in discovery, OpenAPI or the docs', async () => {
  const { resources } = await get('/apis/id.vestibule.org/v1beta1');
  const listed = new Set<string>(resources.map(({ name }: { name: string }) => name));
  const described = [
    ...Object.keys((await get('/api/openapi/v3')).paths),
    ...Object.keys((await get('/openapi/v3/apis/id.vestibule.org/v1beta1')).paths),
  ];
  const routed = [...paths.documents];
  expect(documentsOf(described, new Set()).length).toBeGreaterThan(2 * listed.size - 1);
  const documents = new Set(documentsOf([...described, ...routed], listed));
  expect([...documents]).toEqual(['policyschema']);
  const section = read('docs/design/kubernetes.md').split('## Documents')[1]!.split('\n## ')[0];
  for (const name of documents) {
    expect(section).toContain(`\`${name}\``);
    for (const root of roots) {
      expectFor(root, described.includes(`${root}${name}`)).toEqual(true);
      await service.tab().get(`${root}${name}`, { plain: true }).is(200);
    }
  }
});

test.each([
  ['get', '/livez'],
  ['get', '/readyz'],
  ['get', '/healthz'],
  ['post', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'],
  ['post', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews'],
  ['post', '/apis/authentication.k8s.io/v1/selfsubjectreviews'],
])('OpenAPI describes the answers of %s %s', async (method, path) => {
  const operation = (await get('/api/openapi/v3')).paths[path][method];
  const [answer] = ['200', '201'].flatMap((code) => operation.responses[code] ?? []);
  expect(operation.responses).toHaveProperty(method === 'get' ? '500' : '401');
  for (const { schema } of Object.values<any>(answer.content)) {
    expect(Object.keys(schema)).not.toEqual([]);
  }
});

test.each(['/api', '/apis', '/apis/id.vestibule.org/v1beta1', '/version'])(
  'OpenAPI describes the document %s with its fields',
  async (path) => {
    const openapi = await get('/api/openapi/v3');
    const { schema } = openapi.paths[path].get.responses['200'].content['application/json'];
    const { required, properties } = schema.anyOf?.[0] ?? schema;
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(required));
    expect(Object.keys(await get(path))).toEqual(expect.arrayContaining(required));
  },
);
