import type { StagedWrites } from '../registry/kind.js';
import type { Log } from '../observability/log.js';
import type { Metrics } from '../observability/metrics/metrics.js';
import type { Worker } from '../registry/outbox.js';
import { withSpan } from '../observability/tracer.js';
import { MailRefusedError, Unsure, type Mail, type Transport } from './message.js';
import { write, type MailOrder } from './messages.js';

/**
 * How long a mail may take, in milliseconds: a server may be slow at each command. Were it less,
 * another replica would drop a mail that this one is to try again.
 */
const sendingFor = 150_000;

const waits = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000];

/** What keeps a mail instead of sending it: the Part that creates a MockMessage. */
export type Mailbox = (mail: Mail, id: string) => Promise<StagedWrites>;

/**
 * What became of a mail that was not sent at once, for who waits for it; nothing once it was sent
 * after all.
 */
export type DeliveryState = 'Deferred' | 'Failed' | 'Unknown' | undefined;

/** Notes what became of the mail of a row. */
export type NoteDelivery = (order: MailOrder, id: string, state: DeliveryState) => Promise<void>;

/**
 * Carries out rows of the mail queue: at most once, again only where it is certain that no one took
 * it, never after its code's life.
 */
export function mailWorker(
  from: string,
  how: { transport: Transport } | { mailbox: Mailbox },
  log: Log,
  outcomes?: Metrics['mail'],
  note?: NoteDelivery,
): Worker {
  const noted = (...of: Parameters<NoteDelivery>): Promise<void> =>
    (note?.(...of) ?? Promise.resolve()).catch((error: unknown) =>
      log.warn({ err: error }, 'what became of a mail could not be noted'),
    );
  return {
    name: 'mail',
    delivery: 'mailbox' in how ? 'Idempotent' : 'AtMostOnce',
    maxParallel: 5,
    claimMs: sendingFor,
    async run(payload, { id, attempt, until }) {
      const order = payload as MailOrder;
      const mail: Mail = { to: order.to, from, ...write(order) };
      if ('mailbox' in how) {
        const part = await how.mailbox(mail, id);
        outcomes?.inc({ outcome: 'Kept' });
        return { done: true, part };
      }
      try {
        await withSpan('mail', () => how.transport.send(mail, id));
      } catch (error) {
        const refused = error instanceof MailRefusedError && !error.permanent;
        const notBefore = Date.now() + waits[Math.min(attempt - 1, waits.length - 1)]!;
        const again = refused && notBefore < until;
        const failed = error instanceof MailRefusedError ? 'Failed' : 'Unknown';
        const state = again ? 'Deferred' : failed;
        outcomes?.inc({ outcome: state });
        const failing =
          error instanceof MailRefusedError || error instanceof Unsure ? error.failing : undefined;
        log.warn({ err: error, ...failing, attempt, again }, 'a mail was not sent');
        await noted(order, id, state);
        return again ? { done: false, notBefore } : { done: true };
      }
      outcomes?.inc({ outcome: 'Sent' });
      if (attempt > 1) await noted(order, id, undefined);
      return { done: true };
    },
  };
}
