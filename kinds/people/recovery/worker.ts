import type { RecoveryNotice } from '../../../mail/recovery.js';
import type { Log } from '../../../observability/log.js';
import type { Call, Transaction } from '../../../registry/kind.js';
import { fromTimestamp, toTimestamp } from '../../../registry/schema/timestamp.js';
import type { Outcome, Worker } from '../../../registry/store/outbox.js';
import type { Store } from '../../../registry/store/store.js';
import { Account } from '../account/account.js';
import { revokeOtherSessions } from '../account/end-sessions.js';
import { Passkey } from '../passkey/passkey.js';
import { announceRecovery } from './announce.js';
import { cancelRecovery, Recovery } from './recovery.js';
import type { RecoveryObject } from './recovery-object.js';

/** The steps of a recovery: two more announcements and the completion. */
export const recoverySteps = [
  'Halfway',
  'Ending',
  'Completed',
] as const satisfies readonly RecoveryNotice['event'][];
type Step = (typeof recoverySteps)[number];

/** The outbox row of one step. */
export interface RecoveryRow {
  readonly recovery: string;
  readonly step: Step;
}

/** The last announcement is sent when 1/8 of the wait is left. */
const lastAnnouncementFraction = 8;

/** Returns when a step is due, in milliseconds since the epoch. */
export function stepTime({ status }: RecoveryObject, step: Step): number {
  const ready = fromTimestamp(status.readyTimestamp);
  if (step === 'Completed') return ready;
  return step === 'Halfway'
    ? fromTimestamp(status.halfwayTimestamp)
    : Math.ceil(
        ready - (ready - fromTimestamp(status.startedTimestamp)) / lastAnnouncementFraction,
      );
}

/** Returns the worker that runs the steps of recoveries. Each step is one idempotent commit. */
export const recoveryWorker = (store: Store): Worker<RecoveryRow> => ({
  name: 'recovery',
  delivery: 'AtLeastOnce',
  maxParallel: 2,
  run({ recovery: name, step }): Promise<Outcome> {
    const call = store.systemCall();
    return call.change(async (tx): Promise<Outcome> => {
      const recovery = await tx.get(Recovery, name);
      if (recovery?.status.phase !== 'Waiting' || recovery.internal.announced.includes(step)) {
        return { done: true };
      }
      if (isRestored(recovery, store.settings.epoch)) {
        await cancelRecovery(tx, call, recovery);
        return { done: true };
      }
      const due = stepTime(recovery, step);
      if (call.now < due) return { done: false, notBefore: due };
      if (step === 'Completed') {
        await complete(tx, call, recovery);
      } else {
        await tx.update(Recovery, name, (next) => announceRecovery(tx, call, next, step));
      }
      return { done: true };
    });
  },
});

/**
 * Returns true if a restore brought the recovery back: it may have been cancelled after the
 * snapshot, and its owner does not know that it continues.
 */
const isRestored = ({ internal }: RecoveryObject, epoch: number): boolean =>
  (internal.epoch ?? 0) < epoch;

/**
 * Cancels at start every recovery that a restored backup brought back, so that its owner can start
 * another one. Errors are logged; the next step cancels the recovery otherwise.
 */
export async function cancelRestoredRecoveries(store: Store, log: Log): Promise<void> {
  const { epoch } = store.settings;
  if (epoch === 0) return;
  try {
    const recoveries = await store.reader(Recovery).list();
    for (const { metadata, status } of recoveries) {
      if (status.phase === 'Waiting') await cancelRestored(store, metadata.name);
    }
  } catch (error) {
    log.warn({ err: error }, 'could not cancel the recoveries of a restored backup');
  }
}

function cancelRestored(store: Store, name: string): Promise<void> {
  const call = store.systemCall();
  return call.change(async (tx) => {
    const recovery = await tx.get(Recovery, name);
    if (recovery?.status.phase === 'Waiting' && isRestored(recovery, store.settings.epoch)) {
      await cancelRecovery(tx, call, recovery);
    }
  });
}

/**
 * Completes a recovery: one commit removes every passkey, revokes all sessions and enqueues the
 * mail.
 */
async function complete(
  tx: Transaction,
  call: Call,
  { metadata: { name }, status: { account } }: RecoveryObject,
): Promise<void> {
  for (const passkey of await call.store(Passkey).list(account)) {
    await tx.delete(Passkey, passkey.metadata.name);
  }
  if (await tx.get(Account, account)) {
    await revokeOtherSessions(tx, call, account, { endsApps: true, max: 0 });
  }
  await tx.update(Recovery, name, async (next) => {
    const recovery = next;
    recovery.status.phase = 'Completed';
    recovery.status.endedTimestamp = toTimestamp(call.now);
    recovery.internal.cancelTokens = [];
    await announceRecovery(tx, call, recovery, 'Completed');
  });
  tx.after(() => call.ports.audit('recovery.completed', { account, recovery: name }));
}
