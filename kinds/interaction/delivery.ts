import type { RecordDelivery } from '../../mail/worker.js';
import type { Store } from '../../registry/store.js';
import { Interaction } from './interaction.js';

/**
 * Writes what became of a sign-in's mail into its Interaction, where its browser watches it, as
 * long as that is the mail it waits for.
 */
export const noteDelivery =
  (store: Store): RecordDelivery =>
  async (order, id, state) => {
    if (!('signIn' in order) || order.interaction === undefined) return;
    const { interaction: name } = order;
    await store.change(store.systemCall(), async (tx) => {
      const held = await tx.get(Interaction, name);
      if (
        held?.internal.email?.id !== id ||
        !held.status.emailChallenge ||
        held.status.emailChallenge.deliveryState === state
      )
        return;
      await tx.update(Interaction, name, ({ status }) => {
        delete status.emailChallenge!.deliveryState;
        if (state !== undefined) status.emailChallenge!.deliveryState = state;
      });
    });
  };
