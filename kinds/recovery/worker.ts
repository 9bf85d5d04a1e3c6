import type { RecoveryNotice } from '../../mail/recovery.js';
import type { Call, Transaction } from '../../registry/kind.js';
import type { Log } from '../../observability/log.js';
import type { Outcome, Worker } from '../../registry/outbox.js';
import type { Store } from '../../registry/store.js';
import { fromTimestamp, toTimestamp } from '../../registry/timestamp.js';
import { Account } from '../account/account.js';
import { revokeOtherSessions } from '../account/end-sessions.js';
import { Passkey } from '../passkey/passkey.js';
import { announceRecovery } from './announce.js';
import { cancelRecovery, Recovery } from './recovery.js';
import type { RecoveryObject } from './recovery-object.js';

/** What is done as a recovery waits: two more announcements, and its end. */
export const recoverySteps = [
  'Halfway',
  'Ending',
  'Completed',
] as const satisfies readonly RecoveryNotice['event'][];
type Step = (typeof recoverySteps)[number];

/** One step of one recovery, as it waits in the outbox. */
export interface RecoveryRow {
  readonly recovery: string;
  readonly step: Step;
}

/** The last announcement comes when so much of the wait is left. */
const lastShare = 8;

/** When a step is due, in milliseconds since the epoch. */
export function stepTime({ status }: RecoveryObject, step: Step): number {
  const ready = fromTimestamp(status.readyTimestamp);
  if (step === 'Completed') return ready;
  return step === 'Halfway'
    ? fromTimestamp(status.halfwayTimestamp)
    : Math.ceil(ready - (ready - fromTimestamp(status.startedTimestamp)) / lastShare);
}

/**
 * Carries recoveries out, on whichever replica is first; each step is one commit and may be
 * repeated.
 */
export const recoveryWorker = (store: Store): Worker => ({
  name: 'recovery',
  delivery: 'AtLeastOnce',
  maxParallel: 2,
  run(payload): Promise<Outcome> {
    const { recovery: name, step } = payload as RecoveryRow;
    const call = store.systemCall();
    return call.change(async (tx): Promise<Outcome> => {
      const recovery = (await tx.get(Recovery, name)) as RecoveryObject | undefined;
      if (recovery?.status.phase !== 'Waiting' || recovery.internal.announced.includes(step))
        return { done: true };
      if (isRevived(recovery, store.settings.epoch)) {
        await cancelRecovery(tx, call, recovery);
        return { done: true };
      }
      const due = stepTime(recovery, step);
      if (call.now < due) return { done: false, notBefore: due };
      if (step === 'Completed') await complete(tx, call, recovery);
      else
        await tx.update(Recovery, name, (next) =>
          announceRecovery(tx, call, next as RecoveryObject, step),
        );
      return { done: true };
    });
  },
});

/**
 * Whether a restore brought it back: it may have been cancelled after the snapshot, and its owner
 * does not know that it goes on.
 */
const isRevived = ({ internal }: RecoveryObject, epoch: number): boolean =>
  (internal.epoch ?? 0) < epoch;

/**
 * Stops, as the service starts, every recovery that came back with a backup: its owner need not
 * wait for the next step to start another, and of an old backup the steps themselves are over. What
 * fails is logged, and left to the next step.
 */
export async function stopRevivedRecoveries(store: Store, log: Log): Promise<void> {
  const { epoch } = store.settings;
  if (epoch === 0) return;
  try {
    const recoveries = await store.reader(Recovery).list();
    for (const { metadata, status } of recoveries)
      if (status.phase === 'Waiting') await stopRevived(store, metadata.name);
  } catch (error) {
    log.warn({ err: error }, 'recoveries of a backup go on until their next step');
  }
}

function stopRevived(store: Store, name: string): Promise<void> {
  const call = store.systemCall();
  return call.change(async (tx) => {
    const recovery = (await tx.get(Recovery, name)) as RecoveryObject | undefined;
    if (recovery?.status.phase === 'Waiting' && isRevived(recovery, store.settings.epoch))
      await cancelRecovery(tx, call, recovery);
  });
}

/**
 * The wait is over: in this commit every passkey of the account goes, all its sessions count no
 * more, and the person is told.
 */
async function complete(
  tx: Transaction,
  call: Call,
  { metadata: { name }, status: { account } }: RecoveryObject,
): Promise<void> {
  for (const passkey of await call.store(Passkey).list(account))
    await tx.delete(Passkey, passkey.metadata.name);
  if (await tx.get(Account, account)) await revokeOtherSessions(tx, call, account, 0);
  await tx.update(Recovery, name, async (next) => {
    const recovery = next as RecoveryObject;
    recovery.status.phase = 'Completed';
    recovery.status.endedTimestamp = toTimestamp(call.now);
    recovery.internal.cancelTokens = [];
    await announceRecovery(tx, call, recovery, 'Completed');
  });
  tx.after(() => call.ports.audit('recovery.completed', { account, recovery: name }));
}
