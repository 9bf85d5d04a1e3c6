import type { AnyKind, Call, KindObject } from './kind.js';
import { tooLongValue } from './field-errors.js';
import type { Cause } from './status.js';

/** Returns the stored size of labels, annotations and owner references in bytes. */
function sizeOf({ metadata: { labels, annotations, ownerReferences } }: KindObject): number {
  return Buffer.byteLength(JSON.stringify({ labels, annotations, ownerReferences }));
}

/**
 * Returns a cause if the metadata of an object that an account owns grows beyond
 * `limits.ownedMetadataSize`. Metadata that was larger before may stay.
 */
export function metadataSizeFaults(
  kind: AnyKind,
  next: KindObject,
  old: KindObject | undefined,
  { caller, settings }: Pick<Call, 'caller' | 'settings'>,
): Cause[] {
  const { metadata } = next;
  if (
    !kind.owner ||
    caller.type === 'System' ||
    (!metadata.labels && !metadata.annotations && !metadata.ownerReferences)
  )
    return [];
  const max = settings.limits.ownedMetadataSize;
  const size = sizeOf(next);
  if (size <= max || (old && size <= sizeOf(old))) return [];
  return [
    tooLongValue(
      'metadata',
      `labels, annotations and owner references may not be more than ${max} bytes together (got ${size})`,
    ),
  ];
}
