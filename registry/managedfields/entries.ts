import type { ManagedFieldsEntry } from '../kind.js';
import { FieldSet } from './field-set.js';
import { decodeFields, encodeFields } from './fields-v1.js';
import type { ManagedFields } from './managers.js';

/** The most owners with operation Update; the oldest of more are joined. */
const maxUpdateManagers = 10;
const joinedManager = 'ancient-changes';

/** Returns the owners in metadata.managedFields, without those of versions that are not served. */
export const decodeOwners = (
  entries: readonly ManagedFieldsEntry[],
  apiVersion: string,
): ManagedFields[] =>
  entries
    .filter((entry) => entry.apiVersion === apiVersion)
    .map(({ manager, operation, time, fieldsV1 }) => ({
      manager,
      operation,
      ...(time !== undefined && { time }),
      fields: decodeFields(fieldsV1),
    }));

/** Returns owners as metadata.managedFields, in canonical order; the oldest updaters are joined. */
export const encodeOwners = (
  owners: readonly ManagedFields[],
  apiVersion: string,
): ManagedFieldsEntry[] =>
  joinOldest(owners)
    .sort(compareOwners)
    .map(({ manager, operation, time, fields }) => ({
      manager,
      operation,
      apiVersion,
      ...(time !== undefined && { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: encodeFields(fields),
    }));

function joinOldest(owners: readonly ManagedFields[]): ManagedFields[] {
  const updaters = owners.filter(({ operation }) => operation === 'Update').sort(compareOwners);
  const oldest = updaters.slice(0, 1 - maxUpdateManagers);
  if (updaters.length <= maxUpdateManagers) return [...owners];
  const { time } = oldest.at(-1)!;
  return [
    ...owners.filter((owner) => !oldest.includes(owner)),
    {
      manager: joinedManager,
      operation: 'Update',
      ...(time !== undefined && { time }),
      fields: oldest.reduce((set, { fields }) => set.union(fields), FieldSet.empty),
    },
  ];
}

/** Orders by operation, then by age, then by name. */
function compareOwners(a: ManagedFields, b: ManagedFields): number {
  const [one, other] = [a, b].map(
    ({ operation, time = '', manager }) => `${operation}\n${time}\n${manager}`,
  );
  if (one === other) return 0;
  return one! < other! ? -1 : 1;
}
