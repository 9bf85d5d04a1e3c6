import { z } from 'zod';
import { defineAction } from '../../../registry/action.js';
import { conflict } from '../../../registry/status/status.js';
import { Invitation } from './invitation.js';
import { assertMayInvite } from './inviter.js';
import { mailInvitation } from './prepare.js';
import { isPending } from './schema.js';

/**
 * POST invitations/<name>/mail: sends the mail of a pending Invitation once more, by someone who may
 * invite to its Groups and with the same limits.
 */
export const mailAgain = defineAction({
  of: Invitation,
  subresource: 'mail',
  verb: 'create',
  kind: 'InvitationMail',
  description: 'Sends the mail of a pending invitation again.',
  spec: z.object({}),
  run: (call, { metadata: { name } }) =>
    call.change(async (tx) => {
      const invitation = await tx.get(Invitation, name);
      if (!invitation?.spec.email || !isPending(invitation, call.now)) {
        throw conflict(Invitation, name, 'it is not pending any more');
      }
      await assertMayInvite(tx, invitation, call);
      await mailInvitation(tx, invitation, invitation.spec.email, call);
      return tx.update(Invitation, name, ({ status }) => {
        delete status.deliveryState;
      });
    }),
});
