import { Translator } from '../i18n/translator.js';
import { type AccessDecided, accessDecidedMail } from './access.js';
import { type InvitationNotice, invitationMail } from './invitation.js';
import { layout, type MailAppearance, type MailContent } from './layout.js';
import { type Message, plainName } from './message.js';
import {
  type AccountDeleted,
  type AddressChanged,
  accountDeletedMail,
  addressChangedMail,
  type NewAddressNotice,
  type NewBrowser,
  newAddressMail,
  newBrowserMail,
  type TestMail,
  testMail,
} from './notices.js';
import { type PasskeyChange, passkeyMail } from './passkey.js';
import { type RecoveryNotice, recoveryMail } from './recovery.js';
import { type SignIn, signInMail } from './sign-in.js';

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
      readonly signIn: SignIn;
      /** The Interaction that waits for it; absent in rows of earlier releases. */
      readonly interaction?: string;
    }
  /** `session` is the Session that waits for it; absent in rows of earlier releases. */
  | { readonly newAddress: NewAddressNotice; readonly session?: string }
  | { readonly addressChanged: AddressChanged }
  | { readonly accountDeleted: AccountDeleted }
  | { readonly newBrowser: NewBrowser }
  | { readonly passkey: PasskeyChange }
  | { readonly recovery: RecoveryNotice }
  | { readonly test: TestMail }
  | { readonly accessDecided: AccessDecided }
  /** `object` is the name of the Invitation. */
  | { readonly invitation: InvitationNotice; readonly object: string }
);

/** Returns the message of an order; throws for a type that this release does not know. */
export function writeMessage(order: MailOrder, appearance: MailAppearance): Message {
  const translator = new Translator(order.languages ?? [], order.timeZone);
  return layout(translator, writeContent(translator, order, appearance), appearance);
}

/** Returns the subject and the blocks of an order. */
export function writeContent(
  translator: Translator,
  order: MailOrder,
  appearance: MailAppearance,
): MailContent {
  const { subject, blocks } = contentOf(translator, order, appearance);
  const { supportURI: link } = appearance;
  const help = link === undefined ? [] : [{ footer: translator.text('mail.help', { link }) }];
  return { subject, blocks: [...blocks, ...help] };
}

function contentOf(
  translator: Translator,
  order: MailOrder,
  { displayName }: MailAppearance,
): MailContent {
  const named = <T extends { readonly host: string }>(data: T): T =>
    displayName === undefined
      ? data
      : { ...data, host: `${plainName(displayName)} (${data.host})` };
  if ('signIn' in order) return signInMail(translator, named(order.signIn));
  if ('newAddress' in order) return newAddressMail(translator, named(order.newAddress));
  if ('addressChanged' in order) return addressChangedMail(translator, named(order.addressChanged));
  if ('accountDeleted' in order) return accountDeletedMail(translator, named(order.accountDeleted));
  if ('newBrowser' in order) return newBrowserMail(translator, named(order.newBrowser));
  if ('passkey' in order) return passkeyMail(translator, named(order.passkey));
  if ('recovery' in order) return recoveryMail(translator, named(order.recovery));
  if ('invitation' in order) return invitationMail(translator, named(order.invitation));
  if ('accessDecided' in order) return accessDecidedMail(translator, named(order.accessDecided));
  if ('test' in order) return testMail(translator, named(order.test));
  throw new Error('the outbox has a mail that this release does not support');
}
