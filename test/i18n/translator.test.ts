import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { acceptedLanguages, catalogs, supportedLanguage } from '../../i18n/languages.js';
import { Translator } from '../../i18n/translator.js';
import { expectTranslated } from '../support/catalogs.js';

const root = join(import.meta.dirname, '../..');

describe('the catalogs', () => {
  test('are the languages of the pages', () => {
    const ofPages = readdirSync(join(root, 'ui/messages'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    expect(Object.keys(catalogs).sort()).toEqual(ofPages.sort());
  });

  test.each(Object.keys(catalogs))(
    '%s has every message, its arguments and its forms',
    (language) => {
      expectTranslated(language, catalogs.en!, catalogs[language]!);
      expect(catalogs[language]!.direction).toBe(language === 'ar' ? 'rtl' : 'ltr');
      if (language === 'en') return;
      const untranslated = Object.entries(catalogs[language]!).filter(
        ([id, text]) =>
          /[a-z] [a-z]/i.test(text) && text === catalogs.en![id as keyof typeof catalogs.en],
      );
      expect(untranslated).toEqual([]);
    },
  );
});

describe('the language', () => {
  test.each([
    [['de'], 'de'],
    [['de-1996', 'fr'], 'de'],
    [['de-AT'], 'de'],
    [['zh-CN'], 'zh-Hans'],
    [['zh-TW', 'fr'], 'fr'],
    [['pt'], 'pt-BR'],
    [['sv', 'x', ''], 'en'],
    [['constructor', '__proto__'], 'en'],
    [[], 'en'],
  ])('of %j is %s', (wanted, language) => {
    expect(supportedLanguage(wanted)).toBe(language);
  });

  test.each([
    ['de-CH, fr;q=0.8, en;q=0.9, *;q=0.1', ['de-CH', 'en', 'fr']],
    ['en;q=0, fr', ['fr']],
    ['en;Q=0.1, de ; Q=0.9, fr;Q=0', ['de', 'en']],
    ['<script>, de;q=x, it ;q=0.5', ['it']],
    ['', []],
    [undefined, []],
  ])('accepted by %j are %j', (header, languages) => {
    expect(acceptedLanguages(header)).toEqual(languages);
  });
});

describe('a text', () => {
  const [first, second] = ['\u2068', '\u2069'];

  test('has its arguments, and the plural form of their number', () => {
    const german = new Translator(['de']);
    expect(german.text('mail.signIn.subject', { app: 'Notes' })).toBe('Ihre Anmeldung bei Notes');
    expect(german.text('ago.minutes', { minutes: 1 })).toBe('vor einer Minute');
    expect(new Translator(['pl']).text('ago.minutes', { minutes: 22 })).toBe('22 minuty temu');
  });

  test('takes braces of an argument as they are', () => {
    expect(new Translator(['en']).text('mail.signIn.subject', { app: '{host} $& {app}' })).toBe(
      'Your sign-in to {host} $& {app}',
    );
  });

  test('isolates its arguments if it is written from right to left', () => {
    expect(new Translator(['ar']).text('mail.signIn.subject', { app: 'Notes' })).toBe(
      `تسجيل دخولك إلى ${first}Notes${second}`,
    );
  });

  test('names a browser in its language', () => {
    const french = new Translator(['fr']);
    expect(french.browser('Firefox on Linux')).toBe('Firefox sous Linux');
    expect(french.browser('Other on Linux')).toBe('Linux');
    expect(french.browser('Firefox on Other')).toBe('Firefox');
    expect(french.browser('an unknown browser')).toBe('un navigateur inconnu');
  });
});

describe('a time', () => {
  const noon = Date.UTC(2026, 0, 31, 12, 0);

  test('is of the zone, which it names; of UTC if there is no such zone', () => {
    expect(new Translator(['en']).time(noon)).toBe('12:00 UTC');
    expect(new Translator(['de'], 'Europe/Zurich').time(noon)).toBe('13:00 MEZ');
    expect(new Translator(['en'], 'Moon/Crater').time(noon)).toBe('12:00 UTC');
  });

  test('with its day is written as in the language', () => {
    expect(new Translator(['de']).date(noon)).toBe('31. Januar 2026 um 12:00 UTC');
    expect(new Translator(['ja']).date(noon)).toBe('2026年1月31日 12:00 UTC');
  });
});

test('a region keeps its own form of dates', () => {
  const day = Date.UTC(2026, 10, 28, 9, 30);
  expect(new Translator(['en-GB'], 'UTC').date(day)).toMatch(/^28 November 2026/);
  expect(new Translator(['en-US'], 'UTC').date(day)).toMatch(/^November 28, 2026/);
  expect(new Translator(['en-US@posix', 'en-GB'], 'UTC').date(day)).toMatch(/^28 November 2026/);
});
