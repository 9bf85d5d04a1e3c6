import { z } from 'zod';
import { defineAction } from '../../../registry/action.js';
import type { Call } from '../../../registry/kind.js';
import { perMinute } from '../../../registry/limits/rate-limit.js';
import { notFound } from '../../../registry/status/status.js';
import { digest } from '../../../security/keyring.js';
import { linkToken } from '../../signin/schema-types.js';
import { cancelRecovery, Recovery } from './recovery.js';

/** Limits cancellations by client network: tokens cannot be guessed, but each attempt is a read. */
const cancelLimit = perMinute('recovery-cancel', 'recoveryCancelsPerNetwork');

/**
 * POST recoveries/<name>/cancel: cancels a waiting recovery with the token from any of its mails,
 * without a sign-in. Signed-in owners and operators delete it instead. Throws the same 404 for a
 * wrong token and an absent recovery.
 */
export const cancelByToken = defineAction({
  of: Recovery,
  subresource: 'cancel',
  verb: 'create',
  kind: 'RecoveryCancellation',
  limit: cancelLimit,
  description: 'Cancels the recovery with the token from any mail about it.',
  spec: z.object({
    token: linkToken().describe('The token from the mail.'),
  }),
  run: (call: Call, { metadata: { name } }, { spec: { token } }) =>
    call.change(async (tx) => {
      const recovery = await tx.get(Recovery, name);
      if (!recovery?.internal.cancelTokens.includes(digest(token))) throw notFound(Recovery, name);
      return cancelRecovery(tx, call, recovery);
    }),
});
