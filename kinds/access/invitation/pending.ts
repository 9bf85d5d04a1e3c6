import type { Call, ObjectOf, Transaction } from '../../../registry/kind.js';
import { Group, maxMembers } from '../../people/group/group.js';
import { canonicalAddress } from '../../signin/email-address.js';
import { Invitation } from './invitation.js';
import { mayStillInvite } from './inviter.js';
import { type InvitationObject, isPending } from './schema.js';

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
  const mayInvite = await mayStillInvite(tx, invitation, call);
  if (mayInvite === false) await revokeInvitation(tx, invitation);
  if (!mayInvite) return undefined;
  const groups: string[] = [];
  for (const name of invitation.spec.groups) {
    const group = await tx.get(Group, name);
    if (group && (isMember(group, address) || group.spec.members.length < maxMembers)) {
      groups.push(name);
    }
  }
  return { invitation, groups };
}

/** Ends an Invitation whose inviter may not invite any more. */
export async function revokeInvitation(
  tx: Transaction,
  { metadata: { name } }: InvitationObject,
): Promise<void> {
  await tx.update(Invitation, name, (next) => {
    next.status.phase = 'Revoked';
    delete next.status.deliveryState;
    next.internal = undefined;
  });
}

/** Returns whether a Group lists the address as a member without an end. */
export const isMember = ({ spec }: ObjectOf<typeof Group>, address: string): boolean =>
  spec.members.some((member) => canonicalAddress(member) === canonicalAddress(address));
