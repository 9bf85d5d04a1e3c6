import type { Log } from '../observability/log.js';
import { withSpan } from '../observability/tracer.js';
import type { StagedWrites } from '../registry/kind.js';
import type { Worker } from '../registry/store/outbox.js';
import type { MailAppearance } from './layout.js';
import {
  DeliveryUnknownError,
  type Mail,
  MailRefusedError,
  plainName,
  type Transport,
} from './message.js';
import { type MailOrder, writeMessage } from './messages.js';
import type { MailOutcomes } from './outcomes.js';

/**
 * The longest a mail may take in milliseconds, since a server may be slow at each command. With
 * less, another replica would drop a mail that this one will retry.
 */
const claimTimeoutMs = 150_000;

const retryDelaysMs = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000];

/** The sender of all mails, and how they look now. */
export interface MailSender {
  readonly from: () => string;
  readonly appearance: () => MailAppearance;
}

/** Keeps a mail instead of sending it; returns the writes that create a MockMessage. */
export type Mailbox = (mail: Mail, id: string) => Promise<StagedWrites>;

/** The state of a mail that was not sent at once; undefined if it was sent later. */
export type DeliveryState = 'Deferred' | 'Failed' | 'Unknown' | undefined;

/** Records the delivery state of a mail. */
export type RecordDelivery = (order: MailOrder, id: string, state: DeliveryState) => Promise<void>;

/**
 * Sends mails from the outbox, at most once each. Retries only if the mail was certainly not
 * accepted and its code is still valid.
 */
export function mailWorker(
  { from, appearance }: MailSender,
  target: { transport: Transport } | { mailbox: Mailbox },
  log: Log,
  outcomes?: MailOutcomes,
  recordDelivery?: RecordDelivery,
): Worker<MailOrder> {
  const recordSafely = (...args: Parameters<RecordDelivery>): Promise<void> =>
    (recordDelivery?.(...args) ?? Promise.resolve()).catch((error: unknown) =>
      log.warn({ err: error }, 'mail delivery state could not be recorded'),
    );
  return {
    name: 'mail',
    delivery: 'mailbox' in target ? 'Idempotent' : 'AtMostOnce',
    maxParallel: 5,
    claimMs: claimTimeoutMs,
    async run(order, { id, attempt, until }) {
      const current = appearance();
      const { displayName } = current;
      // A mailbox shows the HTML on a page, which has no attachments.
      const shown = 'mailbox' in target ? { ...current, logoFile: undefined } : current;
      const mail: Mail = {
        to: order.to,
        from: from(),
        ...(displayName !== undefined && { fromName: plainName(displayName) }),
        ...writeMessage(order, shown),
      };
      if ('mailbox' in target) {
        const part = await target.mailbox(mail, id);
        outcomes?.count('Kept');
        return { done: true, part };
      }
      try {
        await withSpan('mail', () => target.transport.send(mail, id));
      } catch (error) {
        const refused = error instanceof MailRefusedError && !error.permanent;
        const notBefore =
          Date.now() + retryDelaysMs[Math.min(attempt - 1, retryDelaysMs.length - 1)]!;
        const willRetry = refused && notBefore < until;
        const failed = error instanceof MailRefusedError ? 'Failed' : 'Unknown';
        const state = willRetry ? 'Deferred' : failed;
        outcomes?.count(state);
        const serverFailure =
          error instanceof MailRefusedError || error instanceof DeliveryUnknownError
            ? error.serverFailure
            : undefined;
        log.warn(
          { err: error, ...serverFailure, attempt, again: willRetry },
          'a mail was not sent',
        );
        await recordSafely(order, id, state);
        return willRetry ? { done: false, notBefore } : { done: true };
      }
      outcomes?.count('Sent');
      if (attempt > 1) await recordSafely(order, id, undefined);
      return { done: true };
    },
  };
}
