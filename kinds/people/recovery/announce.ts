import { randomBytes } from 'node:crypto';
import type { RecoveryNotice } from '../../../mail/recovery.js';
import type { Call, Transaction } from '../../../registry/kind.js';
import { fromTimestamp } from '../../../registry/schema/timestamp.js';
import { digest } from '../../../security/keyring.js';
import { mailPerson } from '../../signin/mail-person.js';
import { Account } from '../account/account.js';
import type { RecoveryObject } from './recovery-object.js';

/**
 * Mails the state of a recovery to the account's current address. While it waits, each mail has its
 * own token to cancel it; `internal` stores the hash.
 */
export async function announceRecovery(
  tx: Transaction,
  call: Call,
  { metadata, status, internal }: RecoveryObject,
  event: RecoveryNotice['event'],
  cancelled: Pick<RecoveryNotice, 'by' | 'byPasskey'> = {},
): Promise<void> {
  const account = await tx.get(Account, status.account);
  if (!account) return;
  const { baseURL } = call.settings;
  const token = status.phase === 'Waiting' ? randomBytes(32).toString('base64url') : undefined;
  if (token) internal.cancelTokens = [...internal.cancelTokens, digest(token)];
  internal.announced = [...internal.announced, event];
  const notice: RecoveryNotice = {
    event,
    host: new URL(baseURL).host,
    ready: fromTimestamp(status.readyTimestamp),
    now: call.now,
    account: `${baseURL}/account`,
    startedBy: status.startedBy,
    ...(status.startedFrom && { startedFrom: status.startedFrom }),
    ...(token && { cancel: `${baseURL}/recovery#${metadata.name}.${token}` }),
    ...cancelled,
  };
  await mailPerson(tx, call, account, { recovery: notice });
}
