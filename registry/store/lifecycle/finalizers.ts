import type { AnyKind, KindObject, PropagationPolicy } from '../../kind.js';
import { toTimestamp } from '../../schema/timestamp.js';
import { forbiddenField, invalidValue } from '../../status/field-errors.js';
import type { Cause } from '../../status/status.js';

/** The finalizer of an object that goes after its dependents (Kubernetes: foreground deletion). */
export const foregroundDeletion = 'foregroundDeletion';
/** The finalizer of an object that goes after its dependents have lost their reference to it. */
export const orphan = 'orphan';

const finalizerOf: Readonly<Record<PropagationPolicy, string | undefined>> = {
  Foreground: foregroundDeletion,
  Orphan: orphan,
  Background: undefined,
};

/** Returns the finalizers of an object. */
export const finalizersOf = ({ metadata }: KindObject): readonly string[] =>
  metadata.finalizers ?? [];

/**
 * Returns the finalizers that keep an object when it is deleted; none if it goes at once. Without a
 * policy, what the object already waits for counts, as in Kubernetes.
 */
export function finalizersOnDelete(
  { allowsFinalizers }: AnyKind,
  object: KindObject,
  policy: PropagationPolicy | undefined,
): readonly string[] {
  if (!allowsFinalizers) return [];
  const present = finalizersOf(object);
  if (policy === undefined) return present;
  const wanted = finalizerOf[policy];
  const isOther = (finalizer: string) =>
    finalizer !== wanted && (finalizer === foregroundDeletion || finalizer === orphan);
  const kept = present.filter((finalizer) => !isOther(finalizer));
  return wanted === undefined || kept.includes(wanted) ? kept : [...kept, wanted];
}

/**
 * Makes an object one that is being deleted and waits for its finalizers; `now` in ms since the epoch.
 * Whether it is valid does not matter any more.
 */
export function keepForFinalizers(
  { metadata }: KindObject,
  finalizers: readonly string[],
  now: number,
): void {
  metadata.finalizers = [...finalizers];
  if (metadata.deletionTimestamp !== undefined) return;
  metadata.deletionTimestamp = toTimestamp(now);
  metadata.deletionGracePeriodSeconds = 0;
  metadata.generation += 1; // As in Kubernetes: a controller has something to observe.
}

/** Returns an object that was removed as one that waits for nothing. */
export function withoutFinalizers(object: KindObject): KindObject {
  if (finalizersOf(object).length === 0) return object;
  const { finalizers: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Whether a change removes the last finalizer of an object that is being deleted. */
export const isFinalized = (next: KindObject, old: KindObject | undefined): boolean =>
  old?.metadata.deletionTimestamp !== undefined &&
  finalizersOf(old).length > 0 &&
  finalizersOf(next).length === 0;

/** Returns the faults of finalizers that only the object before shows. */
export function finalizerFaults(next: KindObject, old: KindObject | undefined): Cause[] {
  const finalizers = finalizersOf(next);
  const field = 'metadata.finalizers';
  const added = finalizers.filter((finalizer) => !old || !finalizersOf(old).includes(finalizer));
  if (old?.metadata.deletionTimestamp !== undefined && added.length > 0) {
    const found = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
    return [
      forbiddenField(
        field,
        `no new finalizers can be added if the object is being deleted, found new finalizers ${found}`,
      ),
    ];
  }
  return finalizers.includes(orphan) && finalizers.includes(foregroundDeletion)
    ? [invalidValue(field, `${orphan} and ${foregroundDeletion} cannot be both set`)]
    : [];
}
