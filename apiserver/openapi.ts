import {
  apiVersion,
  group,
  version,
  type Action,
  type AnyKind,
  type Verb,
} from '../registry/kind.js';
import { Metadata } from '../registry/metadata.js';
import type { Registry } from '../registry/registry.js';
import { toJSONSchema, type JSONSchema } from '../registry/schema.js';
import { codes, type Reason } from '../registry/status.js';
import { methodOf } from './methods.js';

/** The specification's versioning notice (specification 9). */
const versioningNotice =
  'The version served is v1alpha1. It may change without notice. It is to become v1beta1, then v1.';

const ref = (name: string): JSONSchema => ({ $ref: `#/components/schemas/${name}` });
const text = (description: string, more: JSONSchema = {}): JSONSchema => ({
  type: 'string',
  description,
  ...more,
});

const statusSchema: JSONSchema = {
  type: 'object',
  description: 'Every error is a Status object.',
  required: ['apiVersion', 'kind', 'metadata', 'status', 'code'],
  additionalProperties: false,
  properties: {
    apiVersion: text('v1', { const: 'v1' }),
    kind: text('Status', { const: 'Status' }),
    metadata: {
      type: 'object',
      description: 'Always empty.',
      additionalProperties: false,
      properties: {},
    },
    status: text('Failure, or Success of a deletion.', { enum: ['Failure', 'Success'] }),
    reason: text('For programs.', { enum: Object.keys(codes) }),
    code: { type: 'integer', description: 'The HTTP status code.' },
    message: text('For people who develop.'),
    details: {
      type: 'object',
      description: 'What is known beyond the reason.',
      additionalProperties: false,
      properties: {
        name: text('Name of the object.'),
        group: text('API group.'),
        kind: text('Resource, or of Invalid the kind.'),
        uid: text('uid of the object.'),
        causes: {
          type: 'array',
          description: 'Names each invalid field.',
          items: {
            type: 'object',
            required: ['reason', 'message'],
            additionalProperties: false,
            description: 'One cause.',
            properties: {
              reason: text('For programs.'),
              message: text('What is wrong.'),
              field: text('Path of the field.'),
            },
          },
        },
        retryAfterSeconds: {
          type: 'integer',
          description: 'Wait so many seconds; Retry-After says the same.',
        },
        methods: {
          type: 'array',
          description: 'Ways to sign in that suffice, where a cause is ReauthenticationRequired.',
          items: text('EmailCode, EmailLink or Passkey.'),
        },
        triesLeft: { type: 'integer', description: 'Wrong codes that may still follow.' },
        policyDecision: text('Name of the PolicyDecision.'),
      },
    },
  },
};

/** The object, its list and its watch event, for one kind. */
function kindSchemas(kind: AnyKind, registry: Registry): Record<string, JSONSchema> {
  const { spec, status } = registry.schemas(kind);
  const envelope = {
    apiVersion: text('Group and version.', { const: apiVersion }),
    kind: text('The kind.', { const: kind.kind }),
  };
  return {
    [kind.kind]: {
      type: 'object',
      description: kind.description,
      required: ['apiVersion', 'kind', 'metadata', 'spec', 'status'],
      additionalProperties: false,
      properties: {
        ...envelope,
        metadata: {
          ...ref('ObjectMeta'),
          description: 'Its name, its versions, and what others say of it.',
        },
        spec: { ...spec.schema, description: 'What the caller may set.' },
        status: { ...status, description: 'What the service observed.' },
      },
      'x-kubernetes-group-version-kind': [{ group, version, kind: kind.kind }],
    },
    [`${kind.kind}List`]: {
      type: 'object',
      description: `A list of ${kind.resource}.`,
      required: ['apiVersion', 'kind', 'metadata', 'items'],
      additionalProperties: false,
      properties: {
        apiVersion: envelope.apiVersion,
        kind: text('The kind.', { const: `${kind.kind}List` }),
        metadata: ref('ListMeta'),
        items: { type: 'array', description: 'The objects.', items: ref(kind.kind) },
      },
    },
    [`${kind.kind}Event`]: {
      type: 'object',
      description: `One line of a watch on ${kind.resource}.`,
      required: ['type', 'object'],
      additionalProperties: false,
      properties: {
        type: text('What happened.', {
          enum: ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'],
        }),
        object: {
          anyOf: [ref(kind.kind), ref('Bookmark'), ref('Status')],
          description: 'The object; of a BOOKMARK its version alone; of an ERROR a Status.',
        },
      },
    },
  };
}

const listMeta: JSONSchema = {
  type: 'object',
  description: 'Metadata of a list.',
  required: ['resourceVersion'],
  additionalProperties: false,
  properties: {
    resourceVersion: text('The revision the list was read at.'),
    continue: text('Asks for the next page.'),
    remainingItemCount: { type: 'integer', description: 'How many follow.' },
  },
};
const bookmark: JSONSchema = {
  type: 'object',
  description: 'Nothing up to this version is missing.',
  required: ['apiVersion', 'kind', 'metadata'],
  additionalProperties: false,
  properties: {
    apiVersion: text('Group and version.'),
    kind: text('The kind.'),
    metadata: {
      type: 'object',
      description: 'Its version.',
      required: ['resourceVersion'],
      additionalProperties: false,
      properties: {
        resourceVersion: text('The version.'),
        annotations: {
          type: 'object',
          description: 'Notes.',
          additionalProperties: text('A note.'),
        },
      },
    },
  },
};

/** What Kubernetes' tools may ask to be shown instead of objects (`kubernetes.md` 4.2). */
const otherViews: Record<string, JSONSchema> = {
  Table: {
    type: 'object',
    description: 'Objects as rows of a table.',
    required: ['apiVersion', 'kind', 'metadata', 'columnDefinitions', 'rows'],
    additionalProperties: false,
    properties: {
      apiVersion: text('meta.k8s.io/v1.'),
      kind: text('The kind.', { const: 'Table' }),
      metadata: ref('ListMeta'),
      columnDefinitions: {
        type: 'array',
        description: 'What stands above the rows; in a watch with the first event alone.',
        items: {
          type: 'object',
          description: 'One column.',
          required: ['name', 'type', 'format', 'description', 'priority'],
          additionalProperties: false,
          properties: {
            name: text('Its heading.'),
            type: text('Always string.'),
            format: text('name, or nothing.'),
            description: text('What it holds.'),
            priority: { type: 'integer', description: 'Above 0: shown where much is asked for.' },
          },
        },
      },
      rows: {
        type: 'array',
        description: 'A row for each object.',
        items: {
          type: 'object',
          description: 'One object.',
          required: ['cells', 'object'],
          additionalProperties: false,
          properties: {
            cells: {
              type: 'array',
              description: 'Its values, a column each.',
              items: { type: 'string' },
            },
            object: {
              anyOf: [{ type: 'object' }, { type: 'null' }],
              description: 'Its metadata; all of it or nothing by includeObject.',
            },
          },
        },
      },
    },
  },
  PartialObjectMetadata: {
    type: 'object',
    description: 'An object’s metadata alone.',
    required: ['apiVersion', 'kind', 'metadata'],
    additionalProperties: false,
    properties: {
      apiVersion: text('meta.k8s.io/v1.'),
      kind: text('The kind.', { const: 'PartialObjectMetadata' }),
      metadata: ref('ObjectMeta'),
    },
  },
  PartialObjectMetadataList: {
    type: 'object',
    description: 'A list of objects’ metadata.',
    required: ['apiVersion', 'kind', 'metadata', 'items'],
    additionalProperties: false,
    properties: {
      apiVersion: text('meta.k8s.io/v1.'),
      kind: text('The kind.', { const: 'PartialObjectMetadataList' }),
      metadata: ref('ListMeta'),
      items: { type: 'array', description: 'The objects.', items: ref('PartialObjectMetadata') },
    },
  },
};

/** An answer that Accept may ask for in those forms too. */
const viewed = (
  responses: Record<string, unknown>,
  kinds: readonly string[],
): Record<string, unknown> => {
  const good = responses[200] as { content: object };
  return {
    ...responses,
    200: {
      ...good,
      content: {
        ...good.content,
        ...Object.assign(
          {},
          ...kinds.map((kind) =>
            jsonBody(ref(kind), `application/json;as=${kind};g=meta.k8s.io;v=v1`),
          ),
        ),
      },
    },
  };
};

type Operation = Record<string, unknown>;

/** What Kubernetes' tools find an operation by. */
const marked = (kind: string, action: string): Operation => ({
  'x-kubernetes-group-version-kind': { group, version, kind },
  'x-kubernetes-action': action,
});
const actionNames: Readonly<Record<Verb, string>> = {
  get: 'get',
  list: 'list',
  watch: 'watch',
  create: 'post',
  update: 'put',
  patch: 'patch',
  delete: 'delete',
  deletecollection: 'deletecollection',
};
const jsonBody = (schema: JSONSchema, type = 'application/json') => ({ [type]: { schema } });
const answers = (
  code: number,
  description: string,
  schema: JSONSchema,
  errors: readonly Reason[],
): Record<string, unknown> => {
  const responses: Record<string, unknown> = { [code]: { description, content: jsonBody(schema) } };
  for (const reason of errors)
    responses[codes[reason]] = {
      description: `A Status: ${Object.keys(codes)
        .filter((one) => codes[one as Reason] === codes[reason])
        .join(' or ')}.`,
      content: jsonBody(ref('Status')),
    };
  return responses;
};

const everywhere: Reason[] = [
  'BadRequest',
  'Unauthorized',
  'Forbidden',
  'NotFound',
  'MethodNotAllowed',
  'NotAcceptable',
  'TooManyRequests',
  'RequestHeaderFieldsTooLarge',
  'InternalError',
  'ServiceUnavailable',
  'Timeout',
];
const onWrites: Reason[] = [
  ...everywhere,
  'Conflict',
  'Expired',
  'RequestEntityTooLarge',
  'UnsupportedMediaType',
  'Invalid',
];
const query = (name: string, description: string, schema: JSONSchema = { type: 'string' }) => ({
  name,
  in: 'query',
  required: false,
  description,
  schema,
});
const nameParameter = {
  name: 'name',
  in: 'path',
  required: true,
  description: 'Name of the object.',
  schema: { type: 'string' },
};
const listParameters = [
  query('labelSelector', 'Only objects whose labels match.'),
  query('fieldSelector', 'Only objects whose fields match.'),
  query('limit', 'At most so many, 500 at most.', { type: 'integer' }),
  query('continue', 'The next page.'),
  query('resourceVersion', 'Not older than this version.'),
  query('resourceVersionMatch', 'Exact or NotOlderThan.'),
  query('watch', 'Stream changes instead.', { type: 'boolean' }),
  query('allowWatchBookmarks', 'BOOKMARK events are welcome.', { type: 'boolean' }),
  query('sendInitialEvents', 'Begin a watch with what there is.', { type: 'boolean' }),
  query('timeoutSeconds', 'End a watch after so long.', { type: 'integer' }),
];
const validation = query('fieldValidation', 'Ignore, Warn or Strict.');
const manager = query('fieldManager', 'Accepted without effect.');
const writeParameters = [query('dryRun', 'All: nothing is stored.'), validation, manager];
const deletionBody = {
  required: false,
  content: jsonBody({ type: 'object', description: 'DeleteOptions.' }),
};

const ends: Record<Verb, { item: boolean; describe: (kind: AnyKind) => Operation } | undefined> = {
  watch: undefined,
  get: {
    item: true,
    describe: (kind) => ({
      summary: `Reads one ${kind.kind}.`,
      parameters: [nameParameter, query('watch', 'Stream changes instead.', { type: 'boolean' })],
      responses: {
        ...viewed(answers(200, `The ${kind.kind}.`, ref(kind.kind), everywhere), [
          'Table',
          'PartialObjectMetadata',
        ]),
        ...(kind.bound && {
          303: { description: 'A browser that navigates is led to the page.' },
          ...answers(410, 'Over.', ref('Status'), []),
        }),
      },
    }),
  },
  list: {
    item: false,
    describe: (kind) => ({
      summary: `Lists or watches ${kind.resource}.`,
      parameters: listParameters,
      responses: viewed(
        answers(
          200,
          'The list; of a watch one event a line.',
          { anyOf: [ref(`${kind.kind}List`), ref(`${kind.kind}Event`)] },
          [...everywhere, 'Expired', 'Invalid'],
        ),
        ['Table', 'PartialObjectMetadataList'],
      ),
    }),
  },
  create: {
    item: false,
    describe: (kind) => ({
      summary: `Creates a ${kind.kind}.`,
      parameters: writeParameters,
      requestBody: { required: true, content: jsonBody(ref(`${kind.kind}Draft`)) },
      responses: answers(201, 'As stored.', ref(kind.kind), onWrites),
    }),
  },
  update: {
    item: true,
    describe: (kind) => ({
      summary: `Replaces the spec of a ${kind.kind}.`,
      parameters: [nameParameter, ...writeParameters],
      requestBody: { required: true, content: jsonBody(ref(`${kind.kind}Draft`)) },
      responses: answers(200, 'As stored.', ref(kind.kind), onWrites),
    }),
  },
  patch: {
    item: true,
    describe: (kind) => ({
      summary: `Changes a ${kind.kind} by merge patch.`,
      parameters: [nameParameter, ...writeParameters],
      requestBody: {
        required: true,
        content: jsonBody(
          { type: 'object', description: 'RFC 7386.' },
          'application/merge-patch+json',
        ),
      },
      responses: answers(200, 'As stored.', ref(kind.kind), onWrites),
    }),
  },
  delete: {
    item: true,
    describe: (kind) => ({
      summary: kind.bound
        ? 'Cancels it: the Client is told that the person declined.'
        : `Deletes a ${kind.kind}.`,
      parameters: [
        nameParameter,
        query('dryRun', 'All: nothing is stored.'),
        query('propagationPolicy', 'Accepted without effect.'),
      ],
      requestBody: deletionBody,
      responses: answers(
        200,
        'Gone, or the object while it is being ended.',
        kind.strategy.remove ? { anyOf: [ref(kind.kind), ref('Status')] } : ref('Status'),
        onWrites,
      ),
    }),
  },
  deletecollection: {
    item: false,
    describe: (kind) => ({
      summary: `Deletes ${kind.resource}.`,
      parameters: [
        query('labelSelector', 'Only these.'),
        query('fieldSelector', 'Only these.'),
        query('dryRun', 'All: nothing is stored.'),
      ],
      requestBody: deletionBody,
      responses: answers(200, 'What went.', ref(`${kind.kind}List`), onWrites),
    }),
  },
};

function draftOf(kind: AnyKind, registry: Registry): JSONSchema {
  return {
    type: 'object',
    description: `What a caller sends of a ${kind.kind}.`,
    required: ['spec'],
    properties: {
      apiVersion: text('Group and version.'),
      kind: text('The kind.'),
      metadata: { type: 'object', description: 'Name, labels, annotations.' },
      spec: { ...registry.schemas(kind).sent.schema, description: 'What the caller may set.' },
      status: { type: 'object', description: 'Ignored.' },
    },
  };
}

function actionOperation(action: Action, registry: Registry): Operation {
  const answered =
    action.answers && 'schema' in action.answers
      ? toJSONSchema(action.answers.schema, action.answers.kind)
      : ref((action.answers ?? action.of).kind);
  const body = registry.body(action)?.schema;
  const content =
    action.verb === 'get'
      ? undefined
      : action.verb === 'patch'
        ? jsonBody({ type: 'object', description: 'RFC 7386.' }, 'application/merge-patch+json')
        : jsonBody({
            type: 'object',
            description: action.kind,
            required: ['spec'],
            properties: {
              apiVersion: text('Group and version.'),
              kind: text('The kind.'),
              metadata: { type: 'object', description: 'Ignored.' },
              spec: { ...body!, description: 'What is asked for.' },
            },
          });
  return {
    summary: action.description,
    parameters: [nameParameter, ...(content ? [validation, manager] : [])],
    ...(content && { requestBody: { required: true, content } }),
    responses: answers(
      action.code,
      `The ${(action.answers ?? action.of).kind}.`,
      answered,
      onWrites,
    ),
  };
}

/** What others are asked, and how they answer. */
function webhooks(registry: Registry): Record<string, unknown> {
  const object = (kind: AnyKind, properties: Record<string, JSONSchema>): JSONSchema => ({
    type: 'object',
    description: kind.description,
    required: Object.keys(properties),
    properties: {
      apiVersion: text('Group and version.', { const: apiVersion }),
      kind: text('The kind.', { const: kind.kind }),
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

/**
 * The OpenAPI 3.1 document of everything served, from the very schemas that validate requests
 * (specification 1, 9).
 */
export function openapi(registry: Registry, release: string): unknown {
  const paths: Record<string, Record<string, unknown>> = {};
  const put = (path: string, method: string, operation: unknown): void => {
    (paths[path] ??= {})[method] = operation;
  };
  for (const kind of registry.kinds)
    for (const verb of kind.verbs) {
      const end = ends[verb];
      if (end)
        put(
          `/api/${version}/${kind.resource}${end.item ? '/{name}' : ''}`,
          methodOf({ verb }).toLowerCase(),
          {
            ...end.describe(kind),
            operationId: `${verb}${kind.kind}`,
            tags: [kind.kind],
            ...marked(kind.kind, actionNames[verb]),
          },
        );
    }
  for (const action of registry.actions)
    put(
      `/api/${version}/${action.of.resource}/{name}/${action.subresource}`,
      methodOf(action).toLowerCase(),
      {
        ...actionOperation(action, registry),
        operationId: `${action.verb}${action.of.kind}${action.subresource}`,
        tags: [action.of.kind],
        ...marked(action.kind, actionNames[action.verb]),
      },
    );
  for (const [path, summary] of [
    ['/api', 'The API versions served.'],
    [`/api/${version}`, 'Every resource and the verbs it takes.'],
    ['/api/openapi/v3', 'This document.'],
    ['/apis', 'The API groups served.'],
    [`/apis/${group}`, 'The one API group.'],
    [`/apis/${apiVersion}`, 'Every resource and the verbs it takes.'],
    ['/openapi/v3', 'Where the documents for Kubernetes clients are.'],
    [`/openapi/v3/apis/${apiVersion}`, 'This document as Kubernetes clients read it.'],
    ['/openapi/v2', 'An empty document, for clients that ask for one.'],
    ['/version', 'The version served.'],
  ])
    put(path!, 'get', {
      summary,
      operationId: `discover${path!.replaceAll('/', '_')}`,
      tags: ['Discovery'],
      responses: {
        ...answers(200, summary!, { type: 'object', description: summary! }, everywhere),
        304: { description: 'Nothing has changed since the ETag that If-None-Match names.' },
        ...(path!.includes('/apis/') &&
          path!.startsWith('/openapi') && {
            301: { description: 'The hash is of another document: where this one is.' },
          }),
      },
    });
  const schemas: Record<string, JSONSchema> = {
    ObjectMeta: toJSONSchema(Metadata, 'metadata'),
    ListMeta: listMeta,
    Bookmark: bookmark,
    Status: statusSchema,
    ...otherViews,
  };
  for (const kind of registry.kinds) {
    Object.assign(schemas, kindSchemas(kind, registry));
    if (kind.verbs.includes('create') || kind.verbs.includes('update'))
      schemas[`${kind.kind}Draft`] = draftOf(kind, registry);
  }
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: {
      title: 'Vestibule',
      version: `${version}+${release}`,
      description: `Sign-in for an OpenID Connect provider, as a Kubernetes-style API. ${versioningNotice}`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    webhooks: webhooks(registry),
    components: { schemas },
  };
}
