import { grantName } from '../../kinds/grant.js';
import { toStatusError } from '../../registry/storage-errors.js';
import { digest } from '../../security/keyring.js';
import type { SignedIn } from '../adapter/accounts.js';
import { currentUnitOfWork } from '../context/unit-of-work.js';
import type { ProviderServices } from '../context/context.js';
import { signInOf } from '../adapter/indexes.js';
import { copiesPrefix } from '../context/records.js';

/** Where the stamp of a library Grant stands. */
export const stampKey = (account: string, client: string, grantId: string): string =>
  copiesPrefix(grantName(account, client)) + digest(grantId);

/**
 * How the sign-in was done that a library Grant, and so every token under it, goes back to; it
 * outlives the session. Nothing is known of Grants that an older release made.
 */
export async function grantSignIn(
  services: ProviderServices,
  account: string,
  client: string,
  grantId: string,
): Promise<SignedIn> {
  const key = stampKey(account, client, grantId);
  const unitOfWork = currentUnitOfWork();
  const stamp = unitOfWork
    ? await unitOfWork.get(key)
    : (await toStatusError(services.storage.get(key))).entry?.value;
  return stamp ? signInOf(stamp) : {};
}
