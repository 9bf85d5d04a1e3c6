import { isRecord } from '../schema/is-record.js';
import type { JSONSchema } from '../schema/json-schema.js';
import { keyElement, type PathElement, valueElement } from './path-element.js';

/** How values of a schema are merged. Atomic ones, such as scalars, are replaced as a whole. */
export type FieldType =
  | { readonly merge: 'atomic' }
  | { readonly merge: 'object'; readonly schema: JSONSchema }
  | { readonly merge: 'set' }
  | { readonly merge: 'map'; readonly keys: readonly string[]; readonly items: JSONSchema };

const atomic: FieldType = { merge: 'atomic' };

/**
 * Returns how values of a schema are merged (Kubernetes: x-kubernetes-list-type, -list-map-keys and
 * -map-type). Lists are atomic unless declared, and so are unions: their branches share no fields.
 */
export function fieldTypeOf(schema: JSONSchema | undefined): FieldType {
  if (schema === undefined || schema.oneOf) return atomic;
  if (schema.anyOf) {
    const branches = schema.anyOf.filter((branch) => branch.type !== 'null');
    return branches.length === 1 ? fieldTypeOf(branches[0]) : atomic;
  }
  if (schema.items) return listType(schema);
  const isObject = schema.properties || typeof schema.additionalProperties === 'object';
  return isObject && schema['x-kubernetes-map-type'] !== 'atomic'
    ? { merge: 'object', schema }
    : atomic;
}

function listType(schema: JSONSchema): FieldType {
  const type = schema['x-kubernetes-list-type'];
  if (type === 'set') return { merge: 'set' };
  if (type !== 'map') return atomic;
  const keys = schema['x-kubernetes-list-map-keys'] as readonly string[];
  return { merge: 'map', keys, items: schema.items! };
}

/** Returns the schema of an object's field. */
export const fieldSchema = (schema: JSONSchema, name: string): JSONSchema | undefined =>
  declaredField(schema, name) ??
  (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);

/** Returns the schema of a field that the object declares, not of an entry of a map. */
export const declaredField = (schema: JSONSchema, name: string): JSONSchema | undefined =>
  schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;

/** Returns the element of an item. A key that the item lacks has the schema's default. */
export function itemElement(
  type: FieldType & { merge: 'set' | 'map' },
  item: unknown,
): PathElement {
  if (type.merge === 'set') return valueElement(item);
  const record = isRecord(item) ? item : {};
  return keyElement(
    Object.fromEntries(
      type.keys.map((key) => [key, record[key] ?? declaredField(type.items, key)?.default ?? null]),
    ),
  );
}
