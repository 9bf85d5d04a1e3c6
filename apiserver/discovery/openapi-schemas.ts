import type { AnyKind } from '../../registry/kind.js';
import {
  CallerMetadata,
  generateNameGrammar,
  Metadata,
  nameGrammar,
} from '../../registry/schema/metadata-schema.js';
import { type JSONSchema, toJSONSchema } from '../../registry/schema/schema.js';
import { codes } from '../../registry/status/status.js';
import type { Registry } from '../../registry/store/registry.js';
import { deleteOptionsSchema } from '../request/delete-options.js';

/** Returns a reference to one of the document's schemas. */
export const schemaRef = (name: string): JSONSchema => ({ $ref: `#/components/schemas/${name}` });
/** Returns a string schema. */
export const textSchema = (description: string, more: JSONSchema = {}): JSONSchema => ({
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
    apiVersion: textSchema('v1', { const: 'v1' }),
    kind: textSchema('Status', { const: 'Status' }),
    metadata: {
      type: 'object',
      description: 'Always empty.',
      additionalProperties: false,
      properties: {},
    },
    status: textSchema('Failure, or Success of a deletion.', { enum: ['Failure', 'Success'] }),
    reason: textSchema('For programs.', { enum: Object.keys(codes) }),
    code: { type: 'integer', description: 'The HTTP status code.' },
    message: textSchema('For people who develop.'),
    details: {
      type: 'object',
      description: 'What is known beyond the reason.',
      additionalProperties: false,
      properties: {
        name: textSchema('Name of the object.'),
        group: textSchema('API group.'),
        kind: textSchema('Resource, or of Invalid the kind.'),
        uid: textSchema('uid of the object.'),
        causes: {
          type: 'array',
          description: 'Names each invalid field.',
          items: {
            type: 'object',
            required: ['reason', 'message'],
            additionalProperties: false,
            description: 'One cause.',
            properties: {
              reason: textSchema('For programs.'),
              message: textSchema('What is wrong.'),
              field: textSchema('Path of the field.'),
            },
          },
        },
        retryAfterSeconds: {
          type: 'integer',
          description: 'Wait so many seconds; Retry-After says the same.',
        },
        methods: {
          type: 'array',
          description: 'Ways to sign in that suffice, if another sign-in is what is missing.',
          items: textSchema('EmailCode, EmailLink or Passkey.'),
        },
        triesLeft: { type: 'integer', description: 'The number of tries that are left.' },
        policyDecision: textSchema('Name of the PolicyDecision.'),
        messages: {
          type: 'object',
          description: 'For pages: the message of the rule by language tag (BCP 47).',
          additionalProperties: { type: 'string' },
        },
      },
    },
  },
};

/** Returns the extension that names the fields for field selectors, beside the name. */
function selectableFields(kind: AnyKind): Record<string, readonly { fieldPath: string }[]> {
  const paths = [...(kind.owner ? [kind.owner] : []), ...Object.keys(kind.selectableFields)];
  return paths.length === 0
    ? {}
    : { 'x-kubernetes-selectable-fields': paths.map((fieldPath) => ({ fieldPath })) };
}

/** Returns the schemas of the object, its list and its watch event for one kind. */
function kindSchemas(kind: AnyKind, registry: Registry): Record<string, JSONSchema> {
  const { spec, status } = registry.schemas(kind);
  const envelope = {
    apiVersion: textSchema('Group and version.', { const: kind.apiVersion }),
    kind: textSchema('The kind.', { const: kind.kind }),
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
          ...schemaRef('ObjectMeta'),
          description: 'Its name, its versions, and what others say of it.',
        },
        spec: { ...spec.schema, description: 'What the caller may set.' },
        status: { ...status, description: 'What the service observed.' },
      },
      'x-kubernetes-group-version-kind': [
        { group: kind.group, version: kind.version, kind: kind.kind },
      ],
      ...selectableFields(kind),
    },
    [`${kind.kind}List`]: {
      type: 'object',
      description: `A list of ${kind.resource}.`,
      required: ['apiVersion', 'kind', 'metadata', 'items'],
      additionalProperties: false,
      properties: {
        apiVersion: envelope.apiVersion,
        kind: textSchema('The kind.', { const: `${kind.kind}List` }),
        metadata: schemaRef('ListMeta'),
        items: { type: 'array', description: 'The objects.', items: schemaRef(kind.kind) },
      },
    },
    [`${kind.kind}Event`]: {
      type: 'object',
      description: `One line of a watch on ${kind.resource}.`,
      required: ['type', 'object'],
      additionalProperties: false,
      properties: {
        type: textSchema('What happened.', {
          enum: ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'],
        }),
        object: {
          anyOf: [schemaRef(kind.kind), schemaRef('Bookmark'), schemaRef('Status')],
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
    resourceVersion: textSchema('The revision the list was read at.'),
    continue: textSchema('Asks for the next page.'),
    remainingItemCount: { type: 'integer', description: 'How many follow.' },
  },
};
const bookmark: JSONSchema = {
  type: 'object',
  description: 'Nothing up to this version is missing.',
  required: ['apiVersion', 'kind', 'metadata'],
  additionalProperties: false,
  properties: {
    apiVersion: textSchema('Group and version.'),
    kind: textSchema('The kind.'),
    metadata: {
      type: 'object',
      description: 'Its version.',
      required: ['resourceVersion'],
      additionalProperties: false,
      properties: {
        resourceVersion: textSchema('The version.'),
        annotations: {
          type: 'object',
          description: 'Notes.',
          additionalProperties: textSchema('A note.'),
        },
      },
    },
  },
};

/**
 * The representations that Kubernetes' tools may request instead of objects
 * (docs/design/kubernetes.md#representations).
 */
const representationSchemas: Record<string, JSONSchema> = {
  Table: {
    type: 'object',
    description: 'Objects as rows of a table.',
    required: ['apiVersion', 'kind', 'metadata', 'columnDefinitions', 'rows'],
    additionalProperties: false,
    properties: {
      apiVersion: textSchema('meta.k8s.io/v1.'),
      kind: textSchema('The kind.', { const: 'Table' }),
      metadata: schemaRef('ListMeta'),
      columnDefinitions: {
        type: 'array',
        description: 'What stands above the rows; in a watch with the first event alone.',
        items: {
          type: 'object',
          description: 'One column.',
          required: ['name', 'type', 'format', 'description', 'priority'],
          additionalProperties: false,
          properties: {
            name: textSchema('Its heading.'),
            type: textSchema('Always string.'),
            format: textSchema('name, or nothing.'),
            description: textSchema('What it holds.'),
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
      apiVersion: textSchema('meta.k8s.io/v1.'),
      kind: textSchema('The kind.', { const: 'PartialObjectMetadata' }),
      metadata: schemaRef('ObjectMeta'),
    },
  },
  PartialObjectMetadataList: {
    type: 'object',
    description: 'A list of objects’ metadata.',
    required: ['apiVersion', 'kind', 'metadata', 'items'],
    additionalProperties: false,
    properties: {
      apiVersion: textSchema('meta.k8s.io/v1.'),
      kind: textSchema('The kind.', { const: 'PartialObjectMetadataList' }),
      metadata: schemaRef('ListMeta'),
      items: {
        type: 'array',
        description: 'The objects.',
        items: schemaRef('PartialObjectMetadata'),
      },
    },
  },
};

/** Names no member: generators would make a type of it that has no others. */
const mergePatch: JSONSchema = {
  type: 'object',
  description: 'The fields to change (RFC 7396).',
  additionalProperties: true,
};

/** The metadata that a caller may set: without a name if the service names the kind. */
function draftMetadata(isNamed: boolean): JSONSchema {
  const { labels, annotations } = toJSONSchema(CallerMetadata, 'metadata').properties!;
  return {
    type: 'object',
    description: isNamed ? 'Name, labels, annotations.' : 'Labels, annotations.',
    properties: {
      ...(isNamed && {
        name: textSchema('Name of the object.', { pattern: nameGrammar.source, maxLength: 253 }),
        generateName: textSchema('Prefix of the generated name, if there is no name.', {
          pattern: `^$|${generateNameGrammar.source}`,
        }),
      }),
      labels: labels!,
      annotations: annotations!,
    },
  };
}

function draftOf(kind: AnyKind, registry: Registry): JSONSchema {
  return {
    type: 'object',
    description: `What a caller sends of a ${kind.kind}.`,
    required: ['spec'],
    properties: {
      apiVersion: textSchema('Group and version.', { const: kind.apiVersion }),
      kind: textSchema('The kind.', { const: kind.kind }),
      metadata: schemaRef(kind.nameSource === 'service' ? 'UnnamedDraftMetadata' : 'DraftMetadata'),
      spec: {
        ...registry.schemas(kind).createSpec.schema,
        description: 'What the caller may set.',
      },
      status: { type: 'object', description: 'Ignored.' },
    },
  };
}

/**
 * Returns the schema of a configuration that is applied: every field is optional, and unknown ones are
 * refused.
 */
function applyOf(kind: AnyKind, registry: Registry): JSONSchema {
  const { labels, annotations, ownerReferences } = toJSONSchema(CallerMetadata, 'metadata')
    .properties!;
  return {
    type: 'object',
    description: `What a caller applies of a ${kind.kind}.`,
    required: ['apiVersion', 'kind'],
    additionalProperties: false,
    properties: {
      apiVersion: textSchema('Group and version.', { const: kind.apiVersion }),
      kind: textSchema('The kind.', { const: kind.kind }),
      metadata: {
        type: 'object',
        description: 'Its name, if any, is that of the path.',
        additionalProperties: false,
        properties: {
          name: textSchema('Name of the object.'),
          uid: textSchema('Its uid, if it must exist.'),
          resourceVersion: textSchema('Its version, if it must not have changed.'),
          labels: labels!,
          annotations: annotations!,
          ownerReferences: ownerReferences!,
        },
      },
      spec: {
        ...allOptional(registry.schemas(kind).spec.schema),
        description: 'The fields to own.',
      },
      status: { type: 'object', description: 'Ignored.', additionalProperties: true },
    },
  };
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

/** Returns every schema of the document by name. */
export function componentSchemas(registry: Registry): Record<string, JSONSchema> {
  const schemas: Record<string, JSONSchema> = {
    ObjectMeta: toJSONSchema(Metadata, 'metadata'),
    ListMeta: listMeta,
    Bookmark: bookmark,
    DraftMetadata: draftMetadata(true),
    UnnamedDraftMetadata: draftMetadata(false),
    Status: statusSchema,
    DeleteOptions: deleteOptionsSchema,
    MergePatch: mergePatch,
    ...representationSchemas,
  };
  for (const kind of registry.kinds) {
    Object.assign(schemas, kindSchemas(kind, registry));
    if (kind.verbs.includes('create') || kind.verbs.includes('update'))
      schemas[`${kind.kind}Draft`] = draftOf(kind, registry);
    if (kind.verbs.includes('patch')) schemas[`${kind.kind}Apply`] = applyOf(kind, registry);
  }
  return schemas;
}
