import type { MessageID } from '../../i18n/languages.js';
import { Translator } from '../../i18n/translator.js';
import { escapeHTML } from '../../security/escape-html.js';
import { type PageRequest, translatorFor } from './language.js';

const english = new Translator(['en']);

/** The sentences of a page that people read without its script. */
const sentences: readonly MessageID[] = [
  'shell.noScript.title',
  'shell.noScript.what',
  'shell.late',
  'shell.reload',
];

/**
 * Returns a page as it is without its script in a language: it says that scripts are turned off, or
 * after some seconds that they did not arrive. Its title is the host, for the script writes another.
 */
function translateShell(page: string, language: string, host: string): string {
  const translator = new Translator([language]);
  const opening = `<html lang="${translator.language}" dir="${translator.direction}">`;
  const translated = page
    .replace('<html lang="en" dir="ltr">', () => opening)
    .replace(/<title>[^<]*<\/title>/, () => `<title>${escapeHTML(host)}</title>`);
  return sentences.reduce(
    (text, id) => text.replace(`>${english.text(id)}`, () => `>${escapeHTML(translator.text(id))}`),
    translated,
  );
}

/** Returns the language of a page for who requests it, and the page in it. */
export const shellLanguages = (baseURL: string) => ({
  languageOf: (request: PageRequest): string => translatorFor(request).language,
  translate: (page: string, language: string): string =>
    translateShell(page, language, new URL(baseURL).host),
});
