import type { Translator } from '../i18n/translator.js';
import type { Block, MailContent } from './layout.js';
import { plainName } from './message.js';

/** Data of the sign-in mail. Times in milliseconds since the epoch. */
export interface SignIn {
  /** The name of the app; absent for the account page. */
  readonly client?: string;
  /** Absent while codes are locked for the address; the mail then has only the link. */
  readonly code?: string;
  readonly link: string;
  readonly browser: string;
  readonly host: string;
  readonly now: number;
  readonly ends: number;
}

/**
 * Returns the mail with code and link. Its subject has no code, since lock screens show subjects.
 */
export function signInMail(
  translator: Translator,
  { client, code, link, browser, host, now, ends }: SignIn,
): MailContent {
  const app = client === undefined ? undefined : plainName(client);
  const blocks: Block[] = [
    ...(code
      ? [
          { text: translator.text('mail.signIn.code') },
          { code },
          { text: translator.text('mail.signIn.codeOrLink') },
        ]
      : [{ text: translator.text('mail.signIn.link') }]),
    {
      link,
      label: app
        ? translator.text('mail.signIn.continue', { app })
        : translator.text('mail.signIn.own.continue'),
    },
    {
      text: translator.text(app ? 'mail.signIn.about' : 'mail.signIn.own.about', {
        time: translator.time(now),
        browser: translator.browser(browser),
        app: app ?? '',
        host,
        until: translator.time(ends),
        minutes: Math.round((ends - now) / 60_000),
      }),
    },
    { footer: translator.text('mail.ignore') },
  ];
  const subject = app
    ? translator.text('mail.signIn.subject', { app })
    : translator.text('mail.signIn.own.subject', { host });
  return { subject, blocks };
}
