import { z } from 'zod';

const labelKey = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** What a caller may say in metadata; the rest is the service's (`kubernetes.md` 3). */
export const CallerMetadata = z.object({
  labels: z.record(z.string().max(317).regex(labelKey), z.string().max(63).regex(/^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/)).optional().describe('Keys and values to select by.'),
  annotations: z.record(z.string().max(317).regex(labelKey), z.string().max(262_144)).optional().describe('Free notes.'),
  ownerReferences: z.array(z.object({
    apiVersion: z.string().max(317).describe('Group and version of the owner.'),
    kind: z.string().max(63).describe('Kind of the owner.'),
    name: z.string().max(253).describe('Name of the owner.'),
    uid: z.string().max(64).describe('uid of the owner.'),
    controller: z.boolean().optional().describe('It is the managing owner.'),
    blockOwnerDeletion: z.boolean().optional().describe('Accepted without effect.'),
  })).max(16).optional().describe('Objects this one depends on.'),
});

/** Metadata as it is sent (specification 2). */
export const Metadata = CallerMetadata.extend({
  name: z.string().describe('Name of the object, unique among its kind.'),
  uid: z.string().describe('Unique in time and space.'),
  resourceVersion: z.string().describe('The store’s revision of the last change; sent back in a patch for conflict detection.'),
  generation: z.number().int().describe('Rises by one when spec changes.'),
  creationTimestamp: z.string().datetime().describe('When the object was created.'),
  deletionTimestamp: z.string().datetime().optional().describe('Since when a deletion is being carried out.'),
});
