import { z } from 'zod';
import type { RecoveryNotice } from '../../../mail/recovery.js';
import type { Call, Transaction } from '../../../registry/kind.js';
import { fromTimestamp, toTimestamp } from '../../../registry/schema/timestamp.js';
import { dayMs } from '../../../registry/schema/units.js';
import { conflict } from '../../../registry/status/status.js';
import { defineKind } from '../../define-kind.js';
import { describeBrowser } from '../../signin/user-agent.js';
import { announceRecovery } from './announce.js';
import { RecoveryInternal, type RecoveryObject, RecoveryStatus } from './recovery-object.js';

/** The number of days that a recovery is kept after its end. */
const retentionDays = 90;

/**
 * Account recovery for a person who lost all passkeys. After a wait that is announced by mail and
 * in every session, the passkeys are removed.
 */
export const Recovery = defineKind({
  kind: 'Recovery',
  resource: 'recoveries',
  singular: 'recovery',
  owner: 'status.account',
  nameSource: 'service',
  description:
    'Recovery of an account whose passkeys are all lost: after a wait, they are removed. ' +
    'Until then, anyone who is signed in to the account can cancel it.',
  verbs: ['get', 'list', 'watch', 'delete'],
  spec: z.object({}),
  status: RecoveryStatus,
  internal: RecoveryInternal,
  unique: { waiting: ({ status }) => (status.phase === 'Waiting' ? status.account : undefined) },
  expires: ({ status }) =>
    status.endedTimestamp === undefined
      ? undefined
      : fromTimestamp(status.endedTimestamp) + retentionDays * dayMs,
  selectableFields: { 'status.phase': ({ status }) => status.phase },
  columns: {
    Account: ({ status }) => status.account,
    Phase: ({ status }) => status.phase,
    Ready: ({ status }) => status.readyTimestamp,
  },
  strategy: {
    /** Cancels the recovery; the object stays for `retentionDays`. */
    async beginDelete(tx, old, call): Promise<RecoveryObject> {
      return cancelRecovery(tx, call, old);
    },
  },
});

/**
 * Cancels the waiting recovery of an account, if there is one: its owner has just signed in by a
 * passkey that counts in full, so the passkeys are not lost.
 */
export async function cancelWaitingRecovery(
  tx: Transaction,
  call: Call,
  account: string,
): Promise<void> {
  const waiting = await tx.byUnique(Recovery, 'waiting', account);
  if (waiting) await cancelRecovery(tx, call, waiting, { byPasskey: true });
}

/** Cancels a waiting recovery in this commit and mails the person; throws 409 if it has ended. */
export async function cancelRecovery(
  tx: Transaction,
  call: Call,
  { metadata: { name } }: RecoveryObject,
  how: Pick<RecoveryNotice, 'byPasskey'> = {},
): Promise<RecoveryObject> {
  const cancelled = await tx.update(Recovery, name, async (next) => {
    const recovery = next;
    if (recovery.status.phase !== 'Waiting') {
      throw conflict(Recovery, name, `it is already ${recovery.status.phase}`);
    }
    recovery.status.phase = 'Cancelled';
    recovery.status.endedTimestamp = toTimestamp(call.now);
    recovery.internal.cancelTokens = [];
    const by = cancelledBy(call, recovery);
    await announceRecovery(tx, call, recovery, 'Cancelled', { ...how, ...(by && { by }) });
  });
  tx.after(() =>
    call.ports.audit('recovery.cancelled', { account: cancelled.status.account, recovery: name }),
  );
  return cancelled;
}

/**
 * Returns the browser that cancelled it, for the mail; undefined for operators and after a restore.
 */
function cancelledBy({ caller, request }: Call, { status }: RecoveryObject): string | undefined {
  const isOperator =
    caller.type === 'ClusterUser' ||
    caller.type === 'System' ||
    (caller.type === 'Account' && caller.account !== status.account);
  return isOperator ? undefined : describeBrowser(request.userAgent);
}
