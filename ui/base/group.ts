import type { ObjectMeta } from '../api.js';
import { now } from './api/clock.js';

/** A member until a time. */
export interface TemporaryMember {
  readonly email: string;
  readonly until: string;
  readonly reason?: string;
  readonly accessRequest?: string;
}

/** An object of kind Group, as far as pages know it. */
export interface Group {
  readonly metadata: ObjectMeta;
  readonly spec: {
    readonly displayName: string;
    readonly members?: readonly string[];
    readonly temporaryMembers?: readonly TemporaryMember[];
  };
}

/** Returns whether two addresses are the same member, as the service compares them. */
export const isSameMember = (member: string, address: string): boolean =>
  member.toLowerCase() === address.toLowerCase();

/** Returns how an address is a member: undefined if it is none, empty without an end. */
export function membershipOf(
  { spec }: Group,
  address: string,
): Partial<TemporaryMember> | undefined {
  if (spec.members?.some((member) => isSameMember(member, address))) return {};
  const limited = spec.temporaryMembers?.find(({ email }) => isSameMember(email, address));
  return limited && Date.parse(limited.until) > now() ? limited : undefined;
}
