import ar from './messages/ar.json' with { type: 'json' };
import de from './messages/de.json' with { type: 'json' };
import en from './messages/en.json' with { type: 'json' };
import es from './messages/es.json' with { type: 'json' };
import fr from './messages/fr.json' with { type: 'json' };
import it from './messages/it.json' with { type: 'json' };
import ja from './messages/ja.json' with { type: 'json' };
import nl from './messages/nl.json' with { type: 'json' };
import pl from './messages/pl.json' with { type: 'json' };
import ptBR from './messages/pt-BR.json' with { type: 'json' };
import tr from './messages/tr.json' with { type: 'json' };
import uk from './messages/uk.json' with { type: 'json' };
import zhHans from './messages/zh-Hans.json' with { type: 'json' };

/** The ID of a message of mails and of pages without scripts. */
export type MessageID = keyof typeof en;

/** The messages of a language. */
export type Catalog = Readonly<Record<MessageID, string>>;

/** The catalogs by language (BCP 47). */
export const catalogs: Readonly<Record<string, Catalog>> = {
  en,
  ar,
  de,
  es,
  fr,
  it,
  ja,
  nl,
  pl,
  'pt-BR': ptBR,
  tr,
  uk,
  'zh-Hans': zhHans,
};

let names: ReadonlyMap<string, string> | undefined;

/** Returns the supported languages, each with its name in itself. */
export function languageNames(): ReadonlyMap<string, string> {
  names ??= new Map(
    Object.keys(catalogs).map((tag) => [
      tag,
      new Intl.DisplayNames(tag, { type: 'language' }).of(tag) ?? tag,
    ]),
  );
  return names;
}

/** Returns the language and script of a tag (zh-CN: zh-Hans), or undefined for an invalid one. */
function languageAndScript(tag: string): string | undefined {
  try {
    const { language, script } = new Intl.Locale(tag).maximize();
    return `${language}-${script}`;
  } catch {
    return undefined;
  }
}

const byLanguageAndScript = new Map(
  Object.keys(catalogs).map((language) => [languageAndScript(language), language]),
);

/** Returns the language of the catalog for a tag: the same, or one with its language and script. */
export const catalogLanguage = (tag: string): string | undefined =>
  Object.hasOwn(catalogs, tag) ? tag : byLanguageAndScript.get(languageAndScript(tag));

/** Returns the first of these tags that has a catalog, else English. */
export const supportedLocale = (wanted: readonly string[]): string =>
  wanted.find((tag) => catalogLanguage(tag) !== undefined) ?? 'en';

/** Returns the language of the catalog for the first of these tags that has one, else English. */
export const supportedLanguage = (wanted: readonly string[]): string =>
  catalogLanguage(supportedLocale(wanted))!;

const maxAccepted = 10;

/** Returns the languages of an Accept-Language header, the preferred first (RFC 9110 §12.5.4). */
export function acceptedLanguages(header: string | undefined): string[] {
  const ranges = (header ?? '').slice(0, 512).split(',', maxAccepted);
  return ranges
    .map((range) => {
      const [tag = '', weight] = range.replaceAll(/\s/g, '').split(/;q=/i);
      return { tag, quality: weight === undefined ? 1 : Number(weight) || 0 };
    })
    .filter(({ tag, quality }) => /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/.test(tag) && quality > 0)
    .sort((one, other) => other.quality - one.quality)
    .map(({ tag }) => tag);
}
