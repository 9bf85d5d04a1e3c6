import { expect } from '@jest/globals';
import { expectFor } from './expect-for.js';

/** Texts by ID. */
export type Messages = Readonly<Record<string, string>>;

const argument = /\{(\w+)(, plural,(?: \w+ \{[^{}]*\})+)?\}/g;

/** The arguments of a message, and whether each is a number with plural forms. */
const argumentsOf = (text: string): string[] =>
  [...text.matchAll(argument)].map(([, name, forms]) => `${name}${forms ? ', plural' : ''}`).sort();

/** The plural forms of each number in a message. */
const pluralsOf = (text: string): string[][] =>
  [...text.matchAll(argument)].flatMap(([, , forms]) =>
    forms ? [[...forms.matchAll(/ (\w+) \{/g)].map(([, name = '']) => name).sort()] : [],
  );

/** Fails unless a translation has every message, with its arguments and plural forms. */
export function expectTranslated(language: string, english: Messages, translated: Messages): void {
  const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories.sort();
  expect(Object.keys(translated)).toEqual(Object.keys(english));
  for (const [id, text] of Object.entries(translated)) {
    expectFor(id, argumentsOf(text)).toEqual(argumentsOf(english[id]!));
    for (const forms of pluralsOf(text)) expectFor(id, forms).toEqual(categories);
    expect([id, text.trim()]).not.toEqual([id, '']);
  }
}
