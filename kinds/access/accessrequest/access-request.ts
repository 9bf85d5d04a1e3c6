import { z } from 'zod';
import type { Call, KindObject, Metadata, Transaction } from '../../../registry/kind.js';
import { type Condition, conditions } from '../../../registry/schema/conditions.js';
import { nameGrammar } from '../../../registry/schema/metadata-schema.js';
import { describePattern } from '../../../registry/schema/pattern.js';
import { fromTimestamp } from '../../../registry/schema/timestamp.js';
import { dayMs, daySeconds } from '../../../registry/schema/units.js';
import { invalidValue } from '../../../registry/status/field-errors.js';
import { conflict, forbidden, invalid, unauthorized } from '../../../registry/status/status.js';
import { randomName } from '../../../registry/store/random-name.js';
import { defineKind } from '../../define-kind.js';
import { Account } from '../../people/account/account.js';
import { Group } from '../../people/group/group.js';
import { canonicalAddress } from '../../signin/email-address.js';
import { isOperator } from '../../signin/operator-caller.js';
import { line, timestamp } from '../../signin/schema-types.js';
import { endAccess } from './membership.js';
import { accessRequestNaming } from './naming.js';
import { accessRequestFacts } from './policy-facts.js';

/** How long a request is kept after its end, in milliseconds. */
const retentionMs = 90 * dayMs;

/** The furthest that `spec.until` may be ahead, in milliseconds. */
const maxLifetimeMs = 366 * dayMs;

const AccessRequestSpec = z.object({
  group: z
    .string()
    .max(253)
    .regex(describePattern(nameGrammar, 'must be the name of a Group'))
    .describe('The Group to be a member of.'),
  reason: line(200).describe('Why, for those who decide.'),
  until: timestamp().describe('When the membership shall end, within a year.'),
});

const AccessRequestStatus = z.object({
  account: z.string().describe('The Account that asks.'),
  phase: z
    .enum(['Pending', 'Approved', 'Denied', 'Expired'])
    .describe('Pending until it is approved or denied; Expired once its time is over.'),
  until: timestamp()
    .optional()
    .describe('When the membership ends; the approval may set an earlier end.'),
  decidedTimestamp: timestamp().optional().describe('When it was approved or denied.'),
  decidedBy: z
    .string()
    .optional()
    .describe(
      'Who decided: the name of an Account or of a user of a cluster. Not shown to who asked.',
    ),
  message: z.string().optional().describe('What those who decided say.'),
  conditions: conditions('Approved').optional(),
});

/** An AccessRequest as the server holds it. */
export type AccessRequestObject = KindObject<
  z.infer<typeof AccessRequestSpec>,
  z.infer<typeof AccessRequestStatus>
>;

/**
 * A person's request to be a member of a Group until a time. Policy says who may ask and who
 * approves (docs/design/tokens.md#access-requests).
 */
export const AccessRequest = defineKind({
  kind: 'AccessRequest',
  resource: 'accessrequests',
  owner: 'status.account',
  nameSource: 'service',
  description: 'A request to be a member of a Group until a time.',
  verbs: ['get', 'list', 'watch', 'create', 'delete'],
  spec: AccessRequestSpec,
  status: AccessRequestStatus,
  unique: {
    pending: ({ spec, status }) =>
      status.phase === 'Pending' ? `${status.account} ${spec.group}` : undefined,
  },
  expires: ({ spec }) => fromTimestamp(spec.until) + retentionMs,
  selectableFields: { 'spec.group': ({ spec }) => spec.group, 'status.phase': phaseAt },
  columns: {
    Group: ({ spec }) => spec.group,
    Phase: ({ status }) => status.phase,
    Until: ({ spec, status }) => status.until ?? spec.until,
    Account: ({ status }) => status.account,
    Reason: { wide: ({ spec }) => spec.reason },
  },
  create: {
    dryRun: true,
    run: (call, { spec, metadata }) => requestAccess(call, spec, metadata),
  },
  strategy: {
    validate: ({ spec }, old, { now }) => {
      const left = fromTimestamp(spec.until) - now;
      return old || (left > 0 && left <= maxLifetimeMs)
        ? []
        : [invalidValue('spec.until', 'must be in the future, within a year')];
    },
    /** Who asked does not learn the name, and so the `sub`, of who decided. */
    status(object, { caller, now }) {
      const isOwn = caller.type === 'Account' && caller.account === object.status.account;
      if (isOwn && !isOperator(caller)) delete object.status.decidedBy;
      object.status.phase = phaseAt(object, now);
      object.status.conditions = [approvedCondition(object)];
    },
    /** Without its approved request, the membership ends. */
    async beforeCommit(tx, next, old) {
      if (!next && old?.status.phase === 'Approved') await endAccess(tx, old);
    },
  },
});

/** Returns the phase at `now` (ms since the epoch): the stored one never expires. */
export function phaseAt(
  { spec, status }: AccessRequestObject,
  now: number,
): AccessRequestObject['status']['phase'] {
  const isOver = now >= fromTimestamp(status.until ?? spec.until);
  return isOver && status.phase !== 'Denied' ? 'Expired' : status.phase;
}

const conditionOf = {
  Pending: ['False', 'Pending', 'It waits for someone who may approve it.'],
  Approved: ['True', 'Approved', 'The membership began.'],
  Denied: ['False', 'Denied', 'It was denied.'],
  Expired: ['False', 'Expired', 'Its time is over.'],
} as const;

function approvedCondition({ metadata, status }: AccessRequestObject): Condition {
  const [value, reason, message] = conditionOf[status.phase];
  return {
    type: 'Approved',
    status: value,
    reason,
    message,
    lastTransitionTime: status.decidedTimestamp ?? metadata.creationTimestamp,
  };
}

/**
 * POST accessrequests: requests membership for the caller. Throws 409 while a request for the Group
 * is pending, and 422 if the caller is a member without an end. Does not say whether the Group
 * exists.
 */
async function requestAccess(
  call: Call,
  spec: AccessRequestObject['spec'],
  metadata: Pick<Metadata, 'labels' | 'annotations'>,
): Promise<AccessRequestObject> {
  const { caller } = call;
  if (caller.type !== 'Account') {
    throw forbidden('only a person may request access', accessRequestNaming);
  }
  const { account } = caller;
  const name = `${account}-${randomName(10)}`;
  return call.change(async (tx) => {
    await assertMayJoin(tx, account, spec.group);
    await replaceExpired(tx, `${account} ${spec.group}`, call.now);
    const max = call.settings.limits.accessRequestsPerAccountDay;
    await tx.spend(
      {
        name: 'accessrequests',
        setting: 'accessRequestsPerAccountDay',
        max,
        seconds: daySeconds,
      },
      account,
    );
    return tx.create(AccessRequest, {
      metadata: { ...metadata, name },
      spec,
      status: { account, phase: 'Pending' },
    });
  });
}

/** Returns whether policy permits the caller, a person, to request access to a Group. */
export async function mayRequest(call: Call, group: string): Promise<boolean> {
  const { caller } = call;
  if (caller.type !== 'Account') return false;
  const name = `${caller.account}-${randomName(10)}`;
  const { allowed } = await call.decideQuietly('create', {
    kind: AccessRequest,
    name,
    entities: new Map([[`AccessRequest ${name}`, accessRequestFacts({ spec: { group } })]]),
  });
  return allowed;
}

/** Throws 401 for a disabled account, and 422 for a member without an end. */
async function assertMayJoin(tx: Transaction, name: string, group: string): Promise<void> {
  const account = await tx.get(Account, name);
  if (!account || account.status.disabledTimestamp) throw unauthorized();
  const address = canonicalAddress(account.status.email.address);
  const { members = [] } = (await tx.get(Group, group))?.spec ?? {};
  if (members.some((member) => canonicalAddress(member) === address)) {
    throw invalid(accessRequestNaming, '', [invalidValue('spec.group', 'you are a member of it')]);
  }
}

/** Removes an expired request for the same Group; throws 409 if it still waits. */
async function replaceExpired(tx: Transaction, pending: string, now: number): Promise<void> {
  const former = await tx.byUnique(AccessRequest, 'pending', pending);
  if (!former) return;
  const { name } = former.metadata;
  if (phaseAt(former, now) === 'Pending') {
    throw conflict(AccessRequest, name, 'a request for this Group is pending already');
  }
  await tx.erase(AccessRequest, name);
}
