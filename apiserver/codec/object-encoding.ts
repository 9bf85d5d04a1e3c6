import type { EncodedObject } from '../../registry/encoded-object.js';
import { inVersion } from '../../registry/encoded-object.js';
import type { Call, KindObject } from '../../registry/kind.js';
import type { KindView } from '../../registry/versions/kind-view.js';

/** Returns an object as it is sent. Only this and EncodedObject.wire remove `internal`. */
export function wireObject(view: KindView, object: KindObject): Record<string, unknown> {
  const { name, resourceVersion, ...rest } = object.metadata;
  const { spec, status } = inVersion(view, object);
  return {
    apiVersion: view.apiVersion,
    kind: view.kind.kind,
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
  view: KindView,
  stored: EncodedObject,
  call: Pick<Call, 'caller' | 'now'>,
  revision?: number,
): Buffer {
  return stored.kind.strategy.status
    ? Buffer.from(JSON.stringify(wireObject(view, objectForCaller(stored, call, revision))))
    : stored.wire(revision, view);
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
