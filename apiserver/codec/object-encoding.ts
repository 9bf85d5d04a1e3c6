import { apiVersion, type AnyKind, type Call, type KindObject } from '../../registry/kind.js';
import type { EncodedObject } from '../../registry/encoded-object.js';

/** An object on the wire: the one place, with Stored.wire, that cuts `internal` off. */
export function wireObject(
  kind: Pick<AnyKind, 'kind'>,
  { metadata, spec, status }: KindObject,
): Record<string, unknown> {
  const { name, resourceVersion, ...rest } = metadata;
  return {
    apiVersion,
    kind: kind.kind,
    metadata: { resourceVersion, name, ...rest },
    spec,
    status,
  };
}

/**
 * A stored object as this caller sees it in a list or watch: its bytes, unless something is worked
 * out for each caller.
 */
export function wireBytes(
  stored: EncodedObject,
  call: Pick<Call, 'caller' | 'now'>,
  revision?: number,
): Buffer {
  const { kind } = stored;
  return kind.strategy.status
    ? Buffer.from(JSON.stringify(wireObject(kind, shownObject(stored, call, revision))))
    : stored.wire(revision);
}

/** The same as an object; not to be changed. */
export function shownObject(
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
