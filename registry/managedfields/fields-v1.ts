import { FieldSet } from './field-set.js';
import { canonicalElement, compareElements, type PathElement } from './path-element.js';

/** A field set in the form of metadata.managedFields (Kubernetes: FieldsV1). */
export interface FieldsV1 {
  readonly [element: PathElement]: FieldsV1;
}

/** Returns a set as FieldsV1, in canonical order. */
export function encodeFields(set: FieldSet): FieldsV1 {
  const fields: Record<string, FieldsV1> = {};
  if (set.isMember && set.children.size > 0) fields['.'] = {};
  const elements = [...set.children.keys()].sort(compareElements);
  for (const element of elements) fields[element] = encodeFields(set.at(element));
  return fields;
}

/** Returns the set of a FieldsV1; throws if it is malformed. */
export function decodeFields(fields: unknown, isRoot = true): FieldSet {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    throw new Error('fieldsV1 must have objects only');
  }
  const names = Object.keys(fields);
  const children = names
    .filter((name) => name !== '.')
    .map((name): [PathElement, FieldSet] => [
      canonicalElement(name),
      decodeFields((fields as Record<string, unknown>)[name], false),
    ]);
  const isMember = names.includes('.') || (!isRoot && names.length === 0);
  return FieldSet.node(isMember, children);
}
