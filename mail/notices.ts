import type { Translator } from '../i18n/translator.js';
import type { MailContent } from './layout.js';

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

/** Data of the mail that an operator sends to test delivery. */
export interface TestMail {
  readonly host: string;
  readonly now: number;
}

/** Returns the mail that shows that mail arrives. */
export const testMail = (translator: Translator, { host, now }: TestMail): MailContent => ({
  subject: translator.text('mail.test.subject', { host }),
  blocks: [{ text: translator.text('mail.test.about', { host, time: translator.time(now) }) }],
});

/** Returns the mail with the code that verifies a new address. */
export const newAddressMail = (
  translator: Translator,
  { code, host, browser, now, ends }: NewAddressNotice,
): MailContent => ({
  subject: translator.text('mail.newAddress.subject', { host }),
  blocks: [
    { text: translator.text('mail.newAddress.code') },
    { code },
    {
      text: translator.text('mail.newAddress.about', {
        time: translator.time(now),
        browser: translator.browser(browser),
        host,
        until: translator.time(ends),
      }),
    },
    { footer: translator.text('mail.ignore') },
  ],
});

/** Returns the notice to the former address of an account. */
export const addressChangedMail = (
  translator: Translator,
  { host, browser, now }: AddressChanged,
): MailContent => ({
  subject: translator.text('mail.addressChanged.subject', { host }),
  blocks: [
    {
      text: translator.text('mail.addressChanged.about', {
        host,
        date: translator.date(now),
        browser: translator.browser(browser),
      }),
    },
    { text: translator.text('mail.addressChanged.notYou', { host }) },
  ],
});

/** Returns the last mail to a person, about the deletion of their account. */
export function accountDeletedMail(
  translator: Translator,
  { host, browser, asked, byOwner }: AccountDeleted,
): MailContent {
  const values = { host, date: translator.date(asked) };
  return {
    subject: translator.text('mail.accountDeleted.subject', { host }),
    blocks: [
      {
        text: byOwner
          ? translator.text('mail.accountDeleted.byOwner', {
              ...values,
              browser: translator.browser(browser),
            })
          : translator.text('mail.accountDeleted.byOperator', values),
      },
      { text: translator.text('mail.accountDeleted.about') },
      { footer: translator.text('mail.accountDeleted.footer') },
    ],
  };
}

/** Returns the notice of a sign-in from a browser without a session of the account. */
export const newBrowserMail = (
  translator: Translator,
  { host, browser, now, account }: NewBrowser,
): MailContent => ({
  subject: translator.text('mail.newBrowser.subject', { host }),
  blocks: [
    {
      text: translator.text('mail.newBrowser.about', {
        host,
        date: translator.date(now),
        browser: translator.browser(browser),
      }),
    },
    { text: translator.text('mail.newBrowser.notYou') },
    { link: account, label: translator.text('mail.newBrowser.open') },
  ],
});
