import type { Write } from '../storage/storage.js';

/**
 * The deletes that replace a commit when the store is out of space, and a callback after they are
 * made (docs/design/storage.md#no-space).
 */
export interface DeleteOnlyFallback {
  readonly writes: readonly Write[];
  onCommitted?(): void;
}

/**
 * Returns the combined deletes of several parts of a commit. Undefined if a part needs its other
 * writes; a part without a fallback qualifies if it only deletes.
 */
export function deleteOnlyFallbackOf(
  parts: readonly {
    readonly writes: readonly Write[];
    readonly deleteOnlyFallback?: DeleteOnlyFallback;
  }[],
): DeleteOnlyFallback | undefined {
  const fallbacks = parts.map(
    ({ writes, deleteOnlyFallback }) =>
      deleteOnlyFallback ?? (writes.every((write) => 'delete' in write) ? { writes } : undefined),
  );
  if (!fallbacks.every((fallback) => fallback !== undefined)) return undefined;
  const writes = fallbacks.flatMap((fallback) => fallback.writes);
  return writes.length > 0
    ? {
        writes,
        onCommitted() {
          for (const fallback of fallbacks) fallback.onCommitted?.();
        },
      }
    : undefined;
}
