import { randomUUID } from 'node:crypto';
import type { AnyKind, Call, Metadata } from '../../kind.js';
import { toTimestamp } from '../../schema/timestamp.js';

/**
 * Returns the metadata of a new object: what its draft may say, and what the service adds. Throws an
 * Error unless it has a namespace just if its kind is namespaced.
 */
export function newMetadata(
  { kind, scope, allowsFinalizers }: AnyKind,
  name: string,
  draft: Partial<Metadata>,
  { now, dryRun }: Pick<Call, 'now' | 'dryRun'>,
): Metadata {
  const { namespace, generateName, labels, annotations, ownerReferences, finalizers = [] } = draft;
  if (scope === 'Namespaced' && namespace === undefined) {
    throw new Error(`a ${kind} is created in a namespace: set metadata.namespace`);
  }
  if (scope === 'Cluster' && namespace !== undefined) {
    throw new Error(`a ${kind} is in no namespace (got "${namespace}")`);
  }
  return {
    name,
    ...(namespace !== undefined && { namespace }),
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
