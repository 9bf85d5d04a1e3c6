import { randomUUID } from 'node:crypto';
import type { AnyKind, Call, Metadata } from '../../kind.js';
import { toTimestamp } from '../../schema/timestamp.js';

/** Returns the metadata of a new object: what its draft may say, and what the service adds. */
export function newMetadata(
  { allowsFinalizers }: AnyKind,
  name: string,
  draft: Partial<Metadata>,
  { now, dryRun }: Pick<Call, 'now' | 'dryRun'>,
): Metadata {
  const { generateName, labels, annotations, ownerReferences, finalizers = [] } = draft;
  return {
    name,
    ...(generateName && { generateName }),
    uid: randomUUID(),
    // As in Kubernetes, a dry run gives none: clients know a creation by that.
    resourceVersion: dryRun ? '' : '0',
    generation: 1,
    creationTimestamp: toTimestamp(now),
    ...(labels && Object.keys(labels).length > 0 && { labels }),
    ...(annotations && { annotations }),
    ...(ownerReferences && { ownerReferences }),
    ...(allowsFinalizers && finalizers.length > 0 && { finalizers }),
  };
}
