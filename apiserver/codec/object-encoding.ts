import type { EncodedObject } from '../../registry/encoded-object.js';
import type { AnyKind, Call, KindObject } from '../../registry/kind.js';

/** Returns an object as it is sent. Only this and EncodedObject.wire remove `internal`. */
export function wireObject(
  { apiVersion, kind }: Pick<AnyKind, 'apiVersion' | 'kind'>,
  { metadata, spec, status }: KindObject,
): Record<string, unknown> {
  const { name, resourceVersion, ...rest } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { resourceVersion, name, ...rest },
    spec,
    status,
  };
}

/**
 * Returns the bytes of an object in a list or watch: the stored ones, unless status depends on the
 * caller.
 */
export function wireBytes(
  stored: EncodedObject,
  call: Pick<Call, 'caller' | 'now'>,
  revision?: number,
): Buffer {
  const { kind } = stored;
  return kind.strategy.status
    ? Buffer.from(JSON.stringify(wireObject(kind, objectForCaller(stored, call, revision))))
    : stored.wire(revision);
}

/** Returns an object for a list or watch, which must not be changed. */
export function objectForCaller(
  stored: EncodedObject,
  call: Pick<Call, 'caller' | 'now'>,
  revision?: number,
): KindObject {
  const { status } = stored.kind.strategy;
  if (!status) return stored.object;
  const object = stored.parse();
  if (revision !== undefined) object.metadata.resourceVersion = String(revision);
  status(object, call);
  return object;
}
