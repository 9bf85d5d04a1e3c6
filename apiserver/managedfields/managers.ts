import type { JSONSchema } from '../../registry/schema.js';
import { compareValues } from './compare.js';
import { FieldSet } from './field-set.js';
import { mergeValues } from './merge.js';
import { formatPath } from './path-element.js';
import { pruneValue } from './prune.js';
import { fieldSetOf } from './typed-value.js';

/** A manager is known by its name and by whether it applies or updates. */
export interface ManagerID {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
}

/** An entry of metadata.managedFields. */
export interface ManagedFields extends ManagerID {
  readonly fields: FieldSet;
}

/** A field that another manager owns with another value. */
export interface FieldConflict {
  readonly manager: string;
  /** A path such as `.spec.displayName`. */
  readonly field: string;
}

const isSame = (a: ManagerID, b: ManagerID): boolean =>
  a.manager === b.manager && a.operation === b.operation;

/**
 * Returns the owners after an update, of an object that may be new (`before` is undefined). The
 * manager of the update owns what it changed, and no one owns what it removed.
 */
export function ownersAfterUpdate(
  schema: JSONSchema,
  before: unknown,
  after: unknown,
  owners: readonly ManagedFields[],
  by: string,
): ManagedFields[] {
  const { added, modified, removed } = compareValues(schema, before, after);
  const changed = added.union(modified);
  const id: ManagerID = { manager: by, operation: 'Update' };
  const own = owners.find((one) => isSame(one, id))?.fields ?? FieldSet.empty;
  return withoutEmpty([
    ...owners.filter((one) => !isSame(one, id)).map((one) => without(one, changed.union(removed))),
    { ...id, fields: own.difference(removed).union(changed) },
  ]);
}

/** The result of an apply: the object and its owners, or the conflicts. */
export type Applied =
  | { readonly conflicts: readonly FieldConflict[] }
  | { readonly conflicts?: undefined; readonly object: unknown; readonly owners: ManagedFields[] };

/**
 * Applies a configuration to the live object: merges it, removes what the manager no longer
 * applies, and takes the fields over. A field that another manager owns with another value is a
 * conflict, unless `force` takes it over, too.
 */
export function applyConfiguration(
  schema: JSONSchema,
  live: unknown,
  configuration: unknown,
  owners: readonly ManagedFields[],
  by: string,
  force: boolean,
): Applied {
  const id: ManagerID = { manager: by, operation: 'Apply' };
  const others = owners.filter((one) => !isSame(one, id));
  const last = owners.find((one) => isSame(one, id))?.fields ?? FieldSet.empty;
  const own = fieldSetOf(schema, configuration);
  const owned = others.reduce((set, { fields }) => set.union(fields), own);
  const object = pruneValue(schema, mergeValues(schema, live, configuration), last, owned);
  const { added, modified, removed } = compareValues(schema, live, object);
  const changed = added.union(modified);
  const conflicts = force ? [] : conflictsOf(others, changed);
  if (conflicts.length > 0) return { conflicts };
  const left = others.map((one) => without(one, changed.union(removed)));
  return { object, owners: withoutEmpty([...left, { ...id, fields: own }]) };
}

function conflictsOf(others: readonly ManagedFields[], changed: FieldSet): FieldConflict[] {
  return others.flatMap(({ manager, fields }) =>
    [...fields.intersection(changed).paths()].map((path) => ({ manager, field: formatPath(path) })),
  );
}

const without = (owner: ManagedFields, set: FieldSet): ManagedFields => ({
  ...owner,
  fields: owner.fields.difference(set),
});

const withoutEmpty = (owners: readonly ManagedFields[]): ManagedFields[] =>
  owners.filter(({ fields }) => !fields.isEmpty);
