import { z } from 'zod';
import type { Call } from '../../../registry/kind.js';
import { mapList, setList } from '../../../registry/schema/list-type.js';
import { fromTimestamp } from '../../../registry/schema/timestamp.js';
import { invalidValue } from '../../../registry/status/field-errors.js';
import type { Cause } from '../../../registry/status/status.js';
import { defineKind } from '../../define-kind.js';
import {
  canonicalAddress,
  emailAddress,
  isWithinLengths,
  newAddressFaults,
  repeatedAddresses,
} from '../../signin/email-address.js';
import { line, timestamp } from '../../signin/schema-types.js';

/** The most members that a Group can have. */
export const maxMembers = 1000;

/** The Group whose members operate this service. */
export const operators = 'operators';

const TemporaryMember = z.object({
  email: emailAddress().describe('The address.'),
  until: timestamp().describe('When the membership ends.'),
  reason: line(200).optional().describe('Why the person is a member.'),
  accessRequest: z
    .string()
    .max(253)
    .optional()
    .describe('The AccessRequest whose approval made the person a member.'),
});

const GroupSpec = z.object({
  displayName: line(64).describe('Its display name.'),
  members: setList(z.array(emailAddress()))
    .max(maxMembers)
    .default([])
    .describe(
      'The addresses of its members, compared in lower case. A second spelling of one is refused.',
    ),
  temporaryMembers: mapList(z.array(TemporaryMember), 'email')
    .max(maxMembers)
    .optional()
    .describe('Members until a time. Those whose time is over stay listed, without effect.'),
});

/**
 * A group of people by address. An account belongs to it while its verified address is listed, for
 * a temporary member until a time.
 */
export const Group = defineKind({
  kind: 'Group',
  resource: 'groups',
  description: 'A group of people: an account belongs to it while its verified address is listed.',
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
  spec: GroupSpec,
  status: z.object({}),
  columns: {
    'Display-Name': (group) => group.spec.displayName,
    Members: (group) => membersAt(group.spec, Date.now()).size,
  },
  strategy: {
    validate({ metadata, spec }, old) {
      const temporary = temporaryAddresses(spec);
      const known = new Set(old && [...old.spec.members, ...temporaryAddresses(old.spec)]);
      const faults = [
        ...repeatedAddresses(spec.members, memberField),
        ...repeatedAddresses(temporary, temporaryField),
        ...spec.members.flatMap((email, i) => addressFaults(email, memberField(i), known)),
        ...temporary.flatMap((email, i) =>
          addressFaults(email, `${temporaryField(i)}.email`, known),
        ),
      ];
      if (metadata.name === operators && temporary.length > 0 && spec.members.length === 0) {
        faults.push(invalidValue('spec.members', 'must not be empty: temporary operators end'));
      }
      return faults;
    },
    async beforeCommit(_tx, next, _old, call) {
      const unused = next?.metadata.name === operators ? unusedOperators(next.spec, call) : [];
      if (unused.length > 0 && call.caller.type !== 'System') {
        call.warn(`${unused.join(', ')} of --operators: no operator while this Group has members`);
      }
    },
  },
});

const memberField = (i: number): string => `spec.members[${i}]`;
const temporaryField = (i: number): string => `spec.temporaryMembers[${i}]`;

const temporaryAddresses = ({ temporaryMembers = [] }: z.infer<typeof GroupSpec>): string[] =>
  temporaryMembers.map(({ email }) => email);

/** Returns the faults of an address; one that was a member before has only its length checked. */
function addressFaults(email: string, field: string, known: ReadonlySet<string>): Cause[] {
  if (isWithinLengths(email)) return known.has(email) ? [] : newAddressFaults(email, field);
  return [invalidValue(field, 'must have at most 64 characters before the @ and 255 after it')];
}

/** Returns the addresses of `--operators` that the members of Group `operators` leave without effect. */
export const unusedOperators = (
  spec: z.infer<typeof GroupSpec>,
  { settings }: Pick<Call, 'settings'>,
): string[] => {
  const members = membersAt(spec, Date.now());
  return spec.members.length === 0
    ? []
    : settings.operators.filter((address) => !members.has(canonicalAddress(address)));
};

/** Returns the addresses in lower case that are members at a time, in ms since the epoch. */
export function membersAt(
  { members, temporaryMembers = [] }: z.infer<typeof GroupSpec>,
  now: number,
): ReadonlySet<string> {
  const current = temporaryMembers.filter(({ until }) => fromTimestamp(until) > now);
  return new Set([...members, ...current.map(({ email }) => email)].map(canonicalAddress));
}

/** Returns when the next membership ends after a time; Infinity if none does. */
export const nextEnd = (
  { temporaryMembers = [] }: z.infer<typeof GroupSpec>,
  now: number,
): number =>
  Math.min(
    Infinity,
    ...temporaryMembers.map(({ until }) => fromTimestamp(until)).filter((end) => end > now),
  );
