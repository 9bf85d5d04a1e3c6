import { mergeKeywords } from '../../registry/schema/list-type.js';
import type { JSONSchema } from '../../registry/schema/schema.js';
import type { RegistryView } from '../../registry/store/registry-view.js';

/** An operation of an OpenAPI document. */
export type Operation = {
  parameters?: { name?: string; schema: JSONSchema; required?: boolean }[];
  requestBody?: Bodied;
  responses: Record<string, Bodied>;
  [member: string]: unknown;
};
type Bodied = {
  required?: boolean;
  content?: Record<string, { schema: JSONSchema }>;
  [member: string]: unknown;
};
/** What is read of an OpenAPI document. */
export interface Document {
  info: { title: string; version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JSONSchema> };
}

/**
 * Returns the OpenAPI 3.0 document for kubectl: the 3.1 document with the paths and the subset of
 * schemas that Kubernetes' Go code supports (docs/design/kubernetes.md#openapi).
 */
export function kubernetesOpenapi(
  document: unknown,
  { root: below, apiVersion }: RegistryView,
): unknown {
  const { info, paths, components } = document as Document;
  const root = `${below}/`;
  const served = Object.entries(paths).filter(([path]) => path.startsWith(root));
  return {
    openapi: '3.0.0',
    info: { title: info.title, version: info.version },
    paths: Object.fromEntries(
      served.map(([path, methods]) => [
        `/apis/${apiVersion}/${path.slice(root.length)}`,
        mapped(methods, operation),
      ]),
    ),
    components: {
      schemas: Object.fromEntries(
        Object.entries(components.schemas).map(([name, schema]) => [
          name,
          toOpenAPI30(asSent(name, schema, components.schemas)),
        ]),
      ),
    },
  };
}

/**
 * Returns a schema as `kubectl explain` is to show it: only those fields are required that a caller
 * must send, of a kind nothing of metadata and status, and spec only if it is sent; and apiVersion
 * and kind, which it shows above, have no values.
 */
function asSent(name: string, schema: JSONSchema, schemas: Record<string, JSONSchema>): JSONSchema {
  if (name === 'ObjectMeta') return withoutRequired(schema);
  if (!schema['x-kubernetes-group-version-kind']) return schema;
  const { required: _required, properties, ...rest } = schema;
  const draft = schemas[`${name}Draft`]?.properties?.spec;
  const { apiVersion = {}, kind = {}, spec = {}, status = {} } = properties ?? {};
  return {
    ...rest,
    ...(draft?.required && { required: ['spec'] }),
    properties: {
      ...properties,
      apiVersion: withoutValue(apiVersion),
      kind: withoutValue(kind),
      spec: draft ? spec : withoutRequired(spec),
      status: withoutRequired(status),
    },
  };
}

function withoutValue({ const: _value, ...schema }: JSONSchema): JSONSchema {
  return schema;
}

/** Returns a schema in which nothing is required, at any depth. */
function withoutRequired({ required: _required, ...schema }: JSONSchema): JSONSchema {
  return {
    ...schema,
    ...(schema.properties && { properties: mapped(schema.properties, withoutRequired) }),
    ...(schema.items && { items: withoutRequired(schema.items) }),
    ...(schema.anyOf && { anyOf: schema.anyOf.map(withoutRequired) }),
    ...(schema.oneOf && { oneOf: schema.oneOf.map(withoutRequired) }),
  };
}

/** Returns an object with each value converted. */
export const mapped = <A, B>(of: Record<string, A>, map: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(of).map(([name, value]) => [name, map(value)]));

function operation({ parameters, requestBody, responses, ...rest }: Operation): Operation {
  return {
    ...rest,
    ...(parameters && {
      parameters: parameters.map((parameter) =>
        withoutEmptyRequired({ ...parameter, schema: toOpenAPI30(parameter.schema) }),
      ),
    }),
    ...(requestBody && { requestBody: withoutEmptyRequired(bodied(requestBody)) }),
    responses: mapped(responses, bodied),
  };
}

/** Removes empty members: Go drops them on decoding, so both sides stay equal. */
const withoutEmptyRequired = <T extends { required?: unknown }>({ required, ...rest }: T): T =>
  (required ? { required, ...rest } : rest) as T;

const bodied = (body: Bodied): Bodied =>
  body.content
    ? { ...body, content: mapped(body.content, ({ schema }) => ({ schema: toOpenAPI30(schema) })) }
    : body;

const keptKeywords = new Set([
  'description',
  'type',
  'required',
  'enum',
  'default',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'pattern',
  'x-kubernetes-group-version-kind',
  'x-kubernetes-selectable-fields',
  ...mergeKeywords,
]);
const formats = new Set(['int32', 'int64', 'date-time', 'byte', 'double']);
const anything = { 'x-kubernetes-preserve-unknown-fields': true };

/**
 * Converts a schema to OpenAPI 3.0 as Go decodes it: one type, constants as enums, null as
 * `nullable`, a union as the common part of its branches.
 */
export function toOpenAPI30(schema: JSONSchema): JSONSchema {
  const {
    $ref,
    description,
    properties,
    items,
    additionalProperties,
    format,
    exclusiveMinimum,
    exclusiveMaximum,
  } = schema;
  if ($ref !== undefined) {
    return description === undefined ? { $ref } : withDescription({ $ref }, { description });
  }
  if (Array.isArray(schema.type)) {
    const { type: types, ...rest } = schema;
    return toOpenAPI30({ ...rest, anyOf: types.map((type) => ({ type })) });
  }
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches) return union(schema, branches);
  const flat: JSONSchema = Object.fromEntries(
    Object.entries(schema).filter(([name, value]) => keptKeywords.has(name) && value !== undefined),
  );
  if (schema.const !== undefined) {
    Object.assign(flat, { type: flat.type ?? typeof schema.const, enum: [schema.const] });
  }
  if (typeof exclusiveMinimum === 'number') {
    Object.assign(flat, { minimum: exclusiveMinimum, exclusiveMinimum: true });
  }
  if (typeof exclusiveMaximum === 'number') {
    Object.assign(flat, { maximum: exclusiveMaximum, exclusiveMaximum: true });
  }
  if (typeof format === 'string' && formats.has(format)) flat.format = format;
  if (schema.contentEncoding === 'base64') flat.format = 'byte';
  if (properties && Object.keys(properties).length > 0) {
    flat.properties = mapped(properties, toOpenAPI30);
  }
  if (items) flat.items = toOpenAPI30(items);
  if (typeof additionalProperties === 'object') {
    flat.additionalProperties = toOpenAPI30(additionalProperties);
  }
  return flat;
}

function union({ description }: JSONSchema, branches: readonly JSONSchema[]): JSONSchema {
  const descriptionMember = description === undefined ? {} : { description };
  const solid = branches.filter(({ type }) => type !== 'null');
  const nullable = solid.length < branches.length ? { nullable: true } : {};
  if (solid.length === 1 || solid[0]!.$ref) {
    return { ...withDescription(toOpenAPI30(solid[0]!), descriptionMember), ...nullable };
  }
  if (!solid.every(({ type, properties }) => type === 'object' && properties)) {
    return { ...descriptionMember, ...anything };
  }
  const merged = solid.map(toOpenAPI30);
  const properties: Record<string, JSONSchema> = {};
  for (const branch of merged) {
    for (const [name, property] of Object.entries(branch.properties ?? {})) {
      properties[name] = mergeProperties(properties[name], property);
    }
  }
  const required = (merged[0]!.required ?? []).filter((name) =>
    merged.every((branch) => branch.required?.includes(name)),
  );
  return {
    type: 'object',
    ...descriptionMember,
    properties,
    ...(required.length > 0 && { required }),
    ...nullable,
  };
}

/** Merges a property of several branches: the values of all. */
const mergeProperties = (one: JSONSchema | undefined, other: JSONSchema): JSONSchema =>
  one?.enum && other.enum
    ? { ...one, enum: [...new Set([...one.enum, ...other.enum])] }
    : (one ?? other);

/** A reference cannot have a description beside it. */
const withDescription = (schema: JSONSchema, source: { description?: string }): JSONSchema =>
  schema.$ref ? { allOf: [schema], ...source } : { ...schema, ...source };
