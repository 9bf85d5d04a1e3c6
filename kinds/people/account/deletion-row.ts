import type { MailOrder } from '../../../mail/messages.js';
import type { Call, Transaction } from '../../../registry/kind.js';
import { dayMs } from '../../../registry/schema/units.js';
import { mailLanguage } from '../../signin/mail-language.js';
import { describeBrowser } from '../../signin/user-agent.js';

/** What is removed: the account with everything it owns, or only its sign-ins and tokens. */
type Closing = { readonly account: string; readonly why: 'Deleted' | 'Disabled' };

/**
 * The outbox row of a closing: `asked` in ms since the epoch, the browser of the request, and
 * whether the owner requested it.
 */
export type ClosingRow = Closing &
  Pick<MailOrder, 'languages' | 'timeZone'> & {
    readonly asked: number;
    readonly browser: string;
    readonly byOwner: boolean;
  };

/** How long the worker retries, in milliseconds. */
const retryForMs = 30 * dayMs;

/**
 * Enqueues the deletion. The worker runs it after the commit and retries until it completes
 * (`accountactions/deletion-worker.ts`).
 */
export async function enqueueDeletion(
  tx: Transaction,
  call: Call,
  closing: Closing,
  profile: Parameters<typeof mailLanguage>[1] = {},
): Promise<void> {
  const byOwner = call.caller.type === 'Account' && call.caller.account === closing.account;
  const row: ClosingRow = {
    ...closing,
    asked: call.now,
    browser: describeBrowser(call.request.userAgent),
    byOwner,
    ...mailLanguage(call, profile),
  };
  await tx.enqueue('closing', row, call.now + retryForMs, { id: closing.account });
}
