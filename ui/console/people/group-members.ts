import { call } from '../../base/api/api.js';
import { isSameMember, type Group, type TemporaryMember } from '../../base/group.js';
import type { Kind } from '../base/kind.js';
import { objectPath } from '../base/kubectl.js';

/** Until when someone is a member, and why; empty without an end. */
export type Limit = Partial<Pick<TemporaryMember, 'until' | 'reason'>>;

/** Returns the merge patch of the members of a Group, unless it was changed since. */
const patchOf = ({ metadata }: Group, spec: Partial<Group['spec']>): object => ({
  metadata: { resourceVersion: metadata.resourceVersion },
  spec,
});

/** Returns the merge patch after which addresses are members, until a time if there is one. */
export function withMembers(group: Group, addresses: readonly string[], limit?: Limit): object {
  const { members = [], temporaryMembers = [] } = group.spec;
  const until = limit?.until;
  if (until === undefined) return patchOf(group, { members: [...members, ...addresses] });
  const isAdded = ({ email }: TemporaryMember): boolean =>
    addresses.some((address) => isSameMember(email, address));
  const reason = limit?.reason ? { reason: limit.reason } : {};
  return patchOf(group, {
    temporaryMembers: [
      ...temporaryMembers.filter((member) => !isAdded(member)),
      ...addresses.map((email) => ({ email, until, ...reason })),
    ],
  });
}

/** Returns the merge patch after which addresses are no members. */
export function withoutMembers(group: Group, addresses: readonly string[]): object {
  const { members = [], temporaryMembers } = group.spec;
  const stays = (email: string): boolean =>
    !addresses.some((address) => isSameMember(email, address));
  return patchOf(group, {
    members: members.filter(stays),
    ...(temporaryMembers && {
      temporaryMembers: temporaryMembers.filter(({ email }) => stays(email)),
    }),
  });
}

/** Sends a patch of a Group, as kubectl does. */
export const patchGroup = (kind: Kind, { metadata }: Group, patch: object): Promise<unknown> =>
  call('PATCH', objectPath(kind, metadata.name), patch);
