import { isRecord } from '../schema/is-record.js';

/**
 * One step of a path, as FieldsV1 writes it: `f:NAME` a field, `k:{…}` an item of a map list by its
 * keys, `v:VALUE` an item of a set, and `i:INDEX` an item by its position.
 */
export type PathElement = string;

/** Returns the element of a field. */
export const fieldElement = (name: string): PathElement => `f:${name}`;

/** Returns the element of a set's item. */
export const valueElement = (value: unknown): PathElement => `v:${canonicalJSON(value)}`;

/** Returns the element of a map list's item with these values of its keys. */
export const keyElement = (keys: Readonly<Record<string, unknown>>): PathElement =>
  `k:${canonicalJSON(keys)}`;

/** Returns the element in its canonical form; throws for text that is no path element. */
export function canonicalElement(text: string): PathElement {
  if (text.startsWith('f:')) return text;
  if (text.startsWith('v:')) return valueElement(JSON.parse(text.slice(2)));
  if (/^i:(0|[1-9]\d{0,8})$/.test(text)) return text;
  if (text.startsWith('k:')) {
    const keys: unknown = JSON.parse(text.slice(2));
    if (isRecord(keys)) return keyElement(keys);
  }
  throw new Error('unknown path element type');
}

const order = ['f', 'k', 'v', 'i'];

/** Compares elements in the order of FieldsV1: fields, keys, values, indexes. */
export function compareElements(a: PathElement, b: PathElement): number {
  const types = order.indexOf(a[0]!) - order.indexOf(b[0]!);
  if (types !== 0) return types;
  if (a.startsWith('i:')) return Number(a.slice(2)) - Number(b.slice(2));
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Returns a path as causes and conflicts write it: `.spec.items[name="a"].value`. */
export const formatPath = (path: readonly PathElement[]): string =>
  path.map(formatElement).join('');

function formatElement(element: PathElement): string {
  const text = element.slice(2);
  if (element.startsWith('f:')) return `.${text}`;
  if (element.startsWith('i:')) return `[${text}]`;
  if (element.startsWith('v:')) return `[=${text}]`;
  const keys = Object.entries(JSON.parse(text) as Record<string, unknown>);
  return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}]`;
}

/** Returns JSON with sorted keys, so that equal values have equal text. */
export function canonicalJSON(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJSON).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJSON(member)}`).join(',')}}`;
}
