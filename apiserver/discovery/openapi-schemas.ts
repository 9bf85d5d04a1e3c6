import type { AnyKind } from '../../registry/kind.js';
import {
  CallerMetadata,
  generateNameGrammar,
  Metadata,
  nameGrammar,
} from '../../registry/schema/metadata-schema.js';
import { type JSONSchema, toJSONSchema } from '../../registry/schema/schema.js';
import { codes } from '../../registry/status/status.js';
import type { RegistryView } from '../../registry/store/registry-view.js';
import { deleteOptionsSchema } from '../request/delete-options.js';

/** Returns a reference to one of the document's schemas. */
export const schemaRef = (name: string): JSONSchema => ({ $ref: `#/components/schemas/${name}` });
/** Returns a string schema. */
export const textSchema = (description: string, more: JSONSchema = {}): JSONSchema => ({
  type: 'string',
  description,
  ...more,
});
/** Returns the schema of a whole number. */
const numberSchema = (description: string): JSONSchema => ({ type: 'integer', description });
/** Returns the schema of a list. */
export const listSchema = (description: string, items: JSONSchema): JSONSchema => ({
  type: 'array',
  description,
  items,
});

type Members = Readonly<Record<string, JSONSchema>>;

const requiredMembers = (names: readonly string[]): JSONSchema =>
  names.length > 0 ? { required: [...names] } : {};

/**
 * Returns the schema of an object that may have more members; of these all are required, unless
 * `required` names some.
 */
export const objectSchema = (
  description: string,
  properties: Members,
  required: readonly string[] = Object.keys(properties),
): JSONSchema => ({ type: 'object', description, ...requiredMembers(required), properties });

/** Returns the schema of an object that has no other members. */
const closedSchema = (
  description: string,
  properties: Members,
  required: readonly string[] = Object.keys(properties),
): JSONSchema => ({
  type: 'object',
  description,
  ...requiredMembers(required),
  additionalProperties: false,
  properties,
});

/** Returns the members of every object that name its type. */
export const typeMembers = (
  { apiVersion }: Pick<AnyKind, 'apiVersion'>,
  kind: string,
): Members => ({
  apiVersion: textSchema('Group and version.', { const: apiVersion }),
  kind: textSchema('The kind.', { const: kind }),
});

const statusDetails = closedSchema(
  'What is known beyond the reason.',
  {
    name: textSchema('Name of the object.'),
    group: textSchema('API group.'),
    kind: textSchema('Resource, or of Invalid the kind.'),
    uid: textSchema('uid of the object.'),
    causes: listSchema('Names each invalid field.', {
      type: 'object',
      required: ['reason', 'message'],
      additionalProperties: false,
      description: 'One cause.',
      properties: {
        reason: textSchema('For programs.'),
        message: textSchema('What is wrong.'),
        field: textSchema('Path of the field.'),
      },
    }),
    retryAfterSeconds: numberSchema('Wait so many seconds; Retry-After says the same.'),
    methods: listSchema(
      'Ways to sign in that suffice, if another sign-in is what is missing.',
      textSchema('EmailCode, EmailLink or Passkey.'),
    ),
    triesLeft: numberSchema('The number of tries that are left.'),
    policyDecision: textSchema('Name of the PolicyDecision.'),
    messages: {
      type: 'object',
      description: 'For pages: the message of the rule by language tag (BCP 47).',
      additionalProperties: { type: 'string' },
    },
  },
  [],
);

const statusSchema = closedSchema(
  'Every error is a Status object.',
  {
    apiVersion: textSchema('v1', { const: 'v1' }),
    kind: textSchema('Status', { const: 'Status' }),
    metadata: closedSchema('Always empty.', {}),
    status: textSchema('Failure, or Success of a deletion.', { enum: ['Failure', 'Success'] }),
    reason: textSchema('For programs.', { enum: Object.keys(codes) }),
    code: numberSchema('The HTTP status code.'),
    message: textSchema('For people who develop.'),
    details: statusDetails,
  },
  ['apiVersion', 'kind', 'metadata', 'status', 'code'],
);

/** Returns the extension that names the fields for field selectors, beside the name. */
function selectableFields(kind: AnyKind): Record<string, readonly { fieldPath: string }[]> {
  const paths = [...(kind.owner ? [kind.owner] : []), ...Object.keys(kind.selectableFields)];
  return paths.length === 0
    ? {}
    : { 'x-kubernetes-selectable-fields': paths.map((fieldPath) => ({ fieldPath })) };
}

/** Returns the schemas of the object, its list and its watch event for one kind. */
function kindSchemas(kind: AnyKind, registry: RegistryView): Record<string, JSONSchema> {
  const { spec, status } = registry.schemas(kind);
  const { group, version } = kind;
  return {
    [kind.kind]: {
      ...closedSchema(kind.description, {
        ...typeMembers(kind, kind.kind),
        metadata: {
          ...schemaRef('ObjectMeta'),
          description: 'Its name, its versions, and what others say of it.',
        },
        spec: { ...spec, description: 'What the caller may set.' },
        status: { ...status, description: 'What the service observed.' },
      }),
      'x-kubernetes-group-version-kind': [{ group, version, kind: kind.kind }],
      ...selectableFields(kind),
    },
    [`${kind.kind}List`]: closedSchema(`A list of ${kind.resource}.`, {
      ...typeMembers(kind, `${kind.kind}List`),
      metadata: schemaRef('ListMeta'),
      items: listSchema('The objects.', schemaRef(kind.kind)),
    }),
    [`${kind.kind}Event`]: closedSchema(`One line of a watch on ${kind.resource}.`, {
      type: textSchema('What happened.', {
        enum: ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'],
      }),
      object: {
        anyOf: [schemaRef(kind.kind), schemaRef('Bookmark'), schemaRef('Status')],
        description: 'The object; of a BOOKMARK its version alone; of an ERROR a Status.',
      },
    }),
  };
}

const listMeta = closedSchema(
  'Metadata of a list.',
  {
    resourceVersion: textSchema('The revision the list was read at.'),
    continue: textSchema('Asks for the next page.'),
    remainingItemCount: numberSchema('How many follow.'),
  },
  ['resourceVersion'],
);

const bookmark = closedSchema('Nothing up to this version is missing.', {
  apiVersion: textSchema('Group and version.'),
  kind: textSchema('The kind.'),
  metadata: closedSchema(
    'Its version.',
    {
      resourceVersion: textSchema('The version.'),
      annotations: {
        type: 'object',
        description: 'Notes.',
        additionalProperties: textSchema('A note.'),
      },
    },
    ['resourceVersion'],
  ),
});

const representationSchema = (kind: string, description: string, members: Members): JSONSchema =>
  closedSchema(description, {
    apiVersion: textSchema('meta.k8s.io/v1.'),
    kind: textSchema('The kind.', { const: kind }),
    ...members,
  });

/**
 * The representations that Kubernetes' tools may request instead of objects
 * (docs/design/kubernetes.md#representations).
 */
const representationSchemas: Members = {
  Table: representationSchema('Table', 'Objects as rows of a table.', {
    metadata: schemaRef('ListMeta'),
    columnDefinitions: listSchema(
      'What stands above the rows; in a watch with the first event alone.',
      closedSchema('One column.', {
        name: textSchema('Its heading.'),
        type: textSchema('Always string.'),
        format: textSchema('name, or nothing.'),
        description: textSchema('What it holds.'),
        priority: numberSchema('Above 0: shown where much is asked for.'),
      }),
    ),
    rows: listSchema(
      'A row for each object.',
      closedSchema('One object.', {
        cells: listSchema('Its values, a column each.', { type: 'string' }),
        object: {
          anyOf: [{ type: 'object' }, { type: 'null' }],
          description: 'Its metadata; all of it or nothing by includeObject.',
        },
      }),
    ),
  }),
  PartialObjectMetadata: representationSchema(
    'PartialObjectMetadata',
    'An object’s metadata alone.',
    { metadata: schemaRef('ObjectMeta') },
  ),
  PartialObjectMetadataList: representationSchema(
    'PartialObjectMetadataList',
    'A list of objects’ metadata.',
    {
      metadata: schemaRef('ListMeta'),
      items: listSchema('The objects.', schemaRef('PartialObjectMetadata')),
    },
  ),
};

/** Names no member: generators would make a type of it that has no others. */
const mergePatch: JSONSchema = {
  type: 'object',
  description: 'The fields to change (RFC 7396).',
  additionalProperties: true,
};

/** Returns the property of metadata that objects of namespaced kinds have. */
const namespaceProperty = (isNamespaced: boolean): Record<string, JSONSchema> =>
  isNamespaced ? { namespace: textSchema('Its namespace, if any, is that of the path.') } : {};

const hasNamespaces = ({ kinds }: RegistryView): boolean =>
  kinds.some(({ scope }) => scope === 'Namespaced');

/** The metadata that a caller may set: without a name if the service names the kind. */
function draftMetadata(isNamed: boolean, isNamespaced: boolean): JSONSchema {
  const { labels = {}, annotations = {} } =
    toJSONSchema(CallerMetadata, 'metadata').properties ?? {};
  const name = {
    name: textSchema('Name of the object.', { pattern: nameGrammar.source, maxLength: 253 }),
    generateName: textSchema('Prefix of the generated name, if there is no name.', {
      pattern: `^$|${generateNameGrammar.source}`,
    }),
  };
  return objectSchema(
    isNamed ? 'Name, labels, annotations.' : 'Labels, annotations.',
    { ...(isNamed && name), ...namespaceProperty(isNamespaced), labels, annotations },
    [],
  );
}

function draftOf(kind: AnyKind, registry: RegistryView): JSONSchema {
  const schema = registry.schemas(kind).createSpec;
  return objectSchema(
    `What a caller sends of a ${kind.kind}.`,
    {
      ...typeMembers(kind, kind.kind),
      metadata: schemaRef(kind.nameSource === 'service' ? 'UnnamedDraftMetadata' : 'DraftMetadata'),
      spec: { ...schema, description: 'What the caller may set.' },
      status: { type: 'object', description: 'Ignored.' },
    },
    ['spec'],
  );
}

/**
 * Returns the schema of a configuration that is applied: every field is optional, and unknown ones are
 * refused.
 */
function applyOf(kind: AnyKind, registry: RegistryView): JSONSchema {
  const {
    labels = {},
    annotations = {},
    ownerReferences = {},
    finalizers = {},
  } = toJSONSchema(CallerMetadata, 'metadata').properties ?? {};
  const metadata = {
    name: textSchema('Name of the object.'),
    ...namespaceProperty(kind.scope === 'Namespaced'),
    uid: textSchema('Its uid, if it must exist.'),
    resourceVersion: textSchema('Its version, if it must not have changed.'),
    labels,
    annotations,
    ownerReferences,
    ...(kind.allowsFinalizers && { finalizers }),
  };
  const { spec: schema, status } = registry.schemas(kind);
  return closedSchema(
    `What a caller applies of a ${kind.kind}.`,
    {
      ...typeMembers(kind, kind.kind),
      metadata: closedSchema('Its name, if any, is that of the path.', metadata, []),
      spec: { ...allOptional(schema), description: 'The fields to own.' },
      status: kind.hasStatusSubresource
        ? { ...allOptional(status), description: 'The fields to own, at the path of status alone.' }
        : { type: 'object', description: 'Ignored.', additionalProperties: true },
    },
    ['apiVersion', 'kind'],
  );
}

/** Returns a schema in which no member is required and none has a default. */
function allOptional(schema: JSONSchema): JSONSchema {
  const { required: _required, default: _default, properties, items, ...rest } = schema;
  const optional = Object.entries(properties ?? {}).map(([name, one]) => [name, allOptional(one)]);
  return {
    ...rest,
    ...(properties && { properties: Object.fromEntries(optional) }),
    ...(items && { items: allOptional(items) }),
  };
}

/** Returns the schema of metadata, with what finalizers and namespaces need if a kind has them. */
function metadataOf(registry: RegistryView): JSONSchema {
  const schema = toJSONSchema(Metadata, 'metadata');
  const hasFinalizers = registry.kinds.some(({ allowsFinalizers }) => allowsFinalizers);
  const absent = new Set([
    ...(hasFinalizers ? [] : ['finalizers', 'deletionGracePeriodSeconds']),
    ...(hasNamespaces(registry) ? [] : ['namespace']),
  ]);
  const properties = Object.entries(schema.properties ?? {}).filter(([name]) => !absent.has(name));
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** Returns every schema of the document by name. */
export function componentSchemas(registry: RegistryView): Record<string, JSONSchema> {
  const schemas: Record<string, JSONSchema> = {
    ObjectMeta: metadataOf(registry),
    ListMeta: listMeta,
    Bookmark: bookmark,
    DraftMetadata: draftMetadata(true, hasNamespaces(registry)),
    UnnamedDraftMetadata: draftMetadata(false, hasNamespaces(registry)),
    Status: statusSchema,
    DeleteOptions: deleteOptionsSchema,
    MergePatch: mergePatch,
    ...representationSchemas,
  };
  for (const kind of registry.kinds) {
    Object.assign(schemas, kindSchemas(kind, registry));
    if (kind.verbs.includes('create') || kind.verbs.includes('update')) {
      schemas[`${kind.kind}Draft`] = draftOf(kind, registry);
    }
    if (kind.verbs.includes('patch')) schemas[`${kind.kind}Apply`] = applyOf(kind, registry);
  }
  return schemas;
}
