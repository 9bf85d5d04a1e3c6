import { grantName } from '../../kinds/apps/grant.js';
import { toStatusError } from '../../registry/status/storage-errors.js';
import { digest } from '../../security/keyring.js';
import type { SignedIn } from '../adapter/accounts.js';
import { signInFromIndex } from '../adapter/indexes.js';
import type { ProviderServices } from '../context/context.js';
import { currentUnitOfWork } from '../context/current-request.js';
import { copiesPrefix } from '../context/records.js';

/** Returns the key of a library Grant's authentication context. */
export const authenticationContextKey = (
  account: string,
  client: string,
  grantId: string,
): string => copiesPrefix(grantName(account, client)) + digest(grantId);

/**
 * Returns the sign-in that a library Grant and its tokens derive from; it outlives the session.
 * Returns nothing for Grants of earlier releases.
 */
export async function signInOfGrant(
  services: ProviderServices,
  account: string,
  client: string,
  grantId: string,
): Promise<SignedIn> {
  const key = authenticationContextKey(account, client, grantId);
  const unitOfWork = currentUnitOfWork();
  const context = unitOfWork
    ? await unitOfWork.read(key)
    : (await toStatusError(services.store.storage.get(key))).entry;
  return context ? signInFromIndex(context.value) : {};
}
