import type { KindObject, ObjectOf, Transaction } from '../../../registry/kind.js';
import { fromTimestamp } from '../../../registry/schema/timestamp.js';
import { conflict } from '../../../registry/status/status.js';
import { Group, maxMembers } from '../../people/group/group.js';
import { canonicalAddress } from '../../signin/email-address.js';
import { accessRequestNaming } from './naming.js';

/** The parts of an AccessRequest that a membership comes from. */
type Request = KindObject<{ group: string; reason: string }, unknown>;

type TemporaryMember = NonNullable<ObjectOf<typeof Group>['spec']['temporaryMembers']>[number];

/**
 * Makes an address a member of the Group of a request until a time, in this commit. A membership
 * that lasts longer stays. Removes memberships by other requests whose time is over. Throws 409 if
 * the Group does not exist or is full.
 */
export async function beginAccess(
  tx: Transaction,
  request: Request,
  { email, until }: Pick<TemporaryMember, 'email' | 'until'>,
  now: number,
): Promise<void> {
  const { metadata, spec } = request;
  const fail = (message: string): never => {
    throw conflict(accessRequestNaming, metadata.name, message);
  };
  if (!(await tx.get(Group, spec.group))) fail(`there is no Group ${spec.group}`);
  await tx.update(Group, spec.group, (group) => {
    const memberships = group.spec.temporaryMembers ?? [];
    const isOver = (member: TemporaryMember): boolean => fromTimestamp(member.until) <= now;
    const current = memberships.filter(
      (member) => member.accessRequest === undefined || !isOver(member),
    );
    const own = current.find((member) => isSameAddress(member.email, email));
    if (own && fromTimestamp(own.until) >= fromTimestamp(until)) return;
    const others = current.filter((member) => member !== own);
    if (others.length >= maxMembers) fail(`Group ${spec.group} is full`);
    const { name } = metadata;
    group.spec.temporaryMembers = [
      ...others,
      { email, until, reason: spec.reason, accessRequest: name },
    ];
  });
}

/** Ends the membership that a request began, in this commit. */
export async function endAccess(tx: Transaction, { metadata, spec }: Request): Promise<void> {
  const isOwn = (member: TemporaryMember): boolean => member.accessRequest === metadata.name;
  const group = await tx.get(Group, spec.group);
  if (!group?.spec.temporaryMembers?.some(isOwn)) return;
  await tx.update(Group, spec.group, (next) => {
    next.spec.temporaryMembers = next.spec.temporaryMembers!.filter(
      (temporaryMember) => !isOwn(temporaryMember),
    );
  });
}

const isSameAddress = (address: string, other: string): boolean =>
  canonicalAddress(address) === canonicalAddress(other);
