import type { FieldTracker, TrackedWrite } from '../field-tracker.js';
import { toTimestamp } from '../schema/timestamp.js';
import { tooLongValue } from '../status/field-errors.js';
import { invalid } from '../status/status.js';
import { decodeOwners, encodeOwners } from './entries.js';
import { type ManagedFields, ownersAfterUpdate } from './managers.js';
import { trackedFields, trackedParts } from './tracked-fields.js';

/** The bytes of metadata.managedFields in an object. */
const maxSize = 256 << 10;

/**
 * Returns a tracker of updates by a manager: it owns what it changes, of objects with owners. Its name
 * is asked for only then. `apiVersion` is that of the writes, by default the hub's.
 */
export const updatesBy = (
  nameOf: () => string,
  apiVersion?: string,
  subresource?: 'status',
): FieldTracker => ({
  subresource,
  track(write) {
    const { kind, schema, next, old, now } = write;
    const { managedFields } = next.metadata;
    if (!managedFields) return;
    const by = { manager: nameOf(), apiVersion: apiVersion ?? kind.apiVersion };
    const owners = trackedParts(schema).reduce<readonly ManagedFields[]>(
      (others, part) =>
        ownersAfterUpdate(
          schema,
          old && trackedFields(old, part),
          trackedFields(next, part),
          others,
          { ...by, ...(part && { subresource: part }) },
          toTimestamp(now),
        ),
      decodeOwners(managedFields, kind),
    );
    setOwners(write, owners);
  },
});

/** Stores the owners in the object; throws 422 if they need too much space. */
export function setOwners({ kind, next }: TrackedWrite, owners: readonly ManagedFields[]): void {
  const entries = encodeOwners(owners, kind);
  const size = Buffer.byteLength(JSON.stringify(entries));
  if (size > maxSize) {
    throw invalid(kind, next.metadata.name, [
      tooLongValue('metadata.managedFields', `may not be more than ${maxSize} bytes (got ${size})`),
    ]);
  }
  next.metadata.managedFields = entries;
}
