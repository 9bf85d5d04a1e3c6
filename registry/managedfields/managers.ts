import type { JSONSchema } from '../schema/json-schema.js';
import { compareValues } from './compare.js';
import { FieldSet } from './field-set.js';
import { mergeValues } from './merge.js';
import { formatPath } from './path-element.js';
import { pruneValue } from './prune.js';
import { fieldSetOf } from './typed-value.js';

/**
 * A manager is known by its name, by whether it applies or updates, and by the subresource; one that
 * updates also by the version, as in Kubernetes.
 */
export interface ManagerID {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  /** Group and version of its last write; by default those of the hub. */
  readonly apiVersion?: string;
  readonly subresource?: 'status' | undefined;
}

/** An entry of metadata.managedFields. */
export interface ManagedFields extends ManagerID {
  /** When its fields changed last, RFC 3339. */
  readonly time?: string;
  /** With the names of the hub. */
  readonly fields: FieldSet;
}

/** A field that another manager owns with another value. */
export interface FieldConflict extends ManagerID {
  readonly time?: string;
  /** A path such as `.spec.displayName`. */
  readonly field: string;
}

const isSame = (a: ManagerID, b: ManagerID): boolean =>
  a.manager === b.manager &&
  a.operation === b.operation &&
  a.subresource === b.subresource &&
  (a.operation === 'Apply' || a.apiVersion === b.apiVersion);

/**
 * Returns the owners after an update, of an object that may be new (`before` is undefined). The
 * manager of the update owns what it changed, and no one owns what it removed.
 */
export function ownersAfterUpdate(
  schema: JSONSchema,
  before: unknown,
  after: unknown,
  owners: readonly ManagedFields[],
  by: Omit<ManagerID, 'operation'>,
  time?: string,
): readonly ManagedFields[] {
  const { added, modified, removed } = compareValues(schema, before, after);
  const changed = added.union(modified);
  if (changed.isEmpty && removed.isEmpty) return owners;
  const id: ManagerID = { ...by, operation: 'Update' };
  const own = owners.find((owner) => isSame(owner, id))?.fields ?? FieldSet.empty;
  return withoutEmpty([
    ...owners
      .filter((owner) => !isSame(owner, id))
      .map((owner) => without(owner, changed.union(removed))),
    { ...id, ...(time && { time }), fields: own.difference(removed).union(changed) },
  ]);
}

/**
 * Merges a configuration into the live object and removes what its manager applied before and does
 * not apply now, unless someone else owns it, too.
 */
export function mergeConfiguration(
  schema: JSONSchema,
  live: unknown,
  configuration: unknown,
  owners: readonly ManagedFields[],
  by: string,
  subresource?: 'status',
): unknown {
  const { last, others } = ownersFor(owners, by, subresource);
  const owned = others.reduce(
    (set, { fields }) => set.union(fields),
    fieldSetOf(schema, configuration),
  );
  const merged = mergeValues(schema, live, configuration);
  return pruneValue(schema, merged, last?.fields ?? FieldSet.empty, owned);
}

/** What an apply does: the paths of its configuration, and what its entry says. */
interface ApplyWrite {
  readonly applied: FieldSet;
  readonly force: boolean;
  readonly apiVersion?: string;
  readonly subresource?: 'status' | undefined;
  readonly time?: string;
}

/** The owners after an apply, or the conflicts. */
export type AppliedOwners =
  | { readonly conflicts: readonly FieldConflict[] }
  | { readonly conflicts?: undefined; readonly owners: readonly ManagedFields[] };

/**
 * Returns the owners after an apply that changed the object from `before` to `after`: its manager
 * owns what it applied. A changed field that another manager owns is a conflict, unless `force`
 * takes it over.
 */
export function ownersAfterApply(
  schema: JSONSchema,
  before: unknown,
  after: unknown,
  owners: readonly ManagedFields[],
  by: string,
  { applied, force, subresource, ...write }: ApplyWrite,
): AppliedOwners {
  const { apiVersion, time } = write;
  const { last, others, id } = ownersFor(owners, by, subresource);
  const { added, modified, removed } = compareValues(schema, before, after);
  const changed = added.union(modified);
  const conflicts = force ? [] : conflictsOf(others, changed);
  if (conflicts.length > 0) return { conflicts };
  const isSameAsLast = changed.isEmpty && removed.isEmpty && last?.fields.equals(applied);
  const own = isSameAsLast
    ? last
    : { ...id, ...(apiVersion && { apiVersion }), ...(time && { time }), fields: applied };
  const left = others.map((other) => without(other, changed.union(removed)));
  return { owners: withoutEmpty([...left, own!]) };
}

function ownersFor(owners: readonly ManagedFields[], by: string, subresource?: 'status') {
  const id: ManagerID = { manager: by, operation: 'Apply', ...(subresource && { subresource }) };
  return {
    id,
    last: owners.find((owner) => isSame(owner, id)),
    others: owners.filter((owner) => !isSame(owner, id)),
  };
}

function conflictsOf(others: readonly ManagedFields[], changed: FieldSet): FieldConflict[] {
  return others.flatMap(({ fields, ...owner }) =>
    [...fields.intersection(changed).paths()].map((path) => ({
      ...owner,
      field: formatPath(path),
    })),
  );
}

const without = (owner: ManagedFields, set: FieldSet): ManagedFields => ({
  ...owner,
  fields: owner.fields.difference(set),
});

const withoutEmpty = (owners: readonly ManagedFields[]): ManagedFields[] =>
  owners.filter(({ fields }) => !fields.isEmpty);
