import { isRecord } from '../schema/is-record.js';
import type { JSONSchema } from '../schema/json-schema.js';
import { FieldSet } from './field-set.js';
import {
  declaredField,
  type FieldType,
  fieldSchema,
  fieldTypeOf,
  itemElement,
} from './field-type.js';
import { fieldElement, type PathElement } from './path-element.js';

/** An object or list taken apart: its entries by element, in their order. */
export interface Entries {
  readonly type: FieldType;
  readonly entries: readonly Entry[];
}

export interface Entry {
  readonly element: PathElement;
  readonly value: unknown;
  readonly schema: JSONSchema | undefined;
  /** Whether the entry is owned as such, not only by its content: an item, or one of a map. */
  readonly isOwned: boolean;
}

/** Returns the entries of a value that is merged by entries; undefined if it is atomic. */
export function entriesOf(schema: JSONSchema | undefined, value: unknown): Entries | undefined {
  const type = fieldTypeOf(schema);
  if (type.merge === 'object') {
    if (!isRecord(value)) return undefined;
    const names = Object.keys(value).filter((name) => value[name] !== undefined);
    return {
      type,
      entries: names.map((name) => ({
        element: fieldElement(name),
        value: value[name],
        schema: fieldSchema(type.schema, name),
        isOwned: declaredField(type.schema, name) === undefined,
      })),
    };
  }
  if (type.merge === 'atomic' || !Array.isArray(value)) return undefined;
  return {
    type,
    entries: value.map((item: unknown) => ({
      element: itemElement(type, item),
      value: item,
      schema: type.merge === 'map' ? type.items : undefined,
      isOwned: true,
    })),
  };
}

/** Returns the paths of everything in a value. */
export function fieldSetOf(schema: JSONSchema | undefined, value: unknown): FieldSet {
  const taken = entriesOf(schema, value);
  if (!taken) return FieldSet.node(true, []);
  const children = taken.entries.map((entry): [PathElement, FieldSet] => {
    const inner = fieldSetOf(entry.schema, entry.value);
    const isEmptyObject = isRecord(entry.value) && Object.keys(entry.value).length === 0;
    return [entry.element, entry.isOwned || isEmptyObject ? inner.withMember(true) : inner];
  });
  return FieldSet.node(false, children);
}

/** Returns a value of the same shape with other entries. */
export function withEntries(type: FieldType, entries: Iterable<[PathElement, unknown]>): unknown {
  if (type.merge !== 'object') return [...entries].map(([, value]) => value);
  return Object.fromEntries([...entries].map(([element, value]) => [element.slice(2), value]));
}
