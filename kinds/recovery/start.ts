import { z } from 'zod';
import { defineAction } from '../../registry/action.js';
import type { Call, Transaction } from '../../registry/kind.js';
import type { LimitOf } from '../../registry/rate-limit.js';
import { conflict } from '../../registry/status.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { randomName } from '../../registry/transaction.js';
import { Account } from '../account/account.js';
import { requireRecentAuthentication } from '../signin/recent-sign-in.js';
import { Passkey } from '../passkey/passkey.js';
import { describeBrowser } from '../signin/user-agent.js';
import { announceRecovery } from './announce.js';
import { Recovery } from './recovery.js';
import type { RecoveryObject } from './recovery-object.js';
import { recoverySteps, stepTime, type RecoveryRow } from './worker.js';

/** Recoveries of one account that it may start itself in a day: each is a mail. */
const startLimit: LimitOf = ({ recoveriesPerAccountDay }) => ({
  name: 'recovery',
  max: recoveriesPerAccountDay,
  seconds: 86_400,
});

/** How long a step of a recovery is tried once it is due, in milliseconds. */
const patience = 30 * 86_400_000;

/**
 * How much longer than a recovery a passkey waits that does not count in full yet, in milliseconds.
 */
const slack = 3_600_000;

/**
 * POST accounts/<name>/recovery: begins the way back in for someone who lost all passkeys. The
 * person starts it soon after a sign-in by any method, an operator as the policy permits; both wait
 * as long, and in both cases the mailbox, every mail and every session can stop it.
 */
export const startRecovery = defineAction({
  of: Account,
  subresource: 'recovery',
  verb: 'create',
  kind: 'Recovery',
  answers: Recovery,
  code: 201,
  description: 'Begins to remove all passkeys of the account, which takes effect after a wait.',
  spec: z.object({}),
  async run(call, { metadata: { name } }) {
    const isOwn = call.caller.type === 'Account' && call.caller.account === name;
    if (isOwn) requireRecentAuthentication(call, Recovery, undefined, 0);
    return call.change(async (tx) => {
      const account = (await tx.get(Account, name))!;
      if (account.metadata.deletionTimestamp) throw conflict(Account, name, 'it is being deleted');
      if (account.status.passkeys === 0)
        throw conflict(Account, name, 'it has no passkeys: a sign-in by mail is enough');
      if (isOwn) await tx.spend(startLimit(call.settings.limits), name);
      return start(tx, call, name, isOwn);
    });
  },
});

async function start(
  tx: Transaction,
  call: Call,
  account: string,
  isOwn: boolean,
): Promise<RecoveryObject> {
  const wait = call.settings.limits.recoveryWait;
  const status: RecoveryObject['status'] = {
    account,
    phase: 'Waiting',
    startedBy: isOwn ? 'Person' : 'Operator',
    ...(isOwn && { startedFrom: describeBrowser(call.request.userAgent) }),
    startedTimestamp: toTimestamp(call.now),
    halfwayTimestamp: toTimestamp(call.now + Math.ceil(wait / 2)),
    readyTimestamp: toTimestamp(Math.ceil((call.now + wait) / 1000) * 1000),
  };
  const created = await tx.create(Recovery, {
    metadata: { name: `${account}-${randomName(10)}` },
    spec: {},
    status,
    internal: { cancelTokens: [], announced: [], epoch: call.settings.epoch },
  });
  const { name } = created.metadata;
  const recovery = (await tx.update(Recovery, name, (next) =>
    announceRecovery(tx, call, next as RecoveryObject, 'Started'),
  )) as RecoveryObject;
  for (const step of recoverySteps) {
    const due = stepTime(recovery, step);
    await tx.enqueue('recovery', { recovery: name, step } satisfies RecoveryRow, due + patience, {
      id: `${name}-${step}`,
      notBefore: due,
    });
  }
  await holdBack(tx, call, account, Date.parse(recovery.status.readyTimestamp) + slack);
  tx.after(() =>
    call.ports.audit('recovery.started', { account, recovery: name, by: status.startedBy }),
  );
  return recovery;
}

/**
 * A passkey that does not count in full yet does not begin to while its owner is on the way back
 * in: else anyone who added it would be first.
 */
async function holdBack(
  tx: Transaction,
  call: Call,
  account: string,
  until: number,
): Promise<void> {
  for (const { metadata, status } of await call.store(Passkey).list(account)) {
    const from =
      status.fullStrengthTimestamp === undefined ? 0 : Date.parse(status.fullStrengthTimestamp);
    if (from > call.now && from < until)
      await tx.update(Passkey, metadata.name, (next) => {
        next.status.fullStrengthTimestamp = toTimestamp(until);
      });
  }
}
