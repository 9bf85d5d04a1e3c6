import type { AnyKind, KindObject, OwnerReference } from './kind.js';

/** Returns the name of the owner that an object names; undefined if its kind has none, or owns itself. */
export function ownerName({ owner }: AnyKind, object: KindObject): unknown {
  const [part, field = ''] = owner?.split('.') ?? [];
  return part === 'spec' || part === 'status' ? object[part]?.[field] : undefined;
}

/** Returns an ownerReference (docs/design/kubernetes.md#metadata). */
export const ownerReference = (kind: AnyKind, { metadata }: KindObject): OwnerReference => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  name: metadata.name,
  uid: metadata.uid,
});
