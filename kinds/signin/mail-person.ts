import type { MailOrder } from '../../mail/messages.js';
import type { Call, Transaction } from '../../registry/kind.js';
import { dayMs } from '../../registry/schema/units.js';
import { mailLanguage, type Profile, profileOf } from './mail-language.js';

/** How long delivery of a mail is retried, in milliseconds. */
export const mailRetryMs = dayMs;

/** A person as their Account describes them. */
interface Recipient {
  readonly spec: Profile;
  readonly status: { readonly email: { readonly address: string } };
  readonly internal: { readonly timeZone?: string | undefined };
}

type ContentOf<Order> = Order extends unknown
  ? Omit<Order, 'to' | 'languages' | 'timeZone'>
  : never;

/** Enqueues a mail to a person, in their language. */
export const mailPerson = (
  tx: Pick<Transaction, 'enqueue'>,
  call: Call,
  account: Recipient,
  content: ContentOf<MailOrder>,
): Promise<void> => {
  const to = account.status.email.address;
  const order = { to, ...content, ...mailLanguage(call, profileOf(account)) };
  return tx.enqueue('mail', order, call.now + mailRetryMs);
};
