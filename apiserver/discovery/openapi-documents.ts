import type { JSONSchema } from '../../registry/schema/schema.js';
import type { Reason } from '../../registry/status/status.js';
import type { RegistryView } from '../../registry/store/registry-view.js';
import { reviewPaths } from '../request/request-info.js';
import {
  commonErrors,
  jsonBody,
  type OpenAPIOperation,
  queryParameter,
  responses,
} from './openapi-operations.js';
import { listSchema, objectSchema, schemaRef, textSchema } from './openapi-schemas.js';

/** The methods of a path with their operations. */
export type PathItem = Readonly<Record<string, OpenAPIOperation>>;

/** Returns the schema of a document of Kubernetes' API. */
const typed = (
  kind: string,
  description: string,
  properties: Record<string, JSONSchema>,
  apiVersion = 'v1',
): JSONSchema =>
  objectSchema(description, {
    apiVersion: textSchema('The version of the kind.', { const: apiVersion }),
    kind: textSchema('The kind.', { const: kind }),
    ...properties,
  });

const groupVersion = objectSchema('A version of a group.', {
  groupVersion: textSchema('Group and version.'),
  version: textSchema('The version.'),
});
const group = {
  name: textSchema('Name of the group.'),
  versions: listSchema('Its versions.', groupVersion),
  preferredVersion: groupVersion,
};
const resources = listSchema(
  'The resources and subresources.',
  objectSchema('A resource.', {
    name: textSchema('Its name in paths, with / before a subresource.'),
    singularName: textSchema('Its name in the singular; empty for subresources.'),
    namespaced: { type: 'boolean', description: 'Whether its objects are in namespaces.' },
    kind: textSchema('The kind of what is sent and answered.'),
    verbs: listSchema('What it takes.', textSchema('A verb.')),
  }),
);
const resourceList = typed('APIResourceList', 'Every resource and the verbs it takes.', {
  groupVersion: textSchema('Group and version.'),
  resources,
});
/** Aggregated discovery, which Accept may ask for. */
const aggregated = objectSchema('What is served, as aggregated discovery.', {
  apiVersion: textSchema('The version of the kind.'),
  kind: textSchema('The kind.', { const: 'APIGroupDiscoveryList' }),
  items: listSchema('The groups.', { type: 'object' }),
});
const orAggregated = (schema: JSONSchema): JSONSchema => ({
  ...(schema.description !== undefined && { description: schema.description }),
  anyOf: [schema, aggregated],
});
const openapiOf = (version: string, member: string): JSONSchema =>
  objectSchema('An OpenAPI document.', {
    [member]: textSchema('The version of OpenAPI.', { const: version }),
    info: objectSchema('About the API.', {
      title: textSchema('Its name.'),
      version: textSchema('Its version.'),
    }),
    paths: { type: 'object', description: 'The operations by path.', additionalProperties: true },
  });

/** Returns the documents that are served: the summary and the schema of each, by path. */
const documents = ({
  group: name,
  root,
  apiVersion,
}: RegistryView): Readonly<Record<string, readonly [summary: string, schema: JSONSchema]>> => ({
  '/api': [
    'The API versions served.',
    orAggregated(
      typed('APIVersions', 'The API versions served.', {
        versions: listSchema('The versions of the core group.', textSchema('A version.')),
      }),
    ),
  ],
  '/api/v1': [
    'What is served of the core group of Kubernetes: the namespace default, and events.',
    resourceList,
  ],
  [root]: ['Every resource and the verbs it takes.', resourceList],
  '/api/openapi/v3': ['This document.', openapiOf('3.1.0', 'openapi')],
  '/apis': [
    'The API groups served.',
    orAggregated(
      typed('APIGroupList', 'The API groups served.', {
        groups: listSchema('The groups.', objectSchema('A group.', group)),
      }),
    ),
  ],
  [`/apis/${name}`]: ['The one API group.', typed('APIGroup', 'The one API group.', group)],
  [`/apis/${apiVersion}`]: ['Every resource and the verbs it takes.', resourceList],
  '/openapi/v3': [
    'Where the documents for Kubernetes clients are.',
    objectSchema('Where the documents are.', {
      paths: { type: 'object', description: 'By group and version.', additionalProperties: true },
    }),
  ],
  [`/openapi/v3/apis/${apiVersion}`]: [
    'This document as Kubernetes clients read it.',
    openapiOf('3.0.0', 'openapi'),
  ],
  '/openapi/v2': ['The kinds as OpenAPI 2.0, for older clients.', openapiOf('2.0', 'swagger')],
  '/version': [
    'The version served.',
    objectSchema('The version served.', {
      major: textSchema('Major version.'),
      minor: textSchema('Minor version.'),
      gitVersion: textSchema('The release.'),
    }),
  ],
});

/** Returns the operation of a document; `content` are its formats if it has others than JSON. */
export function documentOperation(
  path: string,
  summary: string,
  schema: JSONSchema,
  content?: object,
): OpenAPIOperation {
  const isHashed = path.includes('/apis/') && path.startsWith('/openapi');
  return {
    summary,
    operationId: `discover${path.replaceAll('/', '_')}`,
    tags: ['Discovery'],
    responses: {
      ...responses(200, summary, schema, commonErrors),
      ...(content && { 200: { description: summary, content } }),
      304: { description: 'Nothing has changed since the ETag that If-None-Match names.' },
      ...(isHashed && {
        301: { description: 'The hash is of another document: where this one is.' },
      }),
    },
  };
}

const onReviews: Reason[] = [
  ...commonErrors,
  'RequestEntityTooLarge',
  'UnsupportedMediaType',
  'Invalid',
];

/** Returns the operation of an access review of the caller. */
function reviewOperation(path: string, kind: string): OpenAPIOperation {
  const [, , of, version] = path.split('/');
  const member = (name: string): JSONSchema => ({
    type: 'object',
    description: `The ${name} of the review, as Kubernetes defines it.`,
    additionalProperties: true,
  });
  const review = typed(kind, 'A review of the caller.', {}, `${of}/${version}`);
  return {
    summary: `Answers a ${kind} of Kubernetes about the caller.`,
    operationId: `create${kind}_${version}`,
    tags: ['Discovery'],
    requestBody: {
      required: true,
      content: jsonBody({ ...review, properties: { ...review.properties, spec: member('spec') } }),
    },
    responses: responses(
      201,
      'The review with its status.',
      {
        ...review,
        required: [...(review.required as string[]), 'status'],
        properties: { ...review.properties, spec: member('spec'), status: member('status') },
      },
      onReviews,
    ),
  };
}

/** Returns the operation of a health check (Kubernetes: health endpoints). */
function healthOperation(path: string): OpenAPIOperation {
  const content = { 'text/plain; charset=utf-8': { schema: { type: 'string' } } };
  return {
    summary: `Whether the service is ${path === '/readyz' ? 'ready' : 'alive'}.`,
    operationId: `check${path.replaceAll('/', '_')}`,
    tags: ['Discovery'],
    parameters: [
      queryParameter('verbose', 'Names each check.'),
      queryParameter('exclude', 'A check that is left out; may be repeated.', {
        type: 'array',
        items: { type: 'string' },
      }),
    ],
    responses: {
      ...responses(200, '', {}, commonErrors),
      200: { description: 'Every check passes.', content },
      500: {
        description: 'Which checks fail.',
        content: { ...content, ...jsonBody(schemaRef('Status')) },
      },
    },
  };
}

/** Returns the paths beside those of the kinds: documents, reviews and health. */
export function documentPaths(registry: RegistryView): Record<string, PathItem> {
  const paths: Record<string, PathItem> = {};
  for (const [path, [summary, schema]] of Object.entries(documents(registry))) {
    paths[path] = { get: documentOperation(path, summary, schema) };
  }
  for (const [path, kind] of reviewPaths) paths[path] = { post: reviewOperation(path, kind) };
  for (const path of ['/livez', '/readyz', '/healthz']) {
    paths[path] = { get: healthOperation(path) };
  }
  return paths;
}
