import { Translator } from '../i18n/translator.js';
import { invitationMail, type InvitationNotice } from './invitation.js';
import type { Message } from './message.js';
import {
  accountDeletedMail,
  addressChangedMail,
  newAddressMail,
  newBrowserMail,
  type AccountDeleted,
  type AddressChanged,
  type NewAddressNotice,
  type NewBrowser,
} from './notices.js';
import { passkeyMail, type PasskeyChange } from './passkey.js';
import { recoveryMail, type RecoveryNotice } from './recovery.js';
import { signInMail, type SignIn } from './sign-in.js';

/**
 * A mail in the outbox: the recipient and the data of the message, not its text.
 *
 * @example
 * ```ts
 * const order: MailOrder = {
 *   to: 'ada@example.test',
 *   addressChanged: { host: 'id.example.test', browser: 'Firefox on Linux', now: call.now },
 * };
 * await call.change((tx) => tx.enqueue('mail', order, call.now + 86_400_000));
 * ```
 */
export type MailOrder = {
  readonly to: string;
  /** The languages of its reader, the preferred first (BCP 47). */
  readonly languages?: readonly string[];
  /** The time zone of its reader, as in the tz database. */
  readonly timeZone?: string;
} & (
  | {
      readonly signIn: SignIn /** The Interaction that waits for it; absent in rows of earlier releases. */;
      readonly interaction?: string;
    }
  | { readonly newAddress: NewAddressNotice }
  | { readonly addressChanged: AddressChanged }
  | { readonly accountDeleted: AccountDeleted }
  | { readonly newBrowser: NewBrowser }
  | { readonly passkey: PasskeyChange }
  | { readonly recovery: RecoveryNotice }
  /** `object` is the name of the Invitation. */
  | { readonly invitation: InvitationNotice; readonly object: string }
);

/** Returns the message of an order; throws for a type that this release does not know. */
export function writeMessage(order: MailOrder): Message {
  const translator = new Translator(order.languages ?? [], order.timeZone);
  if ('signIn' in order) return signInMail(translator, order.signIn);
  if ('newAddress' in order) return newAddressMail(translator, order.newAddress);
  if ('addressChanged' in order) return addressChangedMail(translator, order.addressChanged);
  if ('accountDeleted' in order) return accountDeletedMail(translator, order.accountDeleted);
  if ('newBrowser' in order) return newBrowserMail(translator, order.newBrowser);
  if ('passkey' in order) return passkeyMail(translator, order.passkey);
  if ('recovery' in order) return recoveryMail(translator, order.recovery);
  if ('invitation' in order) return invitationMail(translator, order.invitation);
  throw new Error('the outbox has a mail that this release does not support');
}
