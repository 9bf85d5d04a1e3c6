import type { Kind } from './kind.js';

/** The part of a JSON schema that the document uses (docs/design/kubernetes.md#openapi). */
export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly (string | number)[];
  readonly default?: unknown;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly writeOnly?: boolean;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly 'x-kubernetes-group-version-kind'?: readonly { readonly kind: string }[];
  readonly 'x-kubernetes-selectable-fields'?: readonly { readonly fieldPath: string }[];
}

interface Operation {
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
}

/** The OpenAPI document as kubectl reads it. */
export interface OpenAPI {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Returns a schema without references at its top. */
export function resolve(document: OpenAPI, schema: Schema): Schema {
  const { $ref, allOf, ...own } = schema;
  const parts = $ref ? [document.components.schemas[$ref.split('/').pop()!] ?? {}] : (allOf ?? []);
  return parts.length
    ? Object.assign({}, ...parts.map((part) => resolve(document, part)), own)
    : own;
}

/** Returns the schema of a property, or an empty one if the document does not know it. */
export const propertyOf = (document: OpenAPI, schema: Schema, name: string): Schema =>
  resolve(document, schema.properties?.[name] ?? schema.additionalProperties ?? {});

/** Returns the schema of a kind's objects. */
export const objectSchema = ({ components }: OpenAPI, { kind }: Kind): Schema =>
  Object.values(components.schemas).find((schema) =>
    schema['x-kubernetes-group-version-kind']?.some(
      (groupVersionKind) => groupVersionKind.kind === kind,
    ),
  ) ?? {};

/** Returns the schema of what a caller sends of a kind. */
export function draftSchema(document: OpenAPI, kind: Kind): Schema {
  const operation =
    document.paths[kind.path]?.post ?? document.paths[`${kind.path}/{name}`]?.put ?? {};
  const body = operation.requestBody?.content['application/json']?.schema;
  return body ? resolve(document, body) : objectSchema(document, kind);
}

/** Returns the fields of a kind that a field selector may name, besides its name. */
export const selectableFields = (document: OpenAPI, kind: Kind): string[] =>
  (objectSchema(document, kind)['x-kubernetes-selectable-fields'] ?? []).map(
    ({ fieldPath }) => fieldPath,
  );
