import type { Call, ObjectOf } from '../../../registry/kind.js';
import { accountPageClient } from '../../signin/account-page.js';
import { naming } from '../../signin/interaction-naming.js';
import type { Account } from '../account/account.js';
import { accountFacts, signedInNow } from '../account/policy-facts.js';
import type { Method } from '../session/session.js';

const emailMethods: readonly Method[] = ['EmailCode', 'EmailLink'];

/**
 * Returns true if policy would let this person sign in to the account page without a passkey, by an
 * emailed code or link.
 */
export async function canSignInWithoutPasskey(
  call: Call,
  { metadata, status }: ObjectOf<typeof Account>,
): Promise<boolean> {
  const browser = { type: 'Browser', interaction: 'a'.repeat(32) };
  for (const method of emailMethods) {
    const canBegin = await call.decideQuietly('interactions/login', {
      caller: browser,
      kind: naming,
      name: browser.interaction,
      client: accountPageClient,
      method,
    });
    const facts = await accountFacts(
      call,
      { account: metadata.name, address: status.email.address, passkeys: 0 },
      signedInNow(method, call.now),
    );
    if (
      canBegin.allowed &&
      (await call.decideQuietly('signIn', { ...facts, client: accountPageClient })).allowed
    ) {
      return true;
    }
  }
  return false;
}
