import { group } from '../../api-version.js';

/** The names of the kind Invitation, for files that it imports. */
export const naming = { kind: 'Invitation', resource: 'invitations', group } as const;
