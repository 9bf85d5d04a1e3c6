import { z } from 'zod';
import { digest } from '../../security/keyring.js';
import { defineAction } from '../../registry/action.js';
import type { Call } from '../../registry/kind.js';
import { perMinute } from '../../registry/rate-limit.js';
import { notFound } from '../../registry/status.js';
import { cancelRecovery, Recovery } from './recovery.js';
import type { RecoveryObject } from './recovery-object.js';

/** Tries to cancel, by client network: a token cannot be guessed, and each try is a read. */
const cancelLimit = perMinute('recovery-cancel', 'recoveryCancelsPerNetwork');

/**
 * POST recoveries/<name>/cancel: stops a recovery that waits, by the token of any of its mails,
 * without a sign-in. Who is signed in to the account, or runs the service, deletes it instead. A
 * token that is not of it is answered as a recovery that is not there.
 */
export const cancelByToken = defineAction({
  of: Recovery,
  subresource: 'cancel',
  verb: 'create',
  kind: 'RecoveryCancellation',
  limit: cancelLimit,
  description: 'Cancels the recovery, by the token of any mail about it.',
  spec: z.object({
    token: z
      .string()
      .regex(/^[A-Za-z0-9_-]{43}$/)
      .describe('The token from the mail.'),
  }),
  run: (call: Call, { metadata: { name } }, { spec: { token } }) =>
    call.change(async (tx) => {
      const recovery = (await tx.get(Recovery, name)) as RecoveryObject | undefined;
      if (!recovery?.internal.cancelTokens.includes(digest(token))) throw notFound(Recovery, name);
      return cancelRecovery(tx, call, recovery);
    }),
});
