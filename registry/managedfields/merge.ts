import type { JSONSchema } from '../schema/json-schema.js';
import type { PathElement } from './path-element.js';
import { type Entry, entriesOf, withEntries } from './typed-value.js';

/** Merges an applied configuration into the live value. Neither is changed. */
export function mergeValues(
  schema: JSONSchema | undefined,
  live: unknown,
  applied: unknown,
): unknown {
  const [old, add] = [entriesOf(schema, live), entriesOf(schema, applied)];
  if (!old || !add) return applied;
  const appliedByElement = new Map(add.entries.map((entry) => [entry.element, entry]));
  const liveByElement = new Map(old.entries.map((entry) => [entry.element, entry]));
  const merged = [...mergedOrder(old.entries, add.entries)].map((entry): [PathElement, unknown] => {
    const ours = appliedByElement.get(entry.element);
    const theirs = liveByElement.get(entry.element);
    if (!ours || !theirs) return [entry.element, entry.value];
    return [entry.element, mergeValues(ours.schema, theirs.value, ours.value)];
  });
  return withEntries(add.type, merged);
}

/**
 * Yields entries in their merged order: shared ones as they are applied, and the others of the live
 * value where they were.
 */
function* mergedOrder(live: readonly Entry[], applied: readonly Entry[]): Generator<Entry> {
  const appliedElements = new Set(applied.map(({ element }) => element));
  const liveElements = new Set(live.map(({ element }) => element));
  const shared = applied
    .map(({ element }) => element)
    .filter((element) => liveElements.has(element));
  let [next, at] = [0, 0];
  for (const entry of live) {
    if (!appliedElements.has(entry.element)) yield entry;
    else if (entry.element === shared[next]) {
      next += 1;
      while (applied[at]!.element !== entry.element) yield applied[at++]!;
      yield applied[at++]!;
    }
  }
  yield* applied.slice(at);
}
