import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import type { Caller } from '../../registry/kind.js';
import { setList } from '../../registry/list-type.js';
import { emailAddress, isWithinLengths, newAddressFaults } from '../signin/email-address.js';
import { line } from '../signin/schema-types.js';
import { invalidValue } from '../../registry/field-errors.js';

/** The most members that a Group can have. */
export const maxMembers = 1000;

/** The Group whose members operate this service. */
export const operators = 'operators';

/**
 * Returns true if the caller is an operator: a member of that Group, the service itself, or
 * `system:masters` of a cluster.
 */
export const isOperator = (caller: Caller): boolean =>
  caller.type === 'System' ||
  (caller.type === 'Account' && caller.operator) ||
  (caller.type === 'ClusterUser' && caller.groups.includes('system:masters'));

/** A group of people by address. An account belongs to it while its verified address is listed. */
export const Group = defineKind({
  kind: 'Group',
  resource: 'groups',
  description: 'A group of people: an account belongs to it while its verified address is listed.',
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
  spec: z.object({
    displayName: line(64).describe('Its display name.'),
    members: setList(z.array(emailAddress()))
      .max(maxMembers)
      .default([])
      .describe('The addresses of its members, compared in lower case.'),
  }),
  status: z.object({}),
  columns: { 'Display-Name': (of) => of.spec.displayName, Members: (of) => of.spec.members.length },
  strategy: {
    validate({ spec }, old) {
      const known = new Set(old?.spec.members);
      return spec.members.flatMap((member, i) => {
        const field = `spec.members[${i}]`;
        if (!isWithinLengths(member))
          return [
            invalidValue(field, 'must have at most 64 characters before the @ and 255 after it'),
          ];
        return known.has(member) ? [] : newAddressFaults(member, field);
      });
    },
  },
});
