import type { Call, ObjectOf } from '../../registry/kind.js';
import type { Account } from '../account/account.js';
import { naming } from '../signin/interaction-naming.js';
import { accountFacts, signedInNow } from '../account/policy-facts.js';
import type { Method } from '../session/session.js';

/** The built-in Client of the account page, where a new passkey can be added. */
const accountPage = 'vestibule-account';
const emailed: readonly Method[] = ['EmailCode', 'EmailLink'];

/**
 * Whether policy would still let this person in without a passkey: begin by an emailed proof, and
 * sign in to the account page by it (E7).
 */
export async function entersWithoutPasskey(
  call: Call,
  { metadata, status }: ObjectOf<typeof Account>,
): Promise<boolean> {
  const browser = { type: 'Browser', interaction: 'a'.repeat(32) };
  for (const method of emailed) {
    const begins = await call.decide('interactions/login', {
      caller: browser,
      kind: naming,
      name: browser.interaction,
      client: accountPage,
      method,
      record: 'never',
    });
    const facts = await accountFacts(
      call,
      { account: metadata.name, address: status.email.address, passkeys: 0 },
      signedInNow(method, call.now),
    );
    if (
      begins.allowed &&
      (await call.decide('signIn', { ...facts, client: accountPage, record: 'never' })).allowed
    )
      return true;
  }
  return false;
}
