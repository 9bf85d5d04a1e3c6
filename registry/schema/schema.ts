import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { z } from 'zod';
import { zodToJsonSchema } from 'zod-to-json-schema';
import { tooManyItems } from '../status/field-errors.js';
import type { Cause } from '../status/status.js';
import { branchFor, type JSONSchema, memberOf } from './json-schema.js';
import { declaredKeywords, duplicateItems, hasDistinctLists, mergeKeywords } from './list-type.js';
import { causesOf } from './schema-faults.js';
import { refuseUnconvertible } from './schema-guard.js';
import { checkLines, hasLines } from './schema-lines.js';
import { secretKeywords } from './secret-schema.js';

export type { JSONSchema } from './json-schema.js';

/**
 * Converts a zod schema. Throws with the path for a construct that JSON Schema would lose, and for
 * an empty schema.
 */
export function toJSONSchema(schema: z.ZodTypeAny, where: string): JSONSchema {
  refuseUnconvertible(schema, where);
  const converted = zodToJsonSchema(schema, {
    target: 'jsonSchema7',
    $refStrategy: 'none',
    postProcess: (json, def) => json && { ...json, ...declaredKeywords(def) },
  }) as JSONSchema;
  delete converted.$schema;
  return tidy(converted, where);
}

function tidy(schema: JSONSchema, where: string): JSONSchema {
  if (
    !Object.entries(schema).some(
      ([key, value]) => value !== undefined && key !== 'description' && key !== 'default',
    )
  ) {
    throw new Error(`${where}: an empty schema would accept everything`);
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    tidy(property, `${where}.${name}`);
  }
  if (schema.items) tidy(schema.items, `${where}[]`);
  if (typeof schema.additionalProperties === 'object') {
    tidy(schema.additionalProperties, `${where}.*`);
  }
  schema.anyOf?.forEach((branch, i) => tidy(branch, `${where}|${i}`));
  const branches = schema.anyOf;
  const tag = branches && commonTag(branches);
  if (tag) {
    schema.oneOf = branches;
    delete schema.anyOf;
    Object.assign(schema, {
      type: 'object',
      discriminator: { propertyName: tag },
      required: [tag],
    });
  }
  return schema;
}

/** Returns the property that discriminates the branches of a union. */
function commonTag(branches: JSONSchema[]): string | undefined {
  const first = branches[0]?.properties ?? {};
  return Object.keys(first).find((name) =>
    branches.every((branch) => branch.properties?.[name]?.const !== undefined),
  );
}

/**
 * Meta-schema validation is off: a test validates every schema, and the start need not. Optimizing
 * the generated code would double the time of compiling, and V8 does it for what runs often.
 */
const ajv = new Ajv2020({
  validateSchema: false,
  strict: true,
  strictRequired: false,
  discriminator: true,
  allErrors: true,
  verbose: true,
  useDefaults: true,
  coerceTypes: false,
  allowUnionTypes: true,
  code: { optimize: false },
});
(formats as unknown as (to: Ajv2020) => void)(ajv);
ajv.addVocabulary([...mergeKeywords, ...secretKeywords]);

/** Validates values against one schema, filling in defaults; compiled at first use. */
export class Validator {
  readonly schema: JSONSchema;
  #compiled: ValidateFunction | undefined;
  readonly #hasLines: boolean;
  readonly #hasDistinctLists: boolean;

  constructor(schema: JSONSchema) {
    this.schema = schema;
    this.#hasLines = hasLines(schema);
    this.#hasDistinctLists = hasDistinctLists(schema);
  }

  /**
   * Returns the faults of `value`, one a field and at most 32, with paths below `at`. Without
   * faults, sets defaults and normalizes lines of text to NFC, in place.
   */
  check(value: unknown, at: string): Cause[] {
    this.#compiled ??= ajv.compile(this.schema);
    const compiled = this.#compiled;
    const tooLong = overfullLists(this.schema, value, at);
    if (tooLong.length > 0) return tooLong;
    if (!compiled(value)) return causesOf(compiled.errors ?? [], at);
    const faults = this.#hasLines ? checkLines(this.schema, value, at) : [];
    if (faults.length > 0) return faults;
    return this.#hasDistinctLists ? duplicateItems(this.schema, value, at) : [];
  }

  /** Compiles the schema before the first request. */
  compile(): void {
    this.#compiled ??= ajv.compile(this.schema);
  }
}

/** The length from which nothing else is said of a list with too many items. */
const longList = 1_000;

/**
 * Returns a cause for each long list with too many items: each of many thousand items could have a
 * fault.
 */
function overfullLists(schema: JSONSchema, value: unknown, at: string): Cause[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    const max = Number(schema.maxItems ?? Infinity);
    if (value.length > Math.max(max, longList)) {
      return [tooManyItems(at, `must have at most ${max} items`)];
    }
    return items && hasLists(items)
      ? value.flatMap((item, i) => overfullLists(items, item, `${at}[${i}]`))
      : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  const branch = branchFor(schema, value as Record<string, unknown>);
  return Object.entries(branch?.properties ?? {}).flatMap(([name, property]) =>
    overfullLists(property, (value as Record<string, unknown>)[name], `${at}.${name}`),
  );
}

const hasLists = ({ items, properties = {}, oneOf = [] }: JSONSchema): boolean =>
  items !== undefined || [...Object.values(properties), ...oneOf].some(hasLists);

/** Removes members that `schema` does not define from `value`; returns their paths. */
export function prune(schema: JSONSchema, value: unknown, at: string): string[] {
  if (Array.isArray(value)) {
    return schema.items
      ? value.flatMap((item, i) => prune(schema.items!, item, `${at}[${i}]`))
      : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  const held = value as Record<string, unknown>;
  const known = branchFor(schema, held);
  if (!known) return [];
  return Object.keys(held).flatMap((name) => {
    const property = memberOf(known, name);
    if (property) return prune(property, held[name], `${at}.${name}`);
    if (known.additionalProperties !== false) return [];
    delete held[name];
    return [`${at}.${name}`];
  });
}
