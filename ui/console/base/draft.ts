import { isObject, isSame, type JsonObject } from './merge.js';
import { propertyOf, resolve, type OpenAPI, type Schema } from './schema.js';

/** What a person typed: a text for each field, in the structure of the object. */
export type Draft = string | readonly Draft[] | { readonly [name: string]: Draft };

/** How a value is edited. */
export type Shape =
  | 'text'
  | 'file'
  | 'color'
  | 'number'
  | 'boolean'
  | 'choice'
  | 'choices'
  | 'lines'
  | 'pairs'
  | 'items'
  | 'group'
  | 'json';

const colorPattern = '^#[0-9A-Fa-f]{6}$';

function textShape({ format, pattern }: Schema): Shape {
  if (format === 'byte') return 'file';
  return pattern === colorPattern ? 'color' : 'text';
}

const scalars = new Set(['string', 'number', 'integer']);

/** A list or map of texts, which is typed one a line if no text has more than one. */
const fitsLines = (value: unknown): boolean =>
  Object.entries(value ?? {}).every(
    ([name, item]) => !/\n/.test(String(item)) && !name.includes('='),
  );

function arrayShape(items: Schema, value: unknown): Shape {
  if (items.enum) return 'choices';
  if (items.properties) return 'items';
  return items.type && scalars.has(items.type) && fitsLines(value) ? 'lines' : 'json';
}

/** Returns how a field is edited whose value was `value` at first. */
export function shapeOf(document: OpenAPI, schema: Schema, value: unknown): Shape {
  if (schema.enum) return 'choice';
  if (schema.type === 'string') return textShape(schema);
  if (schema.type === 'boolean') return 'boolean';
  if (schema.type === 'integer' || schema.type === 'number') return 'number';
  if (schema.type === 'array') return arrayShape(resolve(document, schema.items ?? {}), value);
  if (schema.properties) return 'group';
  return schema.additionalProperties?.type === 'string' && fitsLines(value) ? 'pairs' : 'json';
}

const asText = (value: unknown): string => (value === undefined ? '' : String(value));

/** Returns the draft that shows a value; undefined shows empty fields. */
export function toDraft(document: OpenAPI, schema: Schema, value: unknown): Draft {
  const shape = shapeOf(document, schema, value);
  if (shape === 'group') {
    const names = Object.keys(schema.properties!);
    const valueOf = (name: string): unknown => (isObject(value) ? value[name] : undefined);
    return Object.fromEntries(
      names.map((name) => [
        name,
        toDraft(document, propertyOf(document, schema, name), valueOf(name)),
      ]),
    );
  }
  const list = Array.isArray(value) ? (value as unknown[]) : [];
  if (shape === 'choices') return list.map(String);
  if (shape === 'lines') return list.map(String).join('\n');
  if (shape === 'items') {
    const items = resolve(document, schema.items!);
    return list.map((item) => toDraft(document, items, item));
  }
  if (shape === 'pairs') {
    return Object.entries(value ?? {})
      .map((pair) => pair.join('='))
      .join('\n');
  }
  if (shape === 'json') return value === undefined ? '' : JSON.stringify(value, null, 2);
  return asText(value);
}

/** The faults of what was typed, by the path of the field. */
export type Faults = Map<
  string,
  'console.wrong.number' | 'console.wrong.json' | 'console.wrong.pair'
>;

interface Reader {
  readonly document: OpenAPI;
  readonly faults: Faults;
}

function readNumber({ faults }: Reader, text: string, path: string): number | undefined {
  if (!text.trim()) return undefined;
  const value = Number(text);
  if (Number.isFinite(value)) return value;
  faults.set(path, 'console.wrong.number');
  return undefined;
}

function readJson({ faults }: Reader, text: string, path: string): unknown {
  if (!text.trim()) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    faults.set(path, 'console.wrong.json');
    return undefined;
  }
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

function readPairs({ faults }: Reader, text: string, path: string): JsonObject | undefined {
  const pairs = linesOf(text).map((line) => /^([^=]+)=(.*)$/.exec(line));
  if (pairs.includes(null)) faults.set(path, 'console.wrong.pair');
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']));
}

/** An empty list or map is sent only if the field had a value or must have one. */
const unlessNew = <T extends object>(value: T, before: unknown, isRequired: boolean) =>
  Object.keys(value).length || before !== undefined || isRequired ? value : undefined;

function readGroup(
  reader: Reader,
  schema: Schema,
  draft: JsonObject,
  before: JsonObject | undefined,
  path: string,
): JsonObject {
  const known = schema.properties ?? {};
  const value: Record<string, unknown> = {};
  for (const [name, former] of Object.entries(before ?? {})) {
    if (!(name in known)) value[name] = former;
  }
  for (const name of Object.keys(known)) {
    const property = propertyOf(reader.document, schema, name);
    const isRequired = schema.required?.includes(name) ?? false;
    const at = path ? `${path}.${name}` : name;
    const read = readValue(reader, property, draft[name] as Draft, before?.[name], at, isRequired);
    if (read !== undefined) value[name] = read;
  }
  return value;
}

function readList(
  reader: Reader,
  schema: Schema,
  shape: Shape,
  draft: Draft,
  path: string,
): unknown[] {
  const items = resolve(reader.document, schema.items ?? {});
  if (shape === 'choices') return [...(draft as readonly string[])];
  if (shape === 'items') {
    return (draft as readonly JsonObject[]).map((item, i) =>
      readGroup(reader, items, item, undefined, `${path}[${i}]`),
    );
  }
  const texts = linesOf(draft as string);
  return items.type === 'string' ? texts : texts.map((text) => readNumber(reader, text, path));
}

function readValue(
  reader: Reader,
  schema: Schema,
  draft: Draft,
  before: unknown,
  path: string,
  isRequired: boolean,
): unknown {
  const shape = shapeOf(reader.document, schema, before);
  if (shape === 'group') {
    const former = isObject(before) ? before : undefined;
    return unlessNew(
      readGroup(reader, schema, draft as JsonObject, former, path),
      before,
      isRequired,
    );
  }
  if (shape === 'choices' || shape === 'lines' || shape === 'items') {
    return unlessNew(readList(reader, schema, shape, draft, path), before, isRequired);
  }
  const text = draft as string;
  if (shape === 'pairs') return unlessNew(readPairs(reader, text, path)!, before, isRequired);
  if (shape === 'json') return readJson(reader, text, path);
  if (text === asText(before)) return before;
  if (shape === 'number') return readNumber(reader, text, path);
  if (shape === 'boolean') return text ? text === 'true' : undefined;
  return text || undefined;
}

/**
 * Returns the object of a draft and the faults of what was typed. `before` is the object that the
 * draft was made of: what the schema does not know is kept, and a value that shows the same stays
 * the same.
 */
export function fromDraft(
  document: OpenAPI,
  schema: Schema,
  draft: Draft,
  before: JsonObject | undefined,
): { value: JsonObject; faults: Faults } {
  const faults: Faults = new Map();
  const value = readGroup({ document, faults }, schema, draft as JsonObject, before, '');
  return { value, faults };
}

/** Returns whether a draft shows nothing but what a value shows. */
export const isUntouched = (
  document: OpenAPI,
  schema: Schema,
  draft: Draft,
  value: unknown,
): boolean => isSame(draft, toDraft(document, schema, value));
