import { supportedLanguage, supportedLocale } from './languages.js';

/** A text in several languages, by language tag (BCP 47). */
export type Texts = Readonly<Record<string, string>>;

/** A text, and its language if it is not that of the page. */
export interface LocalText {
  readonly text: string;
  readonly lang?: string;
}

/**
 * Returns the text for a reader: in the language that a page or mail has for `wanted`, else in
 * English, else the one without a language (RFC 4647 §3.4). `lang` is set if it is in English on a
 * page in another language.
 */
export function localText(
  text: string,
  texts: Texts | undefined,
  wanted: readonly string[],
): LocalText {
  if (texts === undefined) return { text };
  const own = lookup(texts, supportedLocale(wanted)) ?? lookup(texts, supportedLanguage(wanted));
  if (own !== undefined) return { text: own };
  const english = lookup(texts, 'en');
  return english === undefined ? { text } : { text: english, lang: 'en' };
}

function lookup(texts: Texts, tag: string): string | undefined {
  for (let range = tag; range !== ''; range = range.slice(0, Math.max(0, range.lastIndexOf('-')))) {
    if (Object.hasOwn(texts, range)) return texts[range];
  }
  return undefined;
}
