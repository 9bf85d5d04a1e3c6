import { z } from 'zod';
import type { KindObject } from '../../../registry/kind.js';
import { timestamp } from '../../signin/schema-types.js';

/** The status of a Recovery. */
export const RecoveryStatus = z.object({
  account: z.string().describe('The Account whose passkeys are lost.'),
  phase: z
    .enum(['Waiting', 'Completed', 'Cancelled'])
    .describe(
      'Waiting; Completed after the passkeys were removed; Cancelled if it was stopped before.',
    ),
  startedBy: z
    .enum(['Person', 'Operator'])
    .describe('Whether the owner or an operator started it.'),
  startedFrom: z
    .string()
    .max(140)
    .optional()
    .describe('The browser it was started from; absent if an operator started it.'),
  startedTimestamp: timestamp().describe('When it was started.'),
  halfwayTimestamp: timestamp().describe('When the next mail about it is sent.'),
  readyTimestamp: timestamp().describe('When the wait ends and the passkeys are removed.'),
  endedTimestamp: timestamp().optional().describe('When it was completed or cancelled.'),
});

/** The internal part of a Recovery, which is never shown. */
export const RecoveryInternal = z.object({
  /**
   * SHA-256 (base64url) of the token in each mail, which cancels the recovery without a sign-in.
   */
  cancelTokens: z.array(z.string()),
  /** The announcements that were sent. */
  announced: z.array(z.string()),
  /** The store's epoch when the recovery was started; absent means 0. */
  epoch: z.number().int().optional(),
});

/** A Recovery as the server holds it. */
export type RecoveryObject = KindObject<
  Record<string, never>,
  z.infer<typeof RecoveryStatus>,
  z.infer<typeof RecoveryInternal>
>;
