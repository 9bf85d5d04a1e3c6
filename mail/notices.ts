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
    { text: 'Type this code on your account page:' },
    { code },
    {
      text:
        `Requested at ${formatTime(now)} from ${browser} to make this the address of an account with ` +
        `${host}. It works once, until ${formatTime(ends)}, in the same browser only.`,
    },
    {
      footer: 'If this was not you, ignore this email. Do not share the code with anyone.',
    },
  ]);

/** Returns the notice to the former address of an account. */
export const addressChangedMail = ({ host, browser, now }: AddressChanged): Message =>
  createMessage(`Your address for ${host} was changed`, [
    {
      text:
        `The address of your account with ${host} was changed on ${formatDay(now)} from ${browser}. ` +
        'You can no longer sign in with this address. All other browsers were signed out.',
    },
    {
      text: `If this was not you, someone else can use your account. Contact the people who run ${host} now.`,
    },
  ]);

/** Returns the last mail to a person, about the deletion of their account. */
export const accountDeletedMail = ({ host, browser, asked, byOwner }: AccountDeleted): Message =>
  createMessage(`Your account with ${host} was deleted`, [
    {
      text: `Your account with ${host} was deleted. This was requested on ${formatDay(asked)} ${byOwner ? `from ${browser}` : 'by an operator of the service'}.`,
    },
    {
      text:
        'You are signed out everywhere, and apps have lost access. Your passkeys, sessions and ' +
        'decisions were removed. Delete the passkeys in your password manager, too.',
    },
    {
      footer:
        'This cannot be undone. If you sign in with this address again, you get a new account ' +
        'without your old data.',
    },
  ]);

/** Returns the notice of a sign-in from a browser without a session of the account. */
export const newBrowserMail = ({ host, browser, now, account }: NewBrowser): Message =>
  createMessage(`A new sign-in to your account with ${host}`, [
    {
      text:
        `Someone signed in to your account with ${host} on ${formatDay(now)} from ${browser}. This ` +
        'browser is new to your account. If this was you, you need not do anything.',
    },
    {
      text:
        'If this was not you, sign out that browser on your account page. Then make sure that no ' +
        'one else can read your email:',
    },
    { link: account, label: 'See where you are signed in' },
  ]);
