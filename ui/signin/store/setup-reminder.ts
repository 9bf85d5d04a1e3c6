import type { InteractionAccount } from '../../api.js';
import { canUsePasskeys } from '../../base/passkeys/passkeys.js';

const storageKey = 'vestibule.setup';
const reminderIntervalMs = 30 * 24 * 3_600_000;

/** Records that setup was offered, so that this browser does not offer it again for 30 days. */
export function recordSetupOffer(): void {
  try {
    localStorage.setItem(storageKey, String(Date.now()));
  } catch {
    /* storage is off: setup is offered again */
  }
}

function wasOfferedRecently(): boolean {
  try {
    return Date.now() - Number(localStorage.getItem(storageKey)) < reminderIntervalMs;
  } catch {
    return false;
  }
}

/** Returns whether to offer a passkey: the account has none, or none on this device. */
export const shouldOfferPasskey = (
  account: InteractionAccount | undefined,
  crossDevice: boolean,
): boolean =>
  canUsePasskeys() && (crossDevice || Boolean(account?.setup.missing.includes('passkey')));

/**
 * Returns whether to offer setup: the app requires a name, or something is missing and was not offered
 * recently.
 */
export const shouldOfferSetup = (
  account: InteractionAccount | undefined,
  crossDevice: boolean,
): boolean =>
  Boolean(account?.setup.required) ||
  ((Boolean(account?.setup.missing.includes('displayName')) ||
    shouldOfferPasskey(account, crossDevice)) &&
    !wasOfferedRecently());
