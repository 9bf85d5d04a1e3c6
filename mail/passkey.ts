import type { Translator } from '../i18n/translator.js';
import { createMessage } from './layout.js';
import { plainName, type Message } from './message.js';

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
): Message {
  const id = `mail.passkey${change}` as const;
  const values = { passkey: plainName(name), date: translator.date(now) };
  const about =
    browser === undefined
      ? translator.text(`${id}.byOperator`, values)
      : translator.text(`${id}.byOwner`, { ...values, browser: translator.browser(browser) });
  return createMessage(translator, translator.text(`${id}.subject`, { host }), [
    { text: about },
    { text: translator.text(`${id}.notYou`) },
    { link: account, label: translator.text('mail.account.open') },
  ]);
}
