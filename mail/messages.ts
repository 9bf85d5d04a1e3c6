import type { Message } from './message.js';
import { passkeyMail, type PasskeyChange } from './passkey.js';
import { signInMail, type SignIn } from './signin.js';

/** A mail to be written: to whom, and what it tells. This, not the words, is what waits in the outbox. */
export type MailOrder = { readonly to: string; readonly signIn: SignIn } | { readonly to: string; readonly passkey: PasskeyChange };

/** Writes what an order asks for; throws for one of a release that knew other messages. */
export function write(order: MailOrder): Message {
  if ('signIn' in order) return signInMail(order.signIn);
  if ('passkey' in order) return passkeyMail(order.passkey);
  throw new Error('the outbox asks for a mail that this release does not know');
}
