import type { Translator } from '../i18n/translator.js';
import type { MailContent } from './layout.js';

/** Data of the mail about a decided AccessRequest; `until` in milliseconds since the epoch. */
export interface AccessDecided {
  readonly host: string;
  /** The URL of the person's account page. */
  readonly account: string;
  readonly group: string;
  /** When the membership ends; absent if the request was denied. */
  readonly until?: number;
}

/** Returns the mail to the person whose AccessRequest was approved or denied. */
export function accessDecidedMail(
  translator: Translator,
  { host, account, group, until }: AccessDecided,
): MailContent {
  const isApproved = until !== undefined;
  return {
    subject: translator.text(isApproved ? 'mail.access.approved' : 'mail.access.denied', { group }),
    blocks: [
      {
        text: isApproved
          ? translator.text('mail.access.until', { group, host, date: translator.date(until) })
          : translator.text('mail.access.refused', { group, host }),
      },
      { link: account, label: translator.text('mail.account.open') },
    ],
  };
}
