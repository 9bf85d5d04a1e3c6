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
    { text: 'Type this code where you asked to change your address:' },
    { code },
    {
      text:
        `Asked for at ${clock(now)} from ${browser}, to make this the address of an account with ` +
        `${host}. It works until ${clock(ends)}, once, and only in the browser that asked.`,
    },
    {
      text: 'If this was not you, do nothing: your address is used for nothing. Never read the code to anyone.',
      quiet: true,
    },
  ]);

/** The notice to the address that was an account's until now. */
export const addressChangedMail = ({ host, browser, now }: AddressChanged): Message =>
  message(`Your address for ${host} was changed`, [
    {
      text:
        `On ${day(now)} the address of your account with ${host} was changed to another one, ` +
        `from ${browser}. This address can no longer be used to sign in to it, and every other ` +
        'browser was signed out.',
    },
    {
      text: `If this was not you, someone else can use your account: tell the people who run ${host} at once.`,
    },
  ]);

/** The last mail to a person: their account is gone, and what that means. */
export const accountDeletedMail = ({ host, browser, asked, byOwner }: AccountDeleted): Message =>
  message(`Your account with ${host} was deleted`, [
    {
      text: `Your account with ${host} was deleted, as asked for on ${day(asked)} ${byOwner ? `from ${browser}` : 'by an operator of the service'}.`,
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

/**
 * The notice that someone signed in from a browser that none of the account's sessions is from.
 */
export const newBrowserMail = ({ host, browser, now, account }: NewBrowser): Message =>
  message(`A new sign-in to your account with ${host}`, [
    {
      text:
        `On ${day(now)} someone signed in to your account with ${host} from ${browser}, a ` +
        'browser that has not signed in to it before. If this was you, there is nothing to do.',
    },
    {
      text:
        'If it was not, sign that browser out on your account page, and see to it that no one ' +
        'else can read your mail:',
    },
    { link: account, label: 'See where you are signed in' },
  ]);
