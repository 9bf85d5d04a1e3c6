import { z } from 'zod';
import type { Caller, KindObject } from '../../../registry/kind.js';
import { type Condition, conditions } from '../../../registry/schema/conditions.js';
import { setList } from '../../../registry/schema/list-type.js';
import { fromTimestamp } from '../../../registry/schema/timestamp.js';
import { dayMs } from '../../../registry/schema/units.js';
import { operators } from '../../people/group/group.js';
import { emailAddress } from '../../signin/email-address.js';
import { deliveryState, languageTag, timestamp } from '../../signin/schema-types.js';

/** The spec of an Invitation. */
export const InvitationSpec = z.object({
  email: emailAddress()
    .optional()
    .describe('The address that the invitation is mailed to, and that accepts it. Required.'),
  groups: setList(z.array(z.string().min(1).max(253)))
    .max(20)
    .default([])
    .describe('The Groups that the person joins. The creator must be permitted to update each.'),
  until: timestamp()
    .optional()
    .describe('When it expires; by default after the setting `limits.invitationLifetime`.'),
  client: z
    .string()
    .min(1)
    .max(253)
    .optional()
    .describe('The Client that the mail leads to. It must have an initiateLoginURI.'),
  locale: languageTag().optional().describe('The language of the mail, BCP 47.'),
});

/** The status of an Invitation. */
export const InvitationStatus = z.object({
  phase: z
    .enum(['Pending', 'Accepted', 'Expired', 'Revoked'])
    .describe(
      'Pending until a sign-in accepts it; Expired if none did in time; Revoked once who invited ' +
        'may not invite to its Groups any more.',
    ),
  invitedBy: z
    .string()
    .optional()
    .describe(
      'Who invited: the name of an Account or of a user of a cluster. Shown to operators only.',
    ),
  account: z.string().optional().describe('The Account that accepted it.'),
  acceptedTimestamp: timestamp().optional().describe('When it was accepted.'),
  groups: z
    .array(z.string())
    .optional()
    .describe('The Groups that the person joined. Groups that were deleted or full are left out.'),
  deliveryState: deliveryState(),
  conditions: conditions('Accepted').optional(),
});

/** Who invited, with what rules may use of the request and its sign-in. */
export interface Inviter {
  readonly caller: Caller;
  readonly site?: string;
  /** The network, sealed (base64url). */
  readonly network?: string;
}

/** The furthest that an Invitation may be open, in milliseconds. */
const maxLifetimeMs = 366 * dayMs;

/** The same for Group `operators`, in milliseconds. */
const maxOperatorLifetimeMs = 7 * dayMs;

/** Returns how long an Invitation to Groups may be open, in milliseconds. */
export const maxLifetimeOf = (groups: readonly string[]): number =>
  groups.includes(operators) ? maxOperatorLifetimeMs : maxLifetimeMs;

/**
 * The internal part: the SHA-256 (base64url) of the token that the first operator needs, and who
 * invited.
 */
export const InvitationInternal = z
  .object({ token: z.string().optional(), inviter: z.custom<Inviter>().optional() })
  .optional();

/** An Invitation as the server holds it. */
export type InvitationObject = KindObject<
  z.infer<typeof InvitationSpec>,
  z.infer<typeof InvitationStatus>,
  z.infer<typeof InvitationInternal>
>;

/** Reports whether an Invitation can be accepted at `now` (ms since the epoch). */
export const isPending = ({ metadata, spec, status }: InvitationObject, now: number): boolean =>
  status.phase === 'Pending' &&
  now < fromTimestamp(spec.until!) &&
  now <= fromTimestamp(metadata.creationTimestamp) + maxLifetimeOf(spec.groups);

/** Returns the condition Accepted, which is False while an Invitation is pending and once it expired. */
export function acceptedCondition({ metadata, spec, status }: InvitationObject): Condition {
  const type = 'Accepted';
  switch (status.phase) {
    case 'Accepted':
      return {
        type,
        status: 'True',
        reason: 'SignedIn',
        message: 'The person signed in with its address.',
        lastTransitionTime: status.acceptedTimestamp ?? metadata.creationTimestamp,
      };
    case 'Expired':
      return {
        type,
        status: 'False',
        reason: 'Expired',
        message: `Until ${spec.until} no one signed in with its address.`,
        lastTransitionTime: metadata.creationTimestamp,
      };
    case 'Revoked':
      return {
        type,
        status: 'False',
        reason: 'Revoked',
        message: 'Who invited may not invite to its groups any more.',
        lastTransitionTime: metadata.creationTimestamp,
      };
    case 'Pending':
      return {
        type,
        status: 'False',
        reason: 'Pending',
        message: `It can be accepted until ${spec.until}.`,
        lastTransitionTime: metadata.creationTimestamp,
      };
  }
}

/** Returns the phase of an Invitation at `now` (ms since the epoch): the stored one never expires. */
export const phaseAt = (
  invitation: InvitationObject,
  now: number,
): InvitationObject['status']['phase'] =>
  invitation.status.phase === 'Pending' && !isPending(invitation, now)
    ? 'Expired'
    : invitation.status.phase;
