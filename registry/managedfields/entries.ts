import type { ManagedFieldsEntry } from '../kind.js';
import type { Versioned } from '../served-version.js';
import { viewsOf } from '../versions/kind-view.js';
import { FieldSet } from './field-set.js';
import { decodeFields, encodeFields } from './fields-v1.js';
import type { ManagedFields } from './managers.js';

/** The most owners with operation Update; the oldest of more are joined. */
const maxUpdateManagers = 10;
const joinedManager = 'ancient-changes';

/**
 * Returns the owners in metadata.managedFields with the names of the hub, without those of versions
 * that are not served.
 */
export const decodeOwners = (
  entries: readonly ManagedFieldsEntry[],
  kind: Versioned,
): ManagedFields[] =>
  entries.flatMap(({ manager, operation, apiVersion, time, fieldsV1, subresource }) => {
    const view = viewsOf(kind).find((served) => served.apiVersion === apiVersion);
    return view
      ? [
          {
            manager,
            operation,
            apiVersion,
            ...(time !== undefined && { time }),
            ...(subresource && { subresource }),
            fields: decodeFields(view.names?.fields(fieldsV1, 'hub') ?? fieldsV1),
          },
        ]
      : [];
  });

/**
 * Returns owners as metadata.managedFields, each in the version of its last write, in canonical
 * order; the oldest updaters are joined.
 */
export const encodeOwners = (
  owners: readonly ManagedFields[],
  kind: Versioned,
): ManagedFieldsEntry[] =>
  joinOldest(owners)
    .sort(compareOwners)
    .map(({ manager, operation, apiVersion = kind.apiVersion, time, fields, subresource }) => {
      const names = viewsOf(kind).find((view) => view.apiVersion === apiVersion)?.names;
      const fieldsV1 = encodeFields(fields);
      return {
        manager,
        operation,
        apiVersion,
        ...(time !== undefined && { time }),
        fieldsType: 'FieldsV1',
        fieldsV1: names?.fields(fieldsV1, 'version') ?? fieldsV1,
        ...(subresource && { subresource }),
      };
    });

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

/** Orders by operation, then by age, then by name, then by subresource. */
function compareOwners(a: ManagedFields, b: ManagedFields): number {
  const [one, other] = [a, b].map(
    ({ operation, time = '', manager, subresource = '' }) =>
      `${operation}\n${time}\n${manager}\n${subresource}`,
  );
  if (one === other) return 0;
  return one! < other! ? -1 : 1;
}
