import { z } from 'zod';
import { defineKind } from '../registry/kind.js';
import { emailAddress, isWithinLengths } from './address.js';
import { line } from './text.js';

/** The Group whose members run this service. */
export const operators = 'operators';

/** People named together, by their addresses. An account is in it while its verified address is listed. */
export const Group = defineKind({
  kind: 'Group', resource: 'groups',
  description: 'People named together: an account is in a group while its verified address is listed.',
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
  spec: z.object({
    displayName: line(64).describe('Its name for people.'),
    members: z.array(emailAddress()).max(1000).default([]).describe('Addresses of its members, compared in lower case.'),
  }),
  status: z.object({}),
  columns: { 'Display-Name': (of) => of.spec.displayName, Members: (of) => of.spec.members.length },
  strategy: {
    validate: ({ spec }) => spec.members.flatMap((member, i) => isWithinLengths(member) ? []
      : [{ reason: 'FieldValueInvalid' as const, field: `spec.members[${i}]`, message: 'Invalid value: at most 64 characters before the @ and 255 behind it' }]),
  },
});
