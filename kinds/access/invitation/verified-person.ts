import type { Call, Transaction } from '../../../registry/kind.js';
import { accountFacts, type Person, type SignInFacts } from '../../people/account/policy-facts.js';
import { pendingInvitation } from './pending.js';

/**
 * Returns the facts for `signUp` and `signIn` of a person whose address was verified in this commit.
 * The person is in the Groups of a pending Invitation already: the sign-in that accepts it adds them,
 * so a rule that asks for one must not refuse it.
 */
export async function verifiedFacts(
  tx: Transaction,
  call: Call,
  person: Person,
  signedIn: SignInFacts,
) {
  const facts = {
    newBrowser: !call.ports.knowsBrowser(person.address),
    ...(await accountFacts(call, person, signedIn)),
  };
  const pending = await pendingInvitation(tx, person.address, call);
  if (!pending) return facts;
  const groups = [...new Set([...facts.groups, ...pending.groups])].sort();
  return { ...facts, groups, invited: true };
}
