import { expect } from '@jest/globals';

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
    expect([id, argumentsOf(text)]).toEqual([id, argumentsOf(english[id]!)]);
    for (const forms of pluralsOf(text)) expect([id, forms]).toEqual([id, categories]);
    expect([id, text.trim()]).not.toEqual([id, '']);
  }
}
