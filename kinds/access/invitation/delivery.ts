import type { DeliveryState } from '../../../mail/worker.js';
import type { Store } from '../../../registry/store/store.js';
import { Invitation } from './invitation.js';

/** Writes the delivery state of the mail of an Invitation that is still pending into its status. */
export const recordInvitationDelivery = (
  store: Store,
  name: string,
  state: DeliveryState,
): Promise<void> =>
  store.change(store.systemCall(), async (tx) => {
    const invitation = await tx.get(Invitation, name);
    if (invitation?.status.phase !== 'Pending' || invitation.status.deliveryState === state) return;
    await tx.update(Invitation, name, ({ status }) => {
      delete status.deliveryState;
      if (state !== undefined) status.deliveryState = state;
    });
  });
