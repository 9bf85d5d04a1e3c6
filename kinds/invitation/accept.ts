import type { Call, ObjectOf, Transaction } from '../../registry/kind.js';
import { toTimestamp } from '../../registry/timestamp.js';
import type { Account } from '../account/account.js';
import { Group, maxMembers } from '../group/group.js';
import { canonicalAddress } from '../signin/email-address.js';
import { Invitation } from './invitation.js';
import { mayStillInvite } from './inviter.js';
import { isPending, type InvitationObject } from './schema.js';

/** A pending Invitation, and those of its Groups that the person can join or is in. */
interface PendingInvitation {
  readonly invitation: InvitationObject;
  readonly groups: readonly string[];
}

/**
 * Returns the pending Invitation of an address, or undefined: also if who invited may not invite any
 * more, which ends it. The commit checks that it is still pending and that the Groups are unchanged.
 */
export async function pendingInvitation(
  tx: Transaction,
  address: string,
  call: Call,
): Promise<PendingInvitation | undefined> {
  const invitation = await tx.byUnique(Invitation, 'email', canonicalAddress(address));
  if (!invitation || !isPending(invitation, call.now)) return undefined;
  if (!(await mayStillInvite(tx, invitation, call))) {
    await revokeInvitation(tx, invitation);
    return undefined;
  }
  const groups: string[] = [];
  for (const name of invitation.spec.groups) {
    const group = await tx.get(Group, name);
    if (group && (isMember(group, address) || group.spec.members.length < maxMembers))
      groups.push(name);
  }
  return { invitation, groups };
}

/** Ends an Invitation whose inviter may not invite any more. */
export async function revokeInvitation(
  tx: Transaction,
  { metadata: { name } }: InvitationObject,
): Promise<void> {
  await tx.update(Invitation, name, ({ status }) => {
    status.phase = 'Revoked';
    delete status.deliveryState;
  });
}

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
  const { invitation, groups } = pending;
  const { name } = invitation.metadata;
  for (const group of groups) await joinGroup(tx, group, email.address);
  await tx.update(Invitation, name, ({ status }) => {
    status.phase = 'Accepted';
    status.account = metadata.name;
    status.acceptedTimestamp = toTimestamp(call.now);
    status.groups = [...groups];
    delete status.deliveryState;
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

const isMember = ({ spec }: ObjectOf<typeof Group>, address: string): boolean =>
  spec.members.some((member) => canonicalAddress(member) === canonicalAddress(address));
