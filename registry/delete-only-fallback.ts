import type { Write } from '../storage/storage.js';

/**
 * Deletes that a store takes which has no room left, in place of what else would have been written,
 * and what is done once they are made (docs/design/storage.md#no-space).
 */
export interface DeleteOnlyFallback {
  readonly writes: readonly Write[];
  made?(): void;
}

/**
 * What is left of several pieces of a commit in a store without room: their deletes, where each can
 * do with those; else nothing. Where a piece does not say, it can if it deletes alone.
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
  if (!fallbacks.every((one) => one !== undefined)) return undefined;
  const writes = fallbacks.flatMap((one) => one.writes);
  return writes.length > 0
    ? {
        writes,
        made() {
          for (const one of fallbacks) one.made?.();
        },
      }
    : undefined;
}
