import type { Action } from '../../registry/action.js';
import type { AnyKind } from '../../registry/kind.js';
import { type JSONSchema, toJSONSchema } from '../../registry/schema/schema.js';
import type { RegistryView } from '../../registry/store/registry-view.js';
import { methodOf, statusVerbs } from '../request/verbs.js';
import type { ApiDescription, ServedDocument } from './api-description.js';
import { documentOperation, documentPaths } from './openapi-documents.js';
import {
  actionNames,
  actionOperation,
  inNamespace,
  jsonBody,
  kubernetesExtensions,
  type OpenAPIOperation,
  statusOperation,
  verbOperations,
} from './openapi-operations.js';
import { componentSchemas, objectSchema, typeMembers } from './openapi-schemas.js';

/** Returns the webhooks: requests to other services, and their responses. */
function webhooks(registry: RegistryView): Record<string, unknown> {
  const object = (kind: AnyKind, properties: Record<string, JSONSchema>): JSONSchema =>
    objectSchema(
      kind.description,
      { ...typeMembers(kind, kind.kind), ...properties },
      Object.keys(properties),
    );
  return Object.fromEntries(
    registry.kinds.flatMap((kind) => {
      if (!kind.webhook) return [];
      const { name, description, answer } = kind.webhook;
      const { spec } = registry.schemas(kind);
      const status = toJSONSchema(answer, `${kind.kind}.webhook`);
      return [
        [
          name,
          {
            post: {
              summary: description,
              operationId: name,
              tags: [kind.kind],
              requestBody: { required: true, content: jsonBody(object(kind, { spec })) },
              responses: {
                200: {
                  description: 'The same object with its answer.',
                  content: jsonBody(object(kind, { status })),
                },
              },
            },
          },
        ],
      ];
    }),
  );
}

type Paths = Record<string, Record<string, unknown>>;

function addOperation(
  paths: Paths,
  path: string,
  method: string,
  operation: OpenAPIOperation,
): void {
  paths[path] ??= {};
  paths[path][method] = operation;
}

/** Returns the path of the collection of a kind, of a namespaced one in a namespace. */
const collectionPath = (root: string, { scope, resource }: AnyKind): string =>
  scope === 'Namespaced' ? `${root}/namespaces/{namespace}/${resource}` : `${root}/${resource}`;

function addKind(paths: Paths, kind: AnyKind, root: string): void {
  for (const verb of kind.verbs) {
    const operation = verbOperations[verb];
    if (!operation) continue;
    const path = `${collectionPath(root, kind)}${operation.item ? '/{name}' : ''}`;
    const described = {
      ...operation.describe(kind),
      operationId: `${verb}${kind.kind}`,
      tags: [kind.kind],
      ...kubernetesExtensions(kind, kind.kind, actionNames[verb]),
    };
    addOperation(paths, path, methodOf({ verb }).toLowerCase(), inNamespace(kind, described));
    if (verb === 'list' && kind.scope === 'Namespaced') {
      const operationId = `list${kind.kind}ForAllNamespaces`;
      addOperation(paths, `${root}/${kind.resource}`, 'get', { ...described, operationId });
    }
  }
}

function addStatus(paths: Paths, kind: AnyKind, root: string): void {
  if (!kind.hasStatusSubresource) return;
  for (const verb of statusVerbs) {
    const path = `${collectionPath(root, kind)}/{name}/status`;
    addOperation(paths, path, methodOf({ verb }).toLowerCase(), {
      ...inNamespace(kind, statusOperation(kind, verb)),
      operationId: `${verb}${kind.kind}Status`,
      tags: [kind.kind],
      ...kubernetesExtensions(kind, kind.kind, actionNames[verb]),
    });
  }
}

function addAction(paths: Paths, action: Action, registry: RegistryView): void {
  const { of, subresource, verb } = action;
  const path = `${collectionPath(registry.root, of)}/{name}/${subresource}`;
  addOperation(paths, path, methodOf(action).toLowerCase(), {
    ...inNamespace(of, actionOperation(action, registry)),
    operationId: `${verb}${of.kind}${subresource}`,
    tags: [of.kind],
    ...kubernetesExtensions(of, action.kind, actionNames[verb]),
  });
}

/** Returns the content of a response in several media types. */
const contentOf = (types: readonly string[]): object =>
  Object.fromEntries(
    types.map((type) => [
      type,
      { schema: { type: type === 'application/json' ? 'object' : 'string' } },
    ]),
  );

const tagsOf = (registry: RegistryView): { name: string; description: string }[] => [
  ...registry.kinds.map(({ kind, description }) => ({ name: kind, description })),
  {
    name: 'Discovery',
    description: 'What is served, for clients; reviews of the caller, and health.',
  },
];

function pathsOf(registry: RegistryView, documents: readonly ServedDocument[]): Paths {
  const paths: Paths = {};
  for (const kind of registry.kinds) {
    addKind(paths, kind, registry.root);
    addStatus(paths, kind, registry.root);
  }
  for (const action of registry.actions) addAction(paths, action, registry);
  Object.assign(paths, documentPaths(registry));
  for (const { name, summary, formats } of documents) {
    const path = `${registry.root}/${name}`;
    const content = contentOf(Object.keys(formats));
    addOperation(paths, path, 'get', documentOperation(path, summary, {}, content));
  }
  return paths;
}

/**
 * Returns the OpenAPI 3.1 document, with the schemas that validate requests
 * (docs/design/api.md#versions).
 */
export function openapi(registry: RegistryView, release: string, api: ApiDescription): unknown {
  const { title, description, license, securitySchemes } = api;
  const isMain = registry.group === registry.registry.group;
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: {
      title,
      version: `${registry.version}+${release}`,
      description,
      ...(license && { license }),
    },
    servers: [{ url: '/' }],
    tags: tagsOf(registry),
    security: [...Object.keys(securitySchemes).map((name) => ({ [name]: [] })), {}],
    paths: pathsOf(registry, (isMain && api.documents) || []),
    webhooks: webhooks(registry),
    components: { schemas: componentSchemas(registry), securitySchemes },
  };
}
