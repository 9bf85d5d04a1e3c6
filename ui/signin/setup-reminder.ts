import type { InteractionAccount } from '../api.js';
import { canUsePasskeys } from '../base/passkeys.js';

const storageKey = 'vestibule.setup';
const reminderIntervalMs = 30 * 24 * 3_600_000;

/** Notes that setup was offered, so that it is not for 30 days in this browser. */
export function recordSetupOffer(): void {
  try {
    localStorage.setItem(storageKey, String(Date.now()));
  } catch {
    /* storage is off: it is offered again */
  }
}

function wasOfferedRecently(): boolean {
  try {
    return Date.now() - Number(localStorage.getItem(storageKey)) < reminderIntervalMs;
  } catch {
    return false;
  }
}

/** Whether a passkey is to be offered: there is none yet, or none on this device. */
export const shouldOfferPasskey = (
  account: InteractionAccount | undefined,
  crossDevice: boolean,
): boolean =>
  canUsePasskeys() && (crossDevice || Boolean(account?.setup.missing.includes('passkey')));

/** Whether setup is to be offered: there is something to ask for, and it was not put off recently. */
export const shouldOfferSetup = (
  account: InteractionAccount | undefined,
  crossDevice: boolean,
): boolean =>
  (Boolean(account?.setup.missing.includes('displayName')) ||
    shouldOfferPasskey(account, crossDevice)) &&
  !wasOfferedRecently();
