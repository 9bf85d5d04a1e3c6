import type { JSONSchema } from '../schema/json-schema.js';
import { FieldSet } from './field-set.js';
import { canonicalJSON, type PathElement } from './path-element.js';
import { type Entry, entriesOf } from './typed-value.js';

/** What a change of a value did, in paths. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

const none: Comparison = {
  added: FieldSet.empty,
  modified: FieldSet.empty,
  removed: FieldSet.empty,
};

/** Compares two values of a schema; undefined is an absent one. */
export function compareValues(
  schema: JSONSchema | undefined,
  before: unknown,
  after: unknown,
): Comparison {
  const [old, now] = [entriesOf(schema, before), entriesOf(schema, after)];
  if (!old || !now) return compareWhole(schema, before, after);
  const oldByElement = new Map(old.entries.map((entry) => [entry.element, entry]));
  const nowByElement = new Map(now.entries.map((entry) => [entry.element, entry]));
  const elements = new Set([...oldByElement.keys(), ...nowByElement.keys()]);
  const compared = [...elements].map((element): [PathElement, Comparison] => [
    element,
    compareEntries(oldByElement.get(element), nowByElement.get(element)),
  ]);
  const collect = (change: keyof Comparison): FieldSet =>
    FieldSet.node(
      false,
      compared.map(([element, comparison]) => [element, comparison[change]]),
    );
  return { added: collect('added'), modified: collect('modified'), removed: collect('removed') };
}

function compareEntries(before: Entry | undefined, after: Entry | undefined): Comparison {
  if (before && after) return compareValues(after.schema, before.value, after.value);
  return after ? { ...none, added: paths(after) } : { ...none, removed: paths(before!) };
}

/** Returns every path of an entry that came or went, also those of the objects and lists in it. */
function paths(entry: Pick<Entry, 'schema' | 'value'>): FieldSet {
  const entries = entriesOf(entry.schema, entry.value)?.entries ?? [];
  return FieldSet.node(
    true,
    entries.map((entry) => [entry.element, paths(entry)]),
  );
}

function compareWhole(schema: JSONSchema | undefined, before: unknown, after: unknown): Comparison {
  if (canonicalJSON(before) === canonicalJSON(after)) return none;
  if (before === undefined) {
    return { ...none, added: paths({ schema, value: after }).withMember(false) };
  }
  if (after === undefined) {
    return { ...none, removed: paths({ schema, value: before }).withMember(false) };
  }
  return { ...none, modified: paths({ schema, value: after }) };
}
