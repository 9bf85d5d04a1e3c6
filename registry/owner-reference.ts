import type { AnyKind, KindObject, OwnerReference } from './kind.js';

/** Returns the name of the Account that owns an object, if the kind is owned. */
export function ownerName({ owner }: AnyKind, { spec, status }: KindObject): unknown {
  if (owner === 'spec.account') return spec.account;
  return owner === 'status.account' ? status?.account : undefined;
}

/** Returns an ownerReference (docs/design/kubernetes.md#metadata). */
export const ownerReference = (kind: AnyKind, { metadata }: KindObject): OwnerReference => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  name: metadata.name,
  uid: metadata.uid,
});
