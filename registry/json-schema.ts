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
