import type { Part } from '../registry/kind.js';
import type { Log } from '../registry/observe.js';
import type { Tally } from '../registry/meter.js';
import type { Worker } from '../registry/outbox.js';
import { traced } from '../registry/trace.js';
import { Refused, type Mail, type Transport } from './message.js';
import { write, type MailOrder } from './messages.js';

const waits = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000];

/** What keeps a mail instead of sending it: the Part that creates a MockMessage. */
export type Mailbox = (mail: Mail, id: string) => Promise<Part>;

/** What became of a mail: sent, kept in the mock mailbox, refused and tried again later, given up, or perhaps sent. */
export const mailOutcomes = ['Sent', 'Kept', 'Deferred', 'Failed', 'Unknown'] as const;

/** Carries out rows of the mail queue: at most once, again only where it is certain that nobody took it, never after its code's life. */
export function mailWorker(from: string, how: { transport: Transport } | { mailbox: Mailbox }, log: Log, tally?: Tally<(typeof mailOutcomes)[number]>): Worker {
  return {
    name: 'mail', delivery: 'mailbox' in how ? 'Transactional' : 'AtMostOnce', parallel: 5,
    async run(payload, { id, attempt, until }) {
      const order = payload as MailOrder;
      const mail: Mail = { to: order.to, from, ...write(order) };
      if ('mailbox' in how) {
        const part = await how.mailbox(mail, id);
        tally?.add('Kept');
        return { done: true, part };
      }
      try {
        await traced('mail', () => how.transport.send(mail, id));
      } catch (error) {
        const refused = error instanceof Refused && !error.permanent;
        const notBefore = Date.now() + waits[Math.min(attempt - 1, waits.length - 1)]!;
        const again = refused && notBefore < until;
        tally?.add(again ? 'Deferred' : error instanceof Refused ? 'Failed' : 'Unknown');
        log.warn({ err: error, attempt, again }, 'a mail was not sent');
        return again ? { done: false, notBefore } : { done: true };
      }
      tally?.add('Sent');
      return { done: true };
    },
  };
}
