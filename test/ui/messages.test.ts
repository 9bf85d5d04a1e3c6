import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'ui/messages');
const parts = readdirSync(join(folder, 'en'));
const languages = readdirSync(folder, { withFileTypes: true })
  .filter((one) => one.isDirectory() && one.name !== 'en')
  .map(({ name }) => name);

type Messages = Readonly<Record<string, string>>;
const messagesOf = (language: string, part: string): Messages =>
  JSON.parse(readFileSync(join(folder, language, part), 'utf8')) as Messages;

const argument = /\{(\w+)(, plural,(?: \w+ \{[^{}]*\})+)?\}/g;

/** The arguments of a message, and whether each is a number with plural forms. */
const argumentsOf = (text: string): string[] =>
  [...text.matchAll(argument)].map(([, name, forms]) => `${name}${forms ? ', plural' : ''}`).sort();

/** The plural forms of each number in a message. */
const pluralsOf = (text: string): string[][] =>
  [...text.matchAll(argument)].flatMap(([, , forms]) =>
    forms ? [[...forms.matchAll(/ (\w+) \{/g)].map(([, name = '']) => name).sort()] : [],
  );

test('the pages speak twelve languages besides English', () => {
  expect(languages.sort()).toEqual(
    ['ar', 'de', 'es', 'fr', 'it', 'ja', 'nl', 'pl', 'pt-BR', 'tr', 'uk', 'zh-Hans'].sort(),
  );
});

describe.each(languages)('the messages in %s', (language) => {
  const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories.sort();

  test.each(parts)('%s has every message, with its arguments and plural forms', (part) => {
    const english = messagesOf('en', part);
    const translated = messagesOf(language, part);
    expect(Object.keys(translated)).toEqual(Object.keys(english));
    for (const [id, text] of Object.entries(translated)) {
      expect([id, argumentsOf(text)]).toEqual([id, argumentsOf(english[id]!)]);
      for (const forms of pluralsOf(text)) expect([id, forms]).toEqual([id, categories]);
      expect([id, text.trim()]).not.toEqual([id, '']);
    }
  });

  test('have the direction of their script', () => {
    expect(messagesOf(language, 'base.json').dir).toBe(language === 'ar' ? 'rtl' : 'ltr');
  });
});

test.each(['signin', 'account', 'mailbox', 'policy', 'recovery'])(
  'the catalog of the page %s has all parts that it adds',
  (entry) => {
    const config = readFileSync(join(root, 'ui/vite.config.ts'), 'utf8');
    const [, listed = ''] = new RegExp(` ${entry}: \\[([^\\]]*)\\]`).exec(config) ?? [];
    const added = readdirSync(join(root, 'ui', entry)).flatMap((file) => [
      ...readFileSync(join(root, 'ui', entry, file), 'utf8').matchAll(/messages\/en\/(\w+)\.json/g),
    ]);
    for (const [, part] of added) expect(listed).toContain(`'${part}'`);
    expect(listed).toContain("'base'");
  },
);
