import type { AnyKind, Call, KindObject } from '../kind.js';
import { tooLongValue } from '../status/field-errors.js';
import type { Cause } from '../status/status.js';

/** Returns the stored size of the metadata that callers influence, in bytes. */
function sizeOf({ metadata }: KindObject): number {
  const { labels, annotations, ownerReferences, finalizers, managedFields } = metadata;
  return Buffer.byteLength(
    JSON.stringify({ labels, annotations, ownerReferences, finalizers, managedFields }),
  );
}

/**
 * Returns a cause if the metadata of an object with an owner grows beyond
 * `limits.ownedMetadataSize`. Metadata that was larger before may stay.
 */
export function metadataSizeFaults(
  kind: AnyKind,
  next: KindObject,
  old: KindObject | undefined,
  { caller, settings }: Call,
): Cause[] {
  const { metadata } = next;
  if (
    !kind.owner ||
    caller.type === 'System' ||
    (!metadata.labels &&
      !metadata.annotations &&
      !metadata.ownerReferences &&
      !metadata.finalizers &&
      !metadata.managedFields)
  ) {
    return [];
  }
  const max = settings.limits.ownedMetadataSize;
  const size = sizeOf(next);
  if (size <= max || (old && size <= sizeOf(old))) return [];
  return [
    tooLongValue(
      'metadata',
      `labels, annotations, owner references and managed fields may not be more than ${max} bytes together (got ${size})`,
    ),
  ];
}
