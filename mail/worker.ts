import type { Part } from '../registry/kind.js';
import type { Log } from '../registry/observe.js';
import type { Worker } from '../registry/outbox.js';
import { Refused, type Mail, type Transport } from './message.js';
import { write, type MailOrder } from './messages.js';

const waits = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000];

/** What keeps a mail instead of sending it: the Part that creates a MockMessage. */
export type Mailbox = (mail: Mail, id: string) => Promise<Part>;

/** Carries out rows of the mail queue: at most once, again only where it is certain that nobody took it, never after its code's life. */
export function mailWorker(from: string, how: { transport: Transport } | { mailbox: Mailbox }, log: Log): Worker {
  return {
    name: 'mail', delivery: 'mailbox' in how ? 'Transactional' : 'AtMostOnce', parallel: 5,
    async run(payload, { id, attempt, until }) {
      const order = payload as MailOrder;
      const mail: Mail = { to: order.to, from, ...write(order) };
      if ('mailbox' in how) return { done: true, part: await how.mailbox(mail, id) };
      try {
        await how.transport.send(mail, id);
      } catch (error) {
        const refused = error instanceof Refused && !error.permanent;
        const notBefore = Date.now() + waits[Math.min(attempt - 1, waits.length - 1)]!;
        log.warn({ err: error, attempt, again: refused && notBefore < until }, 'a mail was not sent');
        return refused && notBefore < until ? { done: false, notBefore } : { done: true };
      }
      return { done: true };
    },
  };
}
