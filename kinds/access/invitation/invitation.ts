import type { Call, Transaction } from '../../../registry/kind.js';
import { fromTimestamp, toTimestamp } from '../../../registry/schema/timestamp.js';
import { dayMs } from '../../../registry/schema/units.js';
import { invalidValue, requiredValue } from '../../../registry/status/field-errors.js';
import type { Cause } from '../../../registry/status/status.js';
import { defineKind } from '../../define-kind.js';
import { operators } from '../../people/group/group.js';
import { authorName } from '../../signin/caller.js';
import { canonicalAddress, isWithinLengths, newAddressFaults } from '../../signin/email-address.js';
import { languageTagFault } from '../../signin/language-tag-fault.js';
import { isOperator } from '../../signin/operator-caller.js';
import { assertMayInvite, inviterOf } from './inviter.js';
import { mailInvitation } from './prepare.js';
import {
  acceptedCondition,
  InvitationInternal,
  type InvitationObject,
  InvitationSpec,
  InvitationStatus,
  isPending,
  maxLifetimeOf,
  phaseAt,
} from './schema.js';

/** How long an Invitation is kept after it was accepted or has expired, in milliseconds. */
const retentionMs = 90 * dayMs;

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
    'Invited-By': { wide: ({ status }) => status.invitedBy },
  },
  strategy: {
    default(next, old, call) {
      if (old) return;
      const { spec, status } = next;
      spec.groups = [...new Set(spec.groups)];
      const lifetime = call.settings.limits.invitationLifetime;
      spec.until ??= toTimestamp(call.now + Math.min(lifetime, maxLifetimeOf(spec.groups)));
      status.phase ??= 'Pending';
      const inviter = inviterOf(call);
      if (!inviter) return;
      status.invitedBy = authorName(call.caller);
      next.internal = { inviter };
    },
    validate: ({ spec }, old, call) => (old ? [] : faultsOf(spec, call)),
    status(object, { caller, now }) {
      if (!isOperator(caller)) delete object.status.invitedBy;
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
  { email, groups, until, locale }: InvitationObject['spec'],
  { caller, now }: Pick<Call, 'caller' | 'now'>,
): Cause[] {
  const left = fromTimestamp(until!) - now;
  const within = groups.includes(operators) ? `seven days for Group ${operators}` : 'a year';
  const causes =
    left > 0 && left <= maxLifetimeOf(groups)
      ? []
      : [invalidValue('spec.until', `must be in the future, within ${within}`)];
  const tagFault = locale === undefined ? undefined : languageTagFault(locale);
  if (tagFault !== undefined) causes.push(invalidValue('spec.locale', tagFault));
  if (email === undefined) {
    return caller.type === 'System' ? causes : [requiredValue('spec.email'), ...causes];
  }
  if (!isWithinLengths(email)) {
    return [invalidValue('spec.email', 'must be an email address'), ...causes];
  }
  return [...newAddressFaults(email, 'spec.email'), ...causes];
}

/** Removes an expired Invitation of the address, which another one replaces. */
async function replaceExpired(tx: Transaction, email: string, now: number): Promise<void> {
  const former = await tx.byUnique(Invitation, 'email', canonicalAddress(email));
  if (former && !isPending(former, now)) await tx.erase(Invitation, former.metadata.name);
}
