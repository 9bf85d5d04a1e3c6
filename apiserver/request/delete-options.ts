import { z } from 'zod';
import { toJSONSchema } from '../../registry/schema/schema.js';

const DeleteOptions = z.object({
  propagationPolicy: z
    .enum(['Orphan', 'Background', 'Foreground'])
    .optional()
    .describe('What becomes of dependents, of kinds that take finalizers.'),
  dryRun: z
    .array(z.enum(['All']))
    .max(1)
    .optional()
    .describe('All: nothing is stored.'),
  preconditions: z
    .object({
      uid: z.string().optional().describe('Must be its uid.'),
      resourceVersion: z.string().optional().describe('Must be its version.'),
    })
    .optional()
    .describe('What must hold.'),
  gracePeriodSeconds: z
    .number()
    .int()
    .min(Number.MIN_SAFE_INTEGER)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('Ignored.'),
  orphanDependents: z.boolean().optional().describe('The former propagationPolicy.'),
});

/** The options of a deletion as they are sent (Kubernetes API, DeleteOptions). */
export type SentDeleteOptions = z.infer<typeof DeleteOptions>;

/** The schema of the options of a deletion, without apiVersion and kind. */
export const deleteOptionsSchema = toJSONSchema(DeleteOptions, 'DeleteOptions');
