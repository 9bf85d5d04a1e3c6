import type { RecordDelivery } from '../mail/worker.js';
import type { Store } from '../registry/store/store.js';
import { recordInvitationDelivery } from './access/invitation/delivery.js';
import { recordNewAddressDelivery } from './accountactions/new-address-challenge.js';
import { recordSignInDelivery } from './interaction/delivery.js';

/** Writes the delivery state of a mail where the page that waits for it sees it. */
export const noteDelivery =
  (store: Store): RecordDelivery =>
  async (order, id, state) => {
    if ('invitation' in order) return recordInvitationDelivery(store, order.object, state);
    if ('newAddress' in order && order.session !== undefined) {
      return recordNewAddressDelivery(store, order.session, id, state);
    }
    if ('signIn' in order && order.interaction !== undefined) {
      return recordSignInDelivery(store, order.interaction, id, state);
    }
  };
