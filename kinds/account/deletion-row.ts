import type { Call, Transaction } from '../../registry/kind.js';
import { describeBrowser } from '../signin/user-agent.js';

/** What is taken from an account: everything, or every sign-in and all that was issued. */
type Closing = { readonly account: string; readonly why: 'Deleted' | 'Disabled' };

/**
 * A Closing as it waits to be carried out: who asked for it, when (ms since the epoch), and from
 * what.
 */
export type ClosingRow = Closing & {
  readonly asked: number;
  readonly browser: string;
  readonly byOwner: boolean;
};

/** It is tried for so long, in milliseconds. */
const patience = 30 * 86_400_000;

/** Has it carried out after the commit, to the end, whatever happens meanwhile (`closer.ts`). */
export async function enqueueDeletion(
  tx: Transaction,
  call: Call,
  closing: Closing,
): Promise<void> {
  const byOwner = call.caller.type === 'Account' && call.caller.account === closing.account;
  const row: ClosingRow = {
    ...closing,
    asked: call.now,
    browser: describeBrowser(call.request.userAgent),
    byOwner,
  };
  await tx.enqueue('closing', row, call.now + patience, { id: closing.account });
}
