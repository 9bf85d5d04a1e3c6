import type { ComponentChild } from 'preact';
import type { MessageID } from '../messages/catalog.js';
import { tag, text } from '../base/i18n.js';
import { cap, Latin } from '../base/message.js';
import { wordsOf } from './id-words.js';

/** A word of ours for what policy calls by a name; the name itself where there is none. */
export function wordFor(set: 'act' | 'kind' | 'who', name: string): ComponentChild {
  const id = `${set}.${name}` as MessageID;
  const word = text(id);
  return word === id ? <Latin of={cap(name)} /> : word;
}

/** Returns a rule's id as words, shortened. */
export const idAsWords = (id: string): string => cap(wordsOf(id));

/** Several things as the language puts them in a row, each an element of its own. */
export const row = (all: readonly ComponentChild[]): ComponentChild =>
  new Intl.ListFormat(tag(), { type: 'unit' })
    .formatToParts(all.map((_, i) => String(i)))
    .map(({ type, value }) => (type === 'element' ? all[Number(value)] : value));
