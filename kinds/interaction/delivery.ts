import type { RecordDelivery } from '../../mail/worker.js';
import type { Store } from '../../registry/store.js';
import { recordInvitationDelivery } from '../invitation/delivery.js';
import { Interaction } from './interaction.js';

/**
 * Writes the delivery state of a sign-in mail into its Interaction, which the browser watches, and
 * that of an invitation into its object. Ignores mails that were replaced.
 */
export const noteDelivery =
  (store: Store): RecordDelivery =>
  async (order, id, state) => {
    if ('invitation' in order) return recordInvitationDelivery(store, order.object, state);
    if (!('signIn' in order) || order.interaction === undefined) return;
    const { interaction: name } = order;
    await store.change(store.systemCall(), async (tx) => {
      const interaction = await tx.get(Interaction, name);
      if (
        interaction?.internal.email?.id !== id ||
        !interaction.status.emailChallenge ||
        interaction.status.emailChallenge.deliveryState === state
      )
        return;
      await tx.update(Interaction, name, ({ status }) => {
        delete status.emailChallenge!.deliveryState;
        if (state !== undefined) status.emailChallenge!.deliveryState = state;
      });
    });
  };
