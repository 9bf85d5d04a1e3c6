import { z } from 'zod';
import { defineAction } from '../../../registry/action.js';
import type { Call, Transaction } from '../../../registry/kind.js';
import type { LimitOf } from '../../../registry/limits/rate-limit.js';
import {
  fromTimestamp,
  toLaterTimestamp,
  toTimestamp,
} from '../../../registry/schema/timestamp.js';
import { dayMs, daySeconds, hourMs } from '../../../registry/schema/units.js';
import { conflict } from '../../../registry/status/status.js';
import { randomName } from '../../../registry/store/random-name.js';
import { requireRecentAuthentication } from '../../signin/recent-sign-in.js';
import { describeBrowser } from '../../signin/user-agent.js';
import { Account } from '../account/account.js';
import { delayWaitingPasskeys } from '../passkey/delay-strength.js';
import { announceRecovery } from './announce.js';
import { Recovery } from './recovery.js';
import type { RecoveryObject } from './recovery-object.js';
import { type RecoveryRow, recoverySteps, stepTime } from './worker.js';

/** Limits the recoveries that an account may start itself in a day, because each sends mails. */
const startLimit: LimitOf = ({ recoveriesPerAccountDay }) => ({
  name: 'recovery',
  setting: 'recoveriesPerAccountDay',
  max: recoveriesPerAccountDay,
  seconds: daySeconds,
});

/** How long a due step is retried, in milliseconds. */
const retryForMs = 30 * dayMs;

/** How much longer than the recovery a passkey below full strength waits, in milliseconds. */
const fullStrengthDelayMs = hourMs;

/**
 * POST accounts/<name>/recovery: starts the recovery of an account without its passkeys. The owner
 * needs a recent sign-in by any method; an operator needs the policy's permission. Both wait
 * equally long, and the token of any mail and every session can cancel it.
 */
export const startRecovery = defineAction({
  of: Account,
  subresource: 'recovery',
  verb: 'create',
  kind: 'Recovery',
  answers: Recovery,
  code: 201,
  description:
    'Starts the removal of all passkeys of the account, which takes effect after a wait.',
  spec: z.object({}),
  async run(call, { metadata: { name } }) {
    const isOwn = call.caller.type === 'Account' && call.caller.account === name;
    if (isOwn) requireRecentAuthentication(call, Recovery, undefined, 0);
    return call.change(async (tx) => {
      const account = (await tx.get(Account, name))!;
      if (account.metadata.deletionTimestamp) throw conflict(Account, name, 'it is being deleted');
      if (account.status.passkeys === 0) {
        throw conflict(Account, name, 'it has no passkeys; sign in by mail instead');
      }
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
    readyTimestamp: toLaterTimestamp(call.now + wait),
  };
  const created = await tx.create(Recovery, {
    metadata: { name: `${account}-${randomName(10)}` },
    spec: {},
    status,
    internal: { cancelTokens: [], announced: [], epoch: call.settings.epoch },
  });
  const { name } = created.metadata;
  const recovery = await tx.update(Recovery, name, (next) =>
    announceRecovery(tx, call, next, 'Started'),
  );
  for (const step of recoverySteps) {
    const due = stepTime(recovery, step);
    await tx.enqueue('recovery', { recovery: name, step } satisfies RecoveryRow, due + retryForMs, {
      id: `${name}-${step}`,
      notBefore: due,
    });
  }
  const until = fromTimestamp(recovery.status.readyTimestamp) + fullStrengthDelayMs;
  await delayWaitingPasskeys(tx, call, account, toTimestamp(until));
  tx.after(() =>
    call.ports.audit('recovery.started', { account, recovery: name, by: status.startedBy }),
  );
  return recovery;
}
