import type { Check, Write } from '../../../storage/storage.js';
import { deleteOnlyFallbackOf } from '../../delete-only-fallback.js';
import type { StagedWrites } from '../../kind.js';

/**
 * Returns the checks and writes of a transaction together with those of other components. Of several
 * deletes of one key there is one.
 */
export function mergeParts(own: StagedWrites, parts: readonly StagedWrites[]): StagedWrites {
  const fallback = deleteOnlyFallbackOf([own, ...parts]);
  const read = new Set(own.checks.flatMap(({ key, end }) => (end === undefined ? [key] : [])));
  const checks: Check[] = [...own.checks];
  const writes: Write[] = [...own.writes];
  const deleted = new Set(writes.flatMap((write) => ('delete' in write ? [write.delete] : [])));
  for (const part of parts) {
    checks.push(...part.checks.filter(({ key, end }) => end !== undefined || !read.has(key)));
    for (const write of part.writes) {
      if ('delete' in write && deleted.has(write.delete)) continue;
      if ('delete' in write) deleted.add(write.delete);
      writes.push(write);
    }
  }
  return { checks, writes, ...(fallback && { deleteOnlyFallback: fallback }) };
}
