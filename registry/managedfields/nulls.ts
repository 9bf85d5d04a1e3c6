import { isRecord } from '../schema/is-record.js';
import type { JSONSchema } from '../schema/json-schema.js';
import { entriesOf, withEntries } from './typed-value.js';

/**
 * Returns a value without fields that are null or undefined, where the schema does not permit null:
 * templates often leave such a field for a value they do not have.
 */
export function withoutNulls(schema: JSONSchema | undefined, value: unknown): unknown {
  const taken = entriesOf(schema, value);
  if (!taken) return value;
  return withEntries(
    taken.type,
    taken.entries
      .filter((entry) => entry.value !== null || !isRecord(value) || isNullable(entry.schema))
      .map((entry) => [entry.element, withoutNulls(entry.schema, entry.value)]),
  );
}

const isNullable = (schema: JSONSchema | undefined): boolean =>
  schema === undefined ||
  schema.type === 'null' ||
  (Array.isArray(schema.type) && schema.type.includes('null')) ||
  (schema.anyOf?.some(isNullable) ?? false);
