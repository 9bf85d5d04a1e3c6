import type { ComponentChild } from 'preact';
import type { MessageID } from '../messages/catalog.js';
import { locale, messageText } from '../base/text/i18n.js';
import { truncate, Ltr } from '../base/text/message.js';

/** Returns the word for a name of the policy vocabulary, or the name itself if there is none. */
export function wordFor(set: 'act' | 'kind' | 'who', name: string): ComponentChild {
  const id = `${set}.${name}` as MessageID;
  const word = messageText(id);
  return word === id ? <Ltr of={truncate(name)} /> : word;
}

/** Joins elements into a list in the form of the language. */
export const joinList = (items: readonly ComponentChild[]): ComponentChild =>
  new Intl.ListFormat(locale(), { type: 'unit' })
    .formatToParts(items.map((_, i) => String(i)))
    .map(({ type, value }) => (type === 'element' ? items[Number(value)] : value));
