import type { Translator } from '../i18n/translator.js';
import type { MailContent } from './layout.js';
import { plainName } from './message.js';

/** Data of the notice of an added or removed passkey. Times in milliseconds since the epoch. */
export interface PasskeyChange {
  readonly change: 'Added' | 'Removed';
  /** The passkey's name. */
  readonly name: string;
  /** The browser that made the change; absent if someone other than the owner did. */
  readonly browser?: string;
  readonly host: string;
  /** The URL of the page to undo it. */
  readonly account: string;
  readonly now: number;
}

/** Returns the notice that a passkey was added or removed (docs/design/ui.md#mails). */
export function passkeyMail(
  translator: Translator,
  { change, name, browser, host, account, now }: PasskeyChange,
): MailContent {
  const id = `mail.passkey${change}` as const;
  const values = { passkey: plainName(name), date: translator.date(now) };
  const about =
    browser === undefined
      ? translator.text(`${id}.byOperator`, values)
      : translator.text(`${id}.byOwner`, { ...values, browser: translator.browser(browser) });
  return {
    subject: translator.text(`${id}.subject`, { host }),
    blocks: [
      { text: about },
      { text: translator.text(`${id}.notYou`) },
      { link: account, label: translator.text('mail.account.open') },
    ],
  };
}
