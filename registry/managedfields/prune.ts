import type { JSONSchema } from '../schema/json-schema.js';
import type { FieldSet } from './field-set.js';
import type { PathElement } from './path-element.js';
import { type Entry, entriesOf, withEntries } from './typed-value.js';

/**
 * Removes from a merged value what its manager applied before (`last`) and no one owns any more.
 * Returns undefined if nothing is left. What no one ever owned stays, unless its item goes.
 */
export function pruneValue(
  schema: JSONSchema | undefined,
  value: unknown,
  last: FieldSet,
  owned: FieldSet,
): unknown {
  const taken = last.isEmpty ? undefined : entriesOf(schema, value);
  if (!taken) return value;
  const left: [PathElement, unknown][] = [];
  for (const entry of taken.entries) {
    const [lastBelow, ownedBelow] = [last.at(entry.element), owned.at(entry.element)];
    if (includes(lastBelow, entry) && !includes(ownedBelow, entry)) continue;
    const rest = pruneValue(entry.schema, entry.value, lastBelow, ownedBelow);
    if (rest !== undefined) left.push([entry.element, rest]);
  }
  return left.length === 0 && taken.entries.length > 0 ? undefined : withEntries(taken.type, left);
}

/** Reports whether a set has an entry. A declared field is owned with any of its content. */
const includes = (below: FieldSet, entry: Entry): boolean =>
  entry.isOwned ? below.isMember : !below.isEmpty;
