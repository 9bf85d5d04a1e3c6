import { grantName } from '../kinds/grant.js';
import { guard } from '../registry/guard.js';
import { digest } from '../registry/keys.js';
import type { SignedIn } from './accounts.js';
import { currentExchange } from './exchange.js';
import type { Foundation } from './foundation.js';
import { signInOf } from './indexes.js';
import { copiesPrefix } from './records.js';

/** Where the stamp of a library Grant stands. */
export const stampKey = (account: string, client: string, grantId: string): string =>
  copiesPrefix(grantName(account, client)) + digest(grantId);

/**
 * How the sign-in was done that a library Grant, and so every token under it, goes back to; it
 * outlives the session. Nothing is known of Grants that an older release made.
 */
export async function signInBehind(
  on: Foundation,
  account: string,
  client: string,
  grantId: string,
): Promise<SignedIn> {
  const key = stampKey(account, client, grantId);
  const exchange = currentExchange();
  const stamp = exchange
    ? await exchange.get(key)
    : (await guard(on.storage.get(key))).entry?.value;
  return stamp ? signInOf(stamp) : {};
}
