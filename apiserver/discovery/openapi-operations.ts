import type { Action } from '../../registry/action.js';
import type { AnyKind, Verb } from '../../registry/kind.js';
import { type JSONSchema, toJSONSchema } from '../../registry/schema/schema.js';
import { codes, type Reason } from '../../registry/status/status.js';
import type { RegistryView } from '../../registry/store/registry-view.js';
import { maxCount } from '../codec/query.js';
import { listSchema, objectSchema, schemaRef, textSchema, typeMembers } from './openapi-schemas.js';

/** An OpenAPI operation. */
export type OpenAPIOperation = Record<string, unknown>;

/** Returns the extensions by which Kubernetes' tools find an operation on a kind's body `kind`. */
export const kubernetesExtensions = (
  { group, version }: AnyKind,
  kind: string,
  action: string,
): OpenAPIOperation => ({
  'x-kubernetes-group-version-kind': { group, version, kind },
  'x-kubernetes-action': action,
});

/** The name of each verb in Kubernetes' documents. */
export const actionNames: Readonly<Record<Verb, string>> = {
  get: 'get',
  list: 'list',
  watch: 'watch',
  create: 'post',
  update: 'put',
  patch: 'patch',
  delete: 'delete',
  deletecollection: 'deletecollection',
};

/** Returns the content of a body of one media type. */
export const jsonBody = (schema: JSONSchema, type = 'application/json') => ({ [type]: { schema } });

/** Returns the successful response of an operation, and a Status for each error code. */
export const responses = (
  code: number,
  description: string,
  schema: JSONSchema,
  errors: readonly Reason[],
): Record<string, unknown> => {
  const responses: Record<string, unknown> = { [code]: { description, content: jsonBody(schema) } };
  for (const reason of errors) {
    responses[codes[reason]] = {
      description: `A Status: ${Object.keys(codes)
        .filter((key) => codes[key as Reason] === codes[reason])
        .join(' or ')}.`,
      content: jsonBody(schemaRef('Status')),
    };
  }
  return responses;
};

/** Returns responses of which the good one has further media types that Accept may request. */
const withContent = (
  responses: Record<string, unknown>,
  more: Record<string, unknown>,
): Record<string, unknown> => {
  const good = responses[200] as { content: object };
  return { ...responses, 200: { ...good, content: { ...good.content, ...more } } };
};

/** Returns the content of representations of Kubernetes. */
const representations = (...kinds: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    kinds.map((kind) => [
      `application/json;as=${kind};g=meta.k8s.io;v=v1`,
      { schema: schemaRef(kind) },
    ]),
  );

/** The errors of any request. */
export const commonErrors: Reason[] = [
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
  ...commonErrors,
  'Conflict',
  'Expired',
  'RequestEntityTooLarge',
  'UnsupportedMediaType',
  'Invalid',
];
/** Returns an optional parameter of the query. */
export const queryParameter = (
  name: string,
  description: string,
  schema: JSONSchema = { type: 'string' },
) => ({
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
  schema: { type: 'string', minLength: 1, maxLength: 253 },
};
const namespaceParameter = {
  name: 'namespace',
  in: 'path',
  required: true,
  description: 'Namespace of the object.',
  schema: { type: 'string', minLength: 1, maxLength: 63 },
};

/** Returns an operation on a kind with the parameter of its path that a namespaced kind has. */
export const inNamespace = ({ scope }: AnyKind, operation: OpenAPIOperation): OpenAPIOperation => {
  const { parameters } = operation;
  if (scope !== 'Namespaced' || !Array.isArray(parameters)) return operation;
  return { ...operation, parameters: [namespaceParameter, ...parameters] };
};
const oneOf = (...values: string[]): JSONSchema => ({ type: 'string', enum: values });
const count: JSONSchema = { type: 'integer', minimum: 0, maximum: maxCount };
const selector: JSONSchema = { type: 'string', maxLength: 4096 };
const labels = queryParameter('labelSelector', 'Only objects whose labels match.', selector);
const fields = (hasSearch: boolean) =>
  queryParameter(
    'fieldSelector',
    `Only objects whose fields match${hasSearch ? '; `search=TEXT`: those of which a word begins with it' : ''}.`,
    selector,
  );
const isWatch = queryParameter('watch', 'Stream changes instead.', { type: 'boolean' });
const pageParameters = [
  queryParameter('limit', 'Maximum number of items; a page has at most 500.', count),
  queryParameter('continue', 'The next page.'),
  queryParameter('resourceVersion', 'Not older than this version.', {
    type: 'string',
    pattern: '^(0|[1-9][0-9]{0,15})?$',
  }),
  queryParameter(
    'resourceVersionMatch',
    'How resourceVersion is meant.',
    oneOf('Exact', 'NotOlderThan'),
  ),
  isWatch,
  queryParameter('allowWatchBookmarks', 'BOOKMARK events are welcome.', { type: 'boolean' }),
  queryParameter('sendInitialEvents', 'Begin a watch with what there is.', { type: 'boolean' }),
  queryParameter('timeoutSeconds', 'End a watch after so long.', count),
];
const listParameters = ({ orders, search }: AnyKind) => [
  labels,
  fields(search !== undefined),
  ...pageParameters,
  ...(Object.keys(orders).length > 0
    ? [queryParameter('orderBy', 'The field that orders the list.', oneOf(...Object.keys(orders)))]
    : []),
];
const validation = queryParameter(
  'fieldValidation',
  'What happens to unknown fields.',
  oneOf('Ignore', 'Warn', 'Strict'),
);
const manager = queryParameter('fieldManager', 'The manager that owns the changed fields.', {
  type: 'string',
  maxLength: 128,
});
const force = queryParameter('force', 'An apply takes over fields that others own.', {
  type: 'boolean',
});
const dryRun = queryParameter('dryRun', 'All: nothing is stored.', oneOf('All'));
const writeParameters = [dryRun, validation, manager];
const jsonPatchOperation = objectSchema(
  'An operation.',
  {
    op: textSchema('The operation.', {
      enum: ['add', 'remove', 'replace', 'move', 'copy', 'test'],
    }),
    path: textSchema('The JSON pointer of what changes.'),
    from: textSchema('The JSON pointer of what is moved or copied.'),
    value: { description: 'What is added, or compared.' },
  },
  ['op', 'path'],
);
/** Generators of clients take the first one. */
const actionPatchBodies = {
  ...jsonBody(schemaRef('MergePatch'), 'application/merge-patch+json'),
  ...jsonBody(listSchema('RFC 6902.', jsonPatchOperation), 'application/json-patch+json'),
};
const patchBodies = (kind: AnyKind) => ({
  ...actionPatchBodies,
  ...jsonBody(schemaRef(`${kind.kind}Apply`), 'application/apply-patch+yaml'),
});
const deletionBody = {
  required: false,
  content: jsonBody(schemaRef('DeleteOptions')),
};

/** Each verb's operation, on an object (`item`) or on the collection; a watch is a list. */
export const verbOperations: Record<
  Verb,
  { item: boolean; describe: (kind: AnyKind) => OpenAPIOperation } | undefined
> = {
  watch: undefined,
  get: {
    item: true,
    describe: (kind) => ({
      summary: `Reads one ${kind.kind}.`,
      parameters: [nameParameter, isWatch],
      responses: {
        ...withContent(
          responses(200, `The ${kind.kind}.`, schemaRef(kind.kind), commonErrors),
          representations('Table', 'PartialObjectMetadata'),
        ),
        ...(kind.heldBy && {
          303: { description: 'A browser that navigates is led to the page.' },
          ...responses(410, 'Over.', schemaRef('Status'), []),
        }),
      },
    }),
  },
  list: {
    item: false,
    describe: (kind) => ({
      summary: `Lists or watches ${kind.resource}.`,
      parameters: listParameters(kind),
      responses: withContent(
        responses(200, 'The list; of a watch one event a line.', schemaRef(`${kind.kind}List`), [
          ...commonErrors,
          'Expired',
          'Invalid',
        ]),
        {
          ...jsonBody(schemaRef(`${kind.kind}Event`), 'application/json;stream=watch'),
          ...representations('Table', 'PartialObjectMetadataList'),
        },
      ),
    }),
  },
  create: {
    item: false,
    describe: (kind) => ({
      summary: `Creates a ${kind.kind}.`,
      parameters: kind.create && !kind.create.dryRun ? [validation, manager] : writeParameters,
      requestBody: { required: true, content: jsonBody(schemaRef(`${kind.kind}Draft`)) },
      responses: responses(201, 'As stored.', schemaRef(kind.kind), onWrites),
    }),
  },
  update: {
    item: true,
    describe: (kind) => ({
      summary: `Replaces the spec of a ${kind.kind}.`,
      parameters: [nameParameter, ...writeParameters],
      requestBody: { required: true, content: jsonBody(schemaRef(`${kind.kind}Draft`)) },
      responses: responses(200, 'As stored.', schemaRef(kind.kind), onWrites),
    }),
  },
  patch: {
    item: true,
    describe: (kind) => ({
      summary: `Changes fields of a ${kind.kind}.`,
      parameters: [nameParameter, ...writeParameters, force],
      requestBody: { required: true, content: patchBodies(kind) },
      responses: responses(200, 'As stored.', schemaRef(kind.kind), onWrites),
    }),
  },
  delete: {
    item: true,
    describe: (kind) => ({
      summary: kind.heldBy
        ? 'Cancels the sign-in. The Client receives `access_denied`.'
        : `Deletes a ${kind.kind}.`,
      parameters: [
        nameParameter,
        dryRun,
        queryParameter(
          'propagationPolicy',
          'What becomes of dependents, of kinds that take finalizers.',
          oneOf('Orphan', 'Background', 'Foreground'),
        ),
        queryParameter('gracePeriodSeconds', 'Accepted without effect.', {
          type: 'integer',
          minimum: Number.MIN_SAFE_INTEGER,
          maximum: Number.MAX_SAFE_INTEGER,
        }),
      ],
      requestBody: deletionBody,
      responses: responses(
        200,
        'Gone, or the object while it is being ended.',
        kind.strategy.beginDelete || kind.allowsFinalizers
          ? { anyOf: [schemaRef(kind.kind), schemaRef('Status')] }
          : schemaRef('Status'),
        onWrites,
      ),
    }),
  },
  deletecollection: {
    item: false,
    describe: (kind) => ({
      summary: `Deletes ${kind.resource}.`,
      parameters: [labels, fields(false), dryRun],
      requestBody: deletionBody,
      responses: responses(200, 'What went.', schemaRef(`${kind.kind}List`), onWrites),
    }),
  },
};

/** Returns the operation of a verb on the status of an object. */
export function statusOperation(kind: AnyKind, verb: Verb): OpenAPIOperation {
  const object = responses(200, `The ${kind.kind}.`, schemaRef(kind.kind), onWrites);
  if (verb === 'get') {
    return { summary: `Reads one ${kind.kind}.`, parameters: [nameParameter], responses: object };
  }
  const content = verb === 'patch' ? patchBodies(kind) : jsonBody(schemaRef(kind.kind));
  return {
    summary: `Changes the status of a ${kind.kind}, and nothing else.`,
    parameters: [nameParameter, ...writeParameters, ...(verb === 'patch' ? [force] : [])],
    requestBody: { required: true, content },
    responses: object,
  };
}

/** Returns the operation of an action. */
export function actionOperation(action: Action, registry: RegistryView): OpenAPIOperation {
  const responseSchema =
    action.answers && 'schema' in action.answers
      ? toJSONSchema(action.answers.schema, action.answers.kind)
      : schemaRef((action.answers ?? action.of).kind);
  const content = actionContent(action, registry);
  return {
    summary: action.description,
    parameters: [nameParameter, ...(content ? [validation, manager] : [])],
    ...(content && { requestBody: { required: true, content } }),
    responses: responses(
      action.code,
      `The ${(action.answers ?? action.of).kind}.`,
      responseSchema,
      onWrites,
    ),
  };
}

function actionContent(action: Action, registry: RegistryView) {
  if (action.verb === 'get') return undefined;
  if (action.verb === 'patch') return actionPatchBodies;
  const spec = registry.body(action);
  return jsonBody(
    objectSchema(
      action.kind,
      {
        ...typeMembers(action.of, action.kind),
        metadata: { type: 'object', description: 'Ignored.' },
        spec: { ...spec, description: 'What is asked for.' },
      },
      spec?.required?.length ? ['spec'] : [],
    ),
  );
}
