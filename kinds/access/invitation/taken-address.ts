import type { Call, Transaction } from '../../../registry/kind.js';
import { isGivenUpAddress } from '../../people/account/given-up-address.js';
import { operators } from '../../people/group/group.js';
import { canonicalAddress } from '../../signin/email-address.js';
import { pendingInvitation } from './pending.js';

/**
 * Returns whether an account that verifies the address now only has its mailbox to show for rights
 * that are older: another account gave the address up, or a Group or the settings name it
 * (docs/design/security.md#strength-at-an-address). An Invitation to all these Groups vouches for the
 * person.
 */
export async function isTakenAddress(
  tx: Transaction,
  call: Call,
  address: string,
): Promise<boolean> {
  const groups = await groupsNaming(call, address);
  if (groups.size === 0 && !(await isGivenUpAddress(tx, address))) return false;
  return !(await isVouchedFor(tx, call, address));
}

/** Returns whether a pending Invitation is to every Group that names the address. */
export async function isVouchedFor(tx: Transaction, call: Call, address: string): Promise<boolean> {
  const pending = await pendingInvitation(tx, address, call);
  if (!pending) return false;
  const groups = await groupsNaming(call, address);
  return [...groups].every((name) => pending.groups.includes(name));
}

async function groupsNaming(
  { ports, settings }: Pick<Call, 'ports' | 'settings'>,
  address: string,
): Promise<ReadonlySet<string>> {
  const email = canonicalAddress(address);
  const named = settings.operators.includes(email) ? [operators] : [];
  return new Set([...(await ports.groupsOf(email)), ...named]);
}
