import type { InteractionAccount } from '../api.js';
import { canUsePasskeys } from '../base/passkeys.js';

const stored = 'vestibule.setup';
const month = 30 * 24 * 3_600_000;

/** Notes that setup was offered, so that it is not for 30 days in this browser. */
export function setupOffered(): void {
  try {
    localStorage.setItem(stored, String(Date.now()));
  } catch {
    /* storage is off: it is offered again */
  }
}

function offeredLately(): boolean {
  try {
    return Date.now() - Number(localStorage.getItem(stored)) < month;
  } catch {
    return false;
  }
}

/** Whether a passkey is to be offered: there is none yet, or none on this device. */
export const passkeyDue = (
  account: InteractionAccount | undefined,
  crossDevice: boolean,
): boolean =>
  canUsePasskeys() && (crossDevice || Boolean(account?.setup.missing.includes('passkey')));

/** Whether setup is to be offered: there is something to ask for, and it was not put off recently. */
export const setupDue = (account: InteractionAccount | undefined, crossDevice: boolean): boolean =>
  (Boolean(account?.setup.missing.includes('displayName')) || passkeyDue(account, crossDevice)) &&
  !offeredLately();
