import type { Call, Transaction } from '../../../registry/kind.js';
import { Account } from './account.js';

/**
 * Ends what the command holds of an account, in this commit: its tokens, and codes that it has not
 * redeemed. With `endsApps`, the same of every app (docs/design/security.md#taking-an-account-back).
 */
export async function endTokens(tx: Transaction, account: string, endsApps = false): Promise<void> {
  if (!(await tx.get(Account, account))) return;
  await tx.update(Account, account, ({ internal }) => {
    const { command, apps } = internal.tokensEnded ?? { command: 0, apps: 0 };
    internal.tokensEnded = { command: command + 1, apps: apps + (endsApps ? 1 : 0) };
  });
}

/**
 * Ends what goes with sessions that someone ends elsewhere, in this commit: sign-ins under way, and
 * what the command holds.
 */
export async function endSignInsUnderWay(
  tx: Transaction,
  { now }: Pick<Call, 'now'>,
  account: string,
): Promise<void> {
  await endTokens(tx, account);
  if (await tx.get(Account, account)) {
    await tx.update(Account, account, ({ internal }) => {
      internal.signInsEnded = now;
    });
  }
}
