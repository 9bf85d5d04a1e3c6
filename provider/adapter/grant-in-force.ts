import type { AdapterPayload, GrantPayload } from 'oidc-provider';
import { Account } from '../../kinds/people/account/account.js';
import type { AccountObject, ProviderServices } from '../context/context.js';
import { withProviderErrors } from '../context/errors.js';
import { isGrant } from '../context/records.js';
import { accountObject } from './accounts.js';
import { commandClient } from './built-in-clients.js';

/** How many times all tokens of the command, or of all apps, ended. */
const countFor = (account: AccountObject | undefined, client: string | undefined): number =>
  account?.internal.tokensEnded?.[client === commandClient ? 'command' : 'apps'] ?? 0;

/**
 * Returns the payload of a library Grant with the count that it is valid under
 * (docs/design/security.md#taking-an-account-back). The account is the one that the request checked
 * its session against, so tokens that end in between include these.
 */
export const withTokensEnded = async (
  services: ProviderServices,
  payload: GrantPayload,
): Promise<GrantPayload> => ({
  ...payload,
  tokensEnded: countFor(await accountObject(services, payload.accountId), payload.clientId),
});

/** Returns the payload of a library Grant, or undefined if its tokens have ended since. */
export async function ifInForce(
  services: ProviderServices,
  payload: AdapterPayload | undefined,
): Promise<AdapterPayload | undefined> {
  if (!payload || !isGrant('Grant', payload)) return undefined;
  const { accountId, clientId, tokensEnded = 0 } = payload;
  const account = await withProviderErrors(services.store.reader(Account).cached(accountId));
  return tokensEnded === countFor(account, clientId) ? payload : undefined;
}
