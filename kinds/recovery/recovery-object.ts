import { z } from 'zod';
import type { KindObject } from '../../registry/kind.js';
import { timestamp } from '../signin/schema-types.js';

/** The status of a Recovery. */
export const RecoveryStatus = z.object({
  account: z.string().describe('The Account whose passkeys are lost.'),
  phase: z
    .enum(['Waiting', 'Completed', 'Cancelled'])
    .describe(
      'Waiting; Completed once the passkeys were removed; Cancelled where someone stopped it before.',
    ),
  startedBy: z.enum(['Person', 'Operator']).describe('Who started it.'),
  startedFrom: z
    .string()
    .max(140)
    .optional()
    .describe('The browser it was started from; absent where an operator started it.'),
  startedTimestamp: timestamp().describe('When it was started.'),
  halfwayTimestamp: timestamp().describe('When it is announced by mail again.'),
  readyTimestamp: timestamp().describe('When the wait is over, and the passkeys are removed.'),
  endedTimestamp: timestamp().optional().describe('When it was completed or cancelled.'),
});

/** What is kept of a Recovery and never shown. */
export const RecoveryInternal = z.object({
  /**
   * SHA-256 (base64url) of the token in each mail, by which it can be cancelled without a sign-in.
   */
  cancelTokens: z.array(z.string()),
  /** Announcements that were made. */
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
