import type { Message } from './message.js';
import { signInMail, type SignIn } from './signin.js';

/** A mail to be written: to whom, and what it tells. This, not the words, is what waits in the outbox. */
export type MailOrder = { readonly to: string; readonly signIn: SignIn };

/** Writes what an order asks for; throws for one of a release that knew other messages. */
export function write(order: MailOrder): Message {
  if ('signIn' in order) return signInMail(order.signIn);
  throw new Error('the outbox asks for a mail that this release does not know');
}
