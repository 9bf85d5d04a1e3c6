import type { Action } from '../../registry/action.js';
import type { AnyKind } from '../../registry/kind.js';
import type { Registry } from '../../registry/registry.js';
import { toJSONSchema, type JSONSchema } from '../../registry/schema.js';
import type { ApiDescription, ServedDocument } from './api-description.js';
import { methodOf } from '../request/verbs.js';
import {
  actionNames,
  actionOperation,
  responses,
  verbOperations,
  commonErrors,
  jsonBody,
  kubernetesExtensions,
  type OpenAPIOperation,
} from './openapi-operations.js';
import { componentSchemas, textSchema } from './openapi-schemas.js';

/** Returns the webhooks: requests to other services, and their responses. */
function webhooks(registry: Registry): Record<string, unknown> {
  const object = (kind: AnyKind, properties: Record<string, JSONSchema>): JSONSchema => ({
    type: 'object',
    description: kind.description,
    required: Object.keys(properties),
    properties: {
      apiVersion: textSchema('Group and version.', { const: kind.apiVersion }),
      kind: textSchema('The kind.', { const: kind.kind }),
      ...properties,
    },
  });
  return Object.fromEntries(
    registry.kinds.flatMap((kind) => {
      if (!kind.webhook) return [];
      const { name, description, answer } = kind.webhook;
      const { schema: spec } = registry.schemas(kind).spec;
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

function addKind(paths: Paths, kind: AnyKind): void {
  for (const verb of kind.verbs) {
    const operation = verbOperations[verb];
    if (!operation) continue;
    const path = `/api/${kind.version}/${kind.resource}${operation.item ? '/{name}' : ''}`;
    addOperation(paths, path, methodOf({ verb }).toLowerCase(), {
      ...operation.describe(kind),
      operationId: `${verb}${kind.kind}`,
      tags: [kind.kind],
      ...kubernetesExtensions(kind, kind.kind, actionNames[verb]),
    });
  }
}

function addAction(paths: Paths, action: Action, registry: Registry): void {
  const { of, subresource, verb } = action;
  const path = `/api/${of.version}/${of.resource}/{name}/${subresource}`;
  addOperation(paths, path, methodOf(action).toLowerCase(), {
    ...actionOperation(action, registry),
    operationId: `${verb}${of.kind}${subresource}`,
    tags: [of.kind],
    ...kubernetesExtensions(of, action.kind, actionNames[verb]),
  });
}

/** Returns the documents that are served, with their summaries. */
const documentSummaries = ({
  group,
  version,
  apiVersion,
}: Registry): Readonly<Record<string, string>> => ({
  '/api': 'The API versions served.',
  '/api/v1': 'What is served of the core group of Kubernetes: the namespace default, and events.',
  [`/api/${version}`]: 'Every resource and the verbs it takes.',
  '/api/openapi/v3': 'This document.',
  '/apis': 'The API groups served.',
  [`/apis/${group}`]: 'The one API group.',
  [`/apis/${apiVersion}`]: 'Every resource and the verbs it takes.',
  '/openapi/v3': 'Where the documents for Kubernetes clients are.',
  [`/openapi/v3/apis/${apiVersion}`]: 'This document as Kubernetes clients read it.',
  '/openapi/v2': 'The kinds as OpenAPI 2.0, for older clients.',
  '/version': 'The version served.',
});

/** Adds the operation of a document; `content` are its formats if it has others than JSON. */
function addDocument(paths: Paths, path: string, summary: string, content?: object): void {
  const isHashed = path.includes('/apis/') && path.startsWith('/openapi');
  addOperation(paths, path, 'get', {
    summary,
    operationId: `discover${path.replaceAll('/', '_')}`,
    tags: ['Discovery'],
    responses: {
      ...responses(200, summary, { type: 'object', description: summary }, commonErrors),
      ...(content && { 200: { description: summary, content } }),
      304: { description: 'Nothing has changed since the ETag that If-None-Match names.' },
      ...(isHashed && {
        301: { description: 'The hash is of another document: where this one is.' },
      }),
    },
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

const tagsOf = (registry: Registry): { name: string; description: string }[] => [
  ...registry.kinds.map(({ kind, description }) => ({ name: kind, description })),
  { name: 'Discovery', description: 'What is served, for clients.' },
];

function pathsOf(registry: Registry, documents: readonly ServedDocument[]): Paths {
  const paths: Paths = {};
  for (const kind of registry.kinds) addKind(paths, kind);
  for (const action of registry.actions) addAction(paths, action, registry);
  for (const [path, summary] of Object.entries(documentSummaries(registry)))
    addDocument(paths, path, summary);
  for (const { name, summary, formats } of documents)
    addDocument(
      paths,
      `/api/${registry.version}/${name}`,
      summary,
      contentOf(Object.keys(formats)),
    );
  return paths;
}

/**
 * Returns the OpenAPI 3.1 document, with the schemas that validate requests
 * (docs/design/api.md#versions).
 */
export function openapi(registry: Registry, release: string, api: ApiDescription): unknown {
  const { title, description, license, securitySchemes } = api;
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
    paths: pathsOf(registry, api.documents ?? []),
    webhooks: webhooks(registry),
    components: { schemas: componentSchemas(registry), securitySchemes },
  };
}
