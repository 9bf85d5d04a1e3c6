import { layout, type Block } from './layout.js';
import type { Message } from './message.js';

/** What the mail to a new address tells. Times in milliseconds since the epoch. */
export interface NewAddressNotice {
  readonly code: string;
  readonly host: string;
  readonly browser: string;
  readonly now: number;
  readonly ends: number;
}

/** What the mail to a former address tells. */
export interface AddressChanged {
  readonly host: string;
  readonly browser: string;
  readonly now: number;
}

/** What the mail about a deleted account tells. */
export interface AccountDeleted {
  readonly host: string;
  readonly browser: string;
  readonly asked: number;
  readonly byOwner: boolean;
}

/**
 * What the mail about a sign-in from another browser tells; `account` is the address of the
 * person's own page.
 */
export interface NewBrowser {
  readonly host: string;
  readonly browser: string;
  readonly now: number;
  readonly account: string;
}

const clock = (time: number): string => `${new Date(time).toISOString().slice(11, 16)} UTC`;
const day = (time: number): string =>
  `${new Date(time).toISOString().slice(0, 10)} at ${clock(time)}`;
const message = (subject: string, blocks: readonly Block[]): Message => ({
  subject,
  ...layout(subject, blocks),
});

/** The code that proves that a new address is the person's own. */
export const newAddressMail = ({ code, host, browser, now, ends }: NewAddressNotice): Message =>
  message(`Confirm your new address for ${host}`, [
    { text: 'Type this code on your account page:' },
    { code },
    {
      text:
        `Requested at ${clock(now)} from ${browser} to make this the address of an account with ` +
        `${host}. It works once, until ${clock(ends)}, in the same browser only.`,
    },
    {
      text: 'If this was not you, ignore this email. Do not share the code with anyone.',
      quiet: true,
    },
  ]);

/** The notice to the address that was an account's until now. */
export const addressChangedMail = ({ host, browser, now }: AddressChanged): Message =>
  message(`Your address for ${host} was changed`, [
    {
      text:
        `The address of your account with ${host} was changed on ${day(now)} from ${browser}. ` +
        'You can no longer sign in with this address. All other browsers were signed out.',
    },
    {
      text: `If this was not you, someone else can use your account. Contact the people who run ${host} now.`,
    },
  ]);

/** The last mail to a person: their account is gone, and what that means. */
export const accountDeletedMail = ({ host, browser, asked, byOwner }: AccountDeleted): Message =>
  message(`Your account with ${host} was deleted`, [
    {
      text: `Your account with ${host} was deleted. This was requested on ${day(asked)} ${byOwner ? `from ${browser}` : 'by an operator of the service'}.`,
    },
    {
      text:
        'You are signed out everywhere, and apps have lost access. Your passkeys, sessions and ' +
        'decisions were removed. Delete the passkeys in your password manager, too.',
    },
    {
      text:
        'This cannot be undone. If you sign in with this address again, you get a new account ' +
        'without your old data.',
      quiet: true,
    },
  ]);

/**
 * The notice that someone signed in from a browser that none of the account's sessions is from.
 */
export const newBrowserMail = ({ host, browser, now, account }: NewBrowser): Message =>
  message(`A new sign-in to your account with ${host}`, [
    {
      text:
        `Someone signed in to your account with ${host} on ${day(now)} from ${browser}. This ` +
        'browser is new to your account. If this was you, you need not do anything.',
    },
    {
      text:
        'If this was not you, sign out that browser on your account page. Then make sure that no ' +
        'one else can read your email:',
    },
    { link: account, label: 'See where you are signed in' },
  ]);
