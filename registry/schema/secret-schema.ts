import type { z } from 'zod';
import type { JSONSchema } from './json-schema.js';
import { withKeywords } from './list-type.js';

/** How a secret is stored: only to compare it with what is presented, or to use it again. */
export type SecretStorage = 'Hashed' | 'Sealed';

/** The keywords of the schema of a secret field. */
export const secretKeywords = ['x-secret-storage'] as const;

/** The path of a field below `spec`. */
export type FieldPath = readonly string[];

/** A secret field of a kind. */
export interface SecretField {
  readonly path: FieldPath;
  readonly storage: SecretStorage;
}

/**
 * Declares a text in a spec that may be written and never read (docs/design/security.md#secret-fields).
 * It is stored hashed (`secretMatches`) or sealed (`openSecret`), outside the spec: no answer, watch,
 * annotation or snapshot holds it. A write without it keeps it, and an empty text removes it. It must
 * be optional and may not be in a list or map.
 *
 * @example
 * ```ts
 * const spec = z.object({
 *   url: z.string().describe('The address.'),
 *   token: secret(z.string().max(200), 'Sealed').optional().describe('The token for it.'),
 * });
 * ```
 */
export const secret = (schema: z.ZodString, storage: SecretStorage): z.ZodString =>
  withKeywords(schema, { writeOnly: true, 'x-secret-storage': storage });

const isSecret = (schema: JSONSchema): boolean => schema['x-secret-storage'] !== undefined;

/** Returns the secret fields of a spec; throws for one that is required, or in a list or map. */
export function secretFields(
  schema: JSONSchema,
  where: string,
  path: FieldPath = [],
): SecretField[] {
  const below = Object.entries(schema.properties ?? {});
  const { items, additionalProperties, oneOf = [], anyOf = [] } = schema;
  const elsewhere = [items, additionalProperties, ...oneOf, ...anyOf].filter(
    (subschema): subschema is JSONSchema => typeof subschema === 'object',
  );
  for (const subschema of elsewhere) {
    if (isSecret(subschema) || secretFields(subschema, where).length > 0) {
      throw new Error(`${where}: a secret may not be in a list, a map or a union`);
    }
  }
  return below.flatMap(([name, property]): SecretField[] => {
    const at = [...path, name];
    if (!isSecret(property)) return secretFields(property, where, at);
    if (schema.required?.includes(name)) {
      throw new Error(`${where}.${at.join('.')}: a secret must be optional, since no one reads it`);
    }
    return [{ path: at, storage: property['x-secret-storage'] as SecretStorage }];
  });
}
