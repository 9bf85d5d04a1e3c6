import { prefixRange, type Storage } from '../storage/storage.js';
import type { AnyKind } from './kind.js';

/** How many objects of each kind the store has, by resource. */
export async function countObjects(
  storage: Storage,
  kinds: readonly AnyKind[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { resource } of kinds)
    counts.set(resource, await storage.count(prefixRange(`objects/${resource}/`)));
  return counts;
}
