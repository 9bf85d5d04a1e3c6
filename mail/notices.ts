import { layout, type Block } from './layout.js';
import type { Message } from './message.js';

/** Data of the mail to a new address. Times in milliseconds since the epoch. */
export interface NewAddressNotice {
  readonly code: string;
  readonly host: string;
  readonly browser: string;
  readonly now: number;
  readonly ends: number;
}

/** Data of the mail to a former address. */
export interface AddressChanged {
  readonly host: string;
  readonly browser: string;
  readonly now: number;
}

/** Data of the mail about a deleted account. */
export interface AccountDeleted {
  readonly host: string;
  readonly browser: string;
  readonly asked: number;
  readonly byOwner: boolean;
}

/**
 * Data of the mail about a sign-in from another browser; `account` is the URL of the person's own
 * page.
 */
export interface NewBrowser {
  readonly host: string;
  readonly browser: string;
  readonly now: number;
  readonly account: string;
}

const formatTime = (time: number): string => `${new Date(time).toISOString().slice(11, 16)} UTC`;
const formatDay = (time: number): string =>
  `${new Date(time).toISOString().slice(0, 10)} at ${formatTime(time)}`;
const createMessage = (subject: string, blocks: readonly Block[]): Message => ({
  subject,
  ...layout(subject, blocks),
});

/** Returns the mail with the code that verifies a new address. */
export const newAddressMail = ({ code, host, browser, now, ends }: NewAddressNotice): Message =>
  createMessage(`Confirm your new address for ${host}`, [
    { text: 'Type this code where you asked to change your address:' },
    { code },
    {
      text:
        `Asked for at ${formatTime(now)} from ${browser}, to make this the address of an account with ` +
        `${host}. It works until ${formatTime(ends)}, once, and only in the browser that asked.`,
    },
    {
      text: 'If this was not you, do nothing: your address is used for nothing. Never read the code to anyone.',
      quiet: true,
    },
  ]);

/** Returns the notice to the former address of an account. */
export const addressChangedMail = ({ host, browser, now }: AddressChanged): Message =>
  createMessage(`Your address for ${host} was changed`, [
    {
      text:
        `On ${formatDay(now)} the address of your account with ${host} was changed to another one, ` +
        `from ${browser}. This address can no longer be used to sign in to it, and every other ` +
        'browser was signed out.',
    },
    {
      text: `If this was not you, someone else can use your account: tell the people who run ${host} at once.`,
    },
  ]);

/** Returns the last mail to a person, about the deletion of their account. */
export const accountDeletedMail = ({ host, browser, asked, byOwner }: AccountDeleted): Message =>
  createMessage(`Your account with ${host} was deleted`, [
    {
      text: `Your account with ${host} was deleted, as asked for on ${formatDay(asked)} ${byOwner ? `from ${browser}` : 'by an operator of the service'}.`,
    },
    {
      text:
        'You are signed out everywhere. What services were allowed to see about you is ' +
        'withdrawn; your passkeys, sessions and the decisions kept about you are removed. ' +
        'Passkeys may remain in your password manager: you can delete them there.',
    },
    {
      text:
        'This cannot be undone. You can sign in with this address again at any time; that makes ' +
        'a new account, which knows nothing of this one.',
      quiet: true,
    },
  ]);

/** Returns the notice of a sign-in from a browser without a session of the account. */
export const newBrowserMail = ({ host, browser, now, account }: NewBrowser): Message =>
  createMessage(`A new sign-in to your account with ${host}`, [
    {
      text:
        `On ${formatDay(now)} someone signed in to your account with ${host} from ${browser}, a ` +
        'browser that has not signed in to it before. If this was you, there is nothing to do.',
    },
    {
      text:
        'If it was not, sign that browser out on your account page, and see to it that no one ' +
        'else can read your mail:',
    },
    { link: account, label: 'See where you are signed in' },
  ]);
