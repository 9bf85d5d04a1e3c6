import { catalogLanguage, messageText } from '../base/text/i18n.js';
import { foreignLanguage, localText, type Texts } from '../base/text/local-text.js';
import { truncate } from '../base/text/message.js';
import type { MessageID } from '../messages/catalog.js';
import { idToWords } from './id-words.js';

/** The message of a rule, in the languages that it has. */
export interface RuleMessage {
  readonly message?: string | undefined;
  readonly messages?: Texts;
}

/**
 * Returns the message of a rule in the language of the page: the rule's own, or the translation of a
 * message of the default policy.
 */
export function ruleMessage({ message = '', messages }: RuleMessage): string {
  const id = `says.${message}` as MessageID;
  const translated = messageText(id);
  return translated === id ? localText(message, messages) : translated;
}

/**
 * Returns a rule in a few words, shortened: its message if that is in a language of the page other
 * than English, else its id as words.
 */
export function ruleTitle(id: string, said: RuleMessage = {}): string {
  const message = ruleMessage(said);
  const isOfPage = message !== said.message && foreignLanguage(message) === undefined;
  return truncate(catalogLanguage() !== 'en' && isOfPage && message ? message : idToWords(id));
}
