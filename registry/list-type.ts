import type { z } from 'zod';

/** The keywords of schemas that say how server-side apply merges lists and objects. */
export const mergeKeywords = [
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
] as const;

interface DefWithKeywords {
  mergeKeywords?: Record<string, unknown>;
}

const withKeywords = <T extends z.ZodTypeAny>(schema: T, keywords: Record<string, unknown>): T => {
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
