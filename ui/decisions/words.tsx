import type { ComponentChild } from 'preact';
import type { MessageID } from '../messages/catalog.js';
import { locale, messageText } from '../base/i18n.js';
import { truncate, Ltr } from '../base/message.js';
import { idToWords } from './id-words.js';

/** A word of ours for what policy calls by a name; the name itself where there is none. */
export function wordFor(set: 'act' | 'kind' | 'who', name: string): ComponentChild {
  const id = `${set}.${name}` as MessageID;
  const word = messageText(id);
  return word === id ? <Ltr of={truncate(name)} /> : word;
}

/** Returns a rule's id as words, shortened. */
export const ruleTitle = (id: string): string => truncate(idToWords(id));

/** Several things as the language puts them in a row, each an element of its own. */
export const joinList = (all: readonly ComponentChild[]): ComponentChild =>
  new Intl.ListFormat(locale(), { type: 'unit' })
    .formatToParts(all.map((_, i) => String(i)))
    .map(({ type, value }) => (type === 'element' ? all[Number(value)] : value));
