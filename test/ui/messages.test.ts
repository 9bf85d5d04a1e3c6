import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { expectTranslated, type Messages } from '../support/catalogs.js';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'ui/messages');
const parts = readdirSync(join(folder, 'en'));
const languages = readdirSync(folder, { withFileTypes: true })
  .filter((one) => one.isDirectory() && one.name !== 'en')
  .map(({ name }) => name);

const messagesOf = (language: string, part: string): Messages =>
  JSON.parse(readFileSync(join(folder, language, part), 'utf8')) as Messages;

test('the pages speak twelve languages besides English', () => {
  expect(languages.sort()).toEqual(
    ['ar', 'de', 'es', 'fr', 'it', 'ja', 'nl', 'pl', 'pt-BR', 'tr', 'uk', 'zh-Hans'].sort(),
  );
});

describe.each(languages)('the messages in %s', (language) => {
  test.each(parts)('%s has every message, with its arguments and plural forms', (part) => {
    expectTranslated(language, messagesOf('en', part), messagesOf(language, part));
  });

  test('have the direction of their script', () => {
    expect(messagesOf(language, 'base.json').dir).toBe(language === 'ar' ? 'rtl' : 'ltr');
  });
});

test.each(['signin', 'account', 'mailbox', 'policy', 'recovery', 'console', 'invitation'])(
  'the catalog of the page %s has all parts that it adds',
  (entry) => {
    const config = readFileSync(join(root, 'ui/vite.config.ts'), 'utf8');
    const [, listed = ''] = new RegExp(` ${entry}: \\[([^\\]]*)\\]`).exec(config) ?? [];
    const files = readdirSync(join(root, 'ui', entry), { recursive: true, encoding: 'utf8' });
    const sources = files.filter((file) => /\.tsx?$/.test(file));
    const added = sources.flatMap((file) => [
      ...readFileSync(join(root, 'ui', entry, file), 'utf8').matchAll(/messages\/en\/(\w+)\.json/g),
    ]);
    for (const [, part] of added) expect(listed).toContain(`'${part}'`);
    expect(listed).toContain("'base'");
  },
);
