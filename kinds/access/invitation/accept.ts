import type { Call, ObjectOf, Transaction } from '../../../registry/kind.js';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import type { Account } from '../../people/account/account.js';
import { Group } from '../../people/group/group.js';
import { endWaitsOfAddress } from '../../people/passkey/delay-strength.js';
import { canonicalAddress } from '../../signin/email-address.js';
import { Invitation } from './invitation.js';
import { isMember, pendingInvitation } from './pending.js';
import { isVouchedFor } from './taken-address.js';

/**
 * Accepts the pending Invitation of the account's address, if there is one, in the commit of the
 * sign-in that verified the person: the Groups gain the address.
 */
export async function acceptInvitation(
  tx: Transaction,
  call: Call,
  { metadata, status: { email } }: ObjectOf<typeof Account>,
): Promise<void> {
  const pending = await pendingInvitation(tx, email.address, call);
  if (!pending) return;
  if (await isVouchedFor(tx, call, email.address)) await endWaitsOfAddress(tx, call, metadata.name);
  const { invitation, groups } = pending;
  const { name } = invitation.metadata;
  for (const group of groups) await joinGroup(tx, group, email.address);
  await tx.update(Invitation, name, (next) => {
    const { status } = next;
    status.phase = 'Accepted';
    status.account = metadata.name;
    status.acceptedTimestamp = toTimestamp(call.now);
    status.groups = [...groups];
    delete status.deliveryState;
    next.internal = undefined;
  });
  tx.after(() =>
    call.ports.audit('invitation.accepted', { account: metadata.name, invitation: name, groups }),
  );
}

async function joinGroup(tx: Transaction, name: string, address: string): Promise<void> {
  await tx.update(Group, name, (group) => {
    if (!isMember(group, address)) group.spec.members.push(canonicalAddress(address));
  });
}
