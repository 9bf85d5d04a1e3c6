import type { Write } from '../../../storage/storage.js';
import { clone, type EncodedObject, encode } from '../../encoded-object.js';
import type { AnyKind, KindObject } from '../../kind.js';
import type { Limits } from '../../limits/limit-settings.js';
import type { Registry } from '../registry.js';

/** An object that a transaction wrote; without `object` it is removed. */
export interface StagedObject {
  readonly kind: AnyKind;
  readonly before: EncodedObject | undefined;
  readonly object: KindObject | undefined;
}

/** Returns the writes of objects that have changed, and those that get the revision of the commit. */
export function stagedWrites(
  staged: Iterable<readonly [string, StagedObject]>,
  registry: Registry,
  limits: Limits,
): { writes: Write[]; written: KindObject[] } {
  const writes: Write[] = [];
  const written: KindObject[] = [];
  for (const [key, { kind, before, object }] of staged) {
    if (!object) {
      if (before) writes.push({ delete: key });
      continue;
    }
    const value = encode(registry.storedView(kind), object);
    if (before?.equals(value)) continue;
    const expires = kind.expires?.(object, limits);
    const decoded = clone(object);
    writes.push({ put: key, value, decoded, ...(expires !== undefined && { expires }) });
    written.push(object);
  }
  return { writes, written };
}
