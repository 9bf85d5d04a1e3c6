import { invalidValue, requiredValue } from '../../registry/field-errors.js';
import { defineKind } from '../define-kind.js';
import type { Call, Transaction } from '../../registry/kind.js';
import type { Cause } from '../../registry/status.js';
import { fromTimestamp, toTimestamp } from '../../registry/timestamp.js';
import { canonicalAddress, isWithinLengths, newAddressFaults } from '../signin/email-address.js';
import { assertMayInvite, mailInvitation } from './prepare.js';
import {
  acceptedCondition,
  InvitationInternal,
  InvitationSpec,
  InvitationStatus,
  isPending,
  phaseAt,
  type InvitationObject,
} from './schema.js';

/** How long an Invitation is kept after it was accepted or has expired, in milliseconds. */
const retentionMs = 90 * 86_400_000;

/** The furthest that `spec.until` may be ahead, in milliseconds. */
const maxLifetimeMs = 366 * 86_400_000;

/**
 * An invitation by mail. Its link begins an ordinary sign-in; what accepts it is the sign-in with
 * its address (docs/design/api.md#invitations).
 */
export const Invitation = defineKind({
  kind: 'Invitation',
  resource: 'invitations',
  description: 'An invitation by mail: the person who signs in with its address joins its groups.',
  verbs: ['get', 'list', 'watch', 'create', 'delete'],
  spec: InvitationSpec,
  status: InvitationStatus,
  internal: InvitationInternal,
  unique: {
    email: ({ spec, status }) =>
      status.phase === 'Pending' && spec.email !== undefined
        ? canonicalAddress(spec.email)
        : undefined,
  },
  expires: ({ spec, status }) =>
    fromTimestamp(status.acceptedTimestamp ?? spec.until!) + retentionMs,
  selectableFields: {
    'spec.client': ({ spec }) => spec.client,
    'status.phase': phaseAt,
  },
  columns: {
    Email: ({ spec }) => spec.email,
    Phase: ({ status }) => status.phase,
    Groups: ({ spec }) => spec.groups.join(','),
    Until: { wide: ({ spec }) => spec.until },
  },
  strategy: {
    default({ spec, status }, old, { now, settings }) {
      if (old) return;
      spec.until ??= toTimestamp(now + settings.limits.invitationLifetime);
      spec.groups = [...new Set(spec.groups)];
      status.phase ??= 'Pending';
    },
    validate: ({ spec }, old, call) => (old ? [] : faultsOf(spec, call)),
    status(object, { now }) {
      object.status.phase = phaseAt(object, now);
      object.status.conditions = [acceptedCondition(object)];
    },
    async beforeCommit(tx, next, old, call) {
      if (!next || old) return;
      await assertMayInvite(tx, next, call);
      if (next.spec.email === undefined) return;
      await replaceExpired(tx, next.spec.email, call.now);
      await mailInvitation(tx, next, next.spec.email, call);
    },
  },
});

/** Only the service itself invites without an address: the first operator. */
function faultsOf(
  { email, until }: InvitationObject['spec'],
  { caller, now }: Pick<Call, 'caller' | 'now'>,
): Cause[] {
  const left = fromTimestamp(until!) - now;
  const causes =
    left > 0 && left <= maxLifetimeMs
      ? []
      : [invalidValue('spec.until', 'must be in the future, within a year')];
  if (email === undefined)
    return caller.type === 'System' ? causes : [requiredValue('spec.email'), ...causes];
  if (!isWithinLengths(email))
    return [invalidValue('spec.email', 'must be an email address'), ...causes];
  return [...newAddressFaults(email, 'spec.email'), ...causes];
}

/** Removes an expired Invitation of the address, which another one replaces. */
async function replaceExpired(tx: Transaction, email: string, now: number): Promise<void> {
  const former = await tx.byUnique(Invitation, 'email', canonicalAddress(email));
  if (former && !isPending(former, now)) await tx.erase(Invitation, former.metadata.name);
}
