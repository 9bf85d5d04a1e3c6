/** A JSON Schema (2020-12), for the validator and OpenAPI 3.1. */
export interface JSONSchema {
  type?: string | string[];
  properties?: Record<string, JSONSchema>;
  required?: string[];
  additionalProperties?: boolean | JSONSchema;
  items?: JSONSchema;
  anyOf?: JSONSchema[];
  oneOf?: JSONSchema[];
  const?: unknown;
  enum?: unknown[];
  description?: string;
  discriminator?: { propertyName: string };
  [keyword: string]: unknown;
}

/** Returns the schema of a member, of an object or of a map. */
export const memberOf = (schema: JSONSchema, name: string): JSONSchema | undefined =>
  schema.properties?.[name] ??
  (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);

/** Returns the branch of a tagged union that applies to `value`. */
export function branchFor(
  schema: JSONSchema,
  value: Record<string, unknown>,
): JSONSchema | undefined {
  const tag = schema.discriminator?.propertyName;
  if (tag) return schema.oneOf!.find((branch) => branch.properties![tag]!.const === value[tag]);
  return schema.properties || schema.additionalProperties !== undefined ? schema : undefined;
}
