import { invalidValue } from '../status/field-errors.js';
import type { Cause } from '../status/status.js';
import { isRecord } from './is-record.js';
import { branchFor, type JSONSchema, memberOf } from './json-schema.js';
import { lineFault } from './line-of-text.js';
import { lineOfText } from './pattern.js';

const isLine = (schema: JSONSchema): boolean => schema.pattern === lineOfText.source;

/** Returns whether a schema has a field that is a line of text. */
export function hasLines(schema: JSONSchema): boolean {
  const inner = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items ? [schema.items] : []),
    ...(schema.oneOf ?? []),
    ...(typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : []),
  ];
  return isLine(schema) || inner.some(hasLines);
}

/** The number of causes in a response. */
const maxCauses = 32;

/**
 * Returns the faults of lines of text, at most 32, with paths below `at`, and normalizes lines
 * without faults to NFC, in place. Names, addresses, tokens and credentials stay as they were sent.
 */
export function checkLines(schema: JSONSchema, value: unknown, at: string): Cause[] {
  const causes: Cause[] = [];
  normaliseLines(schema, value, at, causes);
  return causes.slice(0, maxCauses);
}

function normaliseLines(
  schema: JSONSchema | undefined,
  value: unknown,
  at: string,
  causes: Cause[],
): unknown {
  if (schema === undefined) return value;
  if (typeof value === 'string') return isLine(schema) ? normalised(value, at, causes) : value;
  if (Array.isArray(value)) {
    value.forEach((item, i) => {
      const line = normaliseLines(schema.items, item, `${at}[${i}]`, causes);
      if (line !== item) value[i] = line;
    });
  } else if (isRecord(value)) {
    const branch = branchFor(schema, value);
    for (const name of Object.keys(value)) {
      const member = branch && memberOf(branch, name);
      const line = normaliseLines(member, value[name], `${at}.${name}`, causes);
      if (line !== value[name]) value[name] = line;
    }
  }
  return value;
}

function normalised(text: string, at: string, causes: Cause[]): string {
  const fault = lineFault(text);
  if (fault !== undefined) causes.push(invalidValue(at, fault));
  return text.normalize('NFC');
}
