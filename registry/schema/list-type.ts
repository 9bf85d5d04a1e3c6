import type { z } from 'zod';
import { duplicateValue } from '../status/field-errors.js';
import type { Cause } from '../status/status.js';
import type { JSONSchema } from './json-schema.js';

/** The keywords of schemas that say how server-side apply merges lists and objects. */
export const mergeKeywords = [
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
] as const;

interface DefWithKeywords {
  mergeKeywords?: Record<string, unknown>;
}

/** Returns the schema with keywords of its JSON schema. */
export const withKeywords = <T extends z.ZodTypeAny>(
  schema: T,
  keywords: Record<string, unknown>,
): T => {
  const Type = schema.constructor as new (def: unknown) => T;
  return new Type({ ...schema._def, mergeKeywords: keywords });
};

/** Declares a list whose items are distinct and have owners of their own. */
export const setList = <T extends z.ZodTypeAny>(schema: T): T =>
  withKeywords(schema, { 'x-kubernetes-list-type': 'set' });

/** Declares a list of objects that these fields identify; each field of an item has its owners. */
export const mapList = <T extends z.ZodTypeAny>(schema: T, ...keys: readonly string[]): T =>
  withKeywords(schema, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys });

/** Declares an object that is replaced as a whole. */
export const atomicObject = <T extends z.ZodTypeAny>(schema: T): T =>
  withKeywords(schema, { 'x-kubernetes-map-type': 'atomic' });

/** Returns the keywords that a zod schema declares. */
export const declaredKeywords = (def: unknown): Record<string, unknown> =>
  (def as DefWithKeywords).mergeKeywords ?? {};

const schemasBelow = (schema: JSONSchema): JSONSchema[] => [
  ...Object.values(schema.properties ?? {}),
  ...(schema.items ? [schema.items] : []),
  ...(typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : []),
];

const isDistinct = (schema: JSONSchema): boolean =>
  schema['x-kubernetes-list-type'] === 'set' || schema['x-kubernetes-list-type'] === 'map';

/** Reports whether a schema has lists of distinct items. */
export const hasDistinctLists = (schema: JSONSchema): boolean =>
  isDistinct(schema) || schemasBelow(schema).some(hasDistinctLists);

/** Returns a cause for each item of a set or map list of a valid value that is there twice. */
export function duplicateItems(schema: JSONSchema, value: unknown, at: string): Cause[] {
  if (Array.isArray(value)) {
    const keys = schema['x-kubernetes-list-map-keys'] as readonly string[] | undefined;
    const seen = new Set<string>();
    return value.flatMap((item: unknown, i) => {
      const below = schema.items ? duplicateItems(schema.items, item, `${at}[${i}]`) : [];
      if (!isDistinct(schema)) return below;
      const id = JSON.stringify(keys ? keys.map((key) => (item as FieldsByName)[key]) : item);
      const isDuplicate = seen.has(id);
      seen.add(id);
      return isDuplicate ? [duplicateValue(`${at}[${i}]`, keys ? id.slice(1, -1) : id)] : below;
    });
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const known = schema.properties?.[name] ?? schema.additionalProperties;
    return typeof known === 'object' ? duplicateItems(known, member, `${at}.${name}`) : [];
  });
}

type FieldsByName = Readonly<Record<string, unknown>>;
