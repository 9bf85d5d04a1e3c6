import type { DeliveryState } from '../../mail/worker.js';
import type { Store } from '../../registry/store/store.js';
import { Interaction } from './interaction.js';

/**
 * Writes the delivery state of a sign-in mail into its Interaction, which the browser watches.
 * Ignores mails that were replaced.
 */
export const recordSignInDelivery = (
  store: Store,
  name: string,
  id: string,
  state: DeliveryState,
): Promise<void> =>
  store.change(store.systemCall(), async (tx) => {
    const interaction = await tx.get(Interaction, name);
    if (
      interaction?.internal.email?.id !== id ||
      !interaction.status.emailChallenge ||
      interaction.status.emailChallenge.deliveryState === state
    ) {
      return;
    }
    await tx.update(Interaction, name, ({ status }) => {
      delete status.emailChallenge!.deliveryState;
      if (state !== undefined) status.emailChallenge!.deliveryState = state;
    });
  });
