import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { z } from 'zod';
import { zodToJsonSchema } from 'zod-to-json-schema';
import { refuseUnconvertible } from './convertible.js';
import type { Cause } from './status.js';

/** A JSON Schema 2020-12, as both the validator and OpenAPI 3.1 take it. */
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

/** Converts a zod schema; a construct that JSON Schema would lose, or an empty schema anywhere, stops the start and names its path. */
export function toJSONSchema(schema: z.ZodTypeAny, where: string): JSONSchema {
  refuseUnconvertible(schema, where);
  const converted = zodToJsonSchema(schema, { target: 'jsonSchema7', $refStrategy: 'none' }) as JSONSchema;
  delete converted.$schema;
  return tidy(converted, where);
}

function tidy(schema: JSONSchema, where: string): JSONSchema {
  if (!Object.entries(schema).some(([key, value]) => value !== undefined && key !== 'description' && key !== 'default')) throw new Error(`${where}: an empty schema would accept everything`);
  for (const [name, property] of Object.entries(schema.properties ?? {})) tidy(property, `${where}.${name}`);
  if (schema.items) tidy(schema.items, `${where}[]`);
  if (typeof schema.additionalProperties === 'object') tidy(schema.additionalProperties, `${where}.*`);
  schema.anyOf?.forEach((branch, i) => tidy(branch, `${where}|${i}`));
  const tag = schema.anyOf && commonTag(schema.anyOf);
  if (tag) {
    schema.oneOf = schema.anyOf;
    delete schema.anyOf;
    Object.assign(schema, { type: 'object', discriminator: { propertyName: tag }, required: [tag] });
  }
  return schema;
}

/** The property in which every branch has a constant of its own. */
function commonTag(branches: JSONSchema[]): string | undefined {
  const first = branches[0]?.properties ?? {};
  return Object.keys(first).find((name) => branches.every((branch) => branch.properties?.[name]?.const !== undefined));
}

/** Schemas are computed here, and every one is held to the meta-schema by a test: no start spends a tenth of a second on that. */
const ajv = new Ajv2020({ validateSchema: false, strict: true, strictRequired: false, discriminator: true, allErrors: true, useDefaults: true, coerceTypes: false, allowUnionTypes: true });
(formats as unknown as (to: Ajv2020) => void)(ajv);

/** Validates values against one schema, filling in defaults; compiled at first use. */
export class Validator {
  readonly schema: JSONSchema;
  #compiled: ValidateFunction | undefined;

  constructor(schema: JSONSchema) { this.schema = schema }

  /** The faults of `value`, at most 32, with paths below `at`; fills defaults into `value`. */
  check(value: unknown, at: string): Cause[] {
    const compiled = (this.#compiled ??= ajv.compile(this.schema));
    if (compiled(value)) return [];
    const all = (compiled.errors ?? []).map((error) => cause(error, at));
    return all.filter((one, i) => all.findIndex((other) => other.field === one.field && other.reason === one.reason) === i).slice(0, 32);
  }

  /** Compiles now, so that no request waits for it. */
  warm(): void { this.#compiled ??= ajv.compile(this.schema) }
}

const pathOf = (at: string, pointer: string): string =>
  at + pointer.split('/').slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : /[./]/.test(part) ? `[${part}]` : `.${part}`)).join('');

function cause(error: ErrorObject, at: string): Cause {
  const field = pathOf(at, error.instancePath);
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case 'required': return { reason: 'FieldValueRequired', field: `${field}.${params.missingProperty}`, message: 'Required value' };
    case 'discriminator': return { reason: params.tagValue === undefined ? 'FieldValueRequired' : 'FieldValueNotSupported', field: `${field}.${params.tag}`, message: params.tagValue === undefined ? 'Required value' : 'Unsupported value' };
    case 'additionalProperties': return { reason: 'FieldValueForbidden', field: `${field}.${params.additionalProperty}`, message: 'Forbidden: unknown field' };
    case 'enum': return { reason: 'FieldValueNotSupported', field, message: `Unsupported value: supported values: ${(params.allowedValues as unknown[]).map((v) => JSON.stringify(v)).join(', ')}` };
    case 'const': return { reason: 'FieldValueNotSupported', field, message: `Unsupported value: supported values: ${JSON.stringify(params.allowedValue)}` };
    case 'type': return { reason: 'FieldValueTypeInvalid', field, message: `Invalid value: ${error.message}` };
    case 'maxLength': return { reason: 'FieldValueTooLong', field, message: `Too long: may not be more than ${params.limit} characters` };
    case 'maxItems': return { reason: 'FieldValueTooMany', field, message: `Too many: must have at most ${params.limit} items` };
    default: return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${error.message}` };
  }
}

/** The paths of members that `schema` does not know, each removed from `value`. */
export function prune(schema: JSONSchema, value: unknown, at: string): string[] {
  if (Array.isArray(value)) return schema.items ? value.flatMap((item, i) => prune(schema.items!, item, `${at}[${i}]`)) : [];
  if (typeof value !== 'object' || value === null) return [];
  const held = value as Record<string, unknown>;
  const known = branchFor(schema, held);
  if (!known) return [];
  return Object.keys(held).flatMap((name) => {
    const property = known.properties?.[name] ?? (typeof known.additionalProperties === 'object' ? known.additionalProperties : undefined);
    if (property) return prune(property, held[name], `${at}.${name}`);
    if (known.additionalProperties !== false) return [];
    delete held[name];
    return [`${at}.${name}`];
  });
}

/** The schema that speaks for `value`: of a tagged union the branch of its tag. */
function branchFor(schema: JSONSchema, value: Record<string, unknown>): JSONSchema | undefined {
  const tag = schema.discriminator?.propertyName;
  if (tag) return schema.oneOf!.find((branch) => branch.properties![tag]!.const === value[tag]);
  return schema.properties || schema.additionalProperties !== undefined ? schema : undefined;
}
