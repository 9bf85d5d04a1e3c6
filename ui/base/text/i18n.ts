import { languages } from 'catalog:languages';
import type { Catalog, MessageID } from '../../messages/catalog.js';
import base from '../../messages/en/base.json';

const english: Partial<Record<MessageID, string>> = { ...base };
let catalog: Partial<Catalog> = english;
let current = 'en';

export { languages };

/** The current language as a BCP 47 tag. */
export const locale = (): string => current;

/** Returns a message in the current language, or else in English. */
export const messageText = (id: MessageID): string => catalog[id] ?? english[id] ?? id;

/** Adds the English messages that are bundled with one page. */
export function addMessages(part: Partial<Record<MessageID, string>>): void {
  Object.assign(english, part);
}

/** Returns the language of the current catalog. */
export const catalogLanguage = (): string => supportedLanguage(current) ?? 'en';

const cookieName = 'vestibule.language';

/** Stores the chosen language in a cookie, which pages without scripts read as well. */
export function storePreference(wanted: string): void {
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  document.cookie = `${cookieName}=${wanted}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
}

const storedPreference = (): string[] =>
  document.cookie
    .split('; ')
    .filter((pair) => pair.startsWith(`${cookieName}=`))
    .map((pair) => pair.slice(cookieName.length + 1));

/** Returns the language and script of a tag (zh-CN: zh-Hans), or undefined for an invalid one. */
function languageAndScript(tag: string): string | undefined {
  try {
    const { language, script } = new Intl.Locale(tag).maximize();
    return `${language}-${script}`;
  } catch {
    return undefined;
  }
}

/** Returns whether `Intl` takes a tag. Browsers have been seen with `en-US@posix`. */
function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}

/** Returns the language to use for a tag: the same, or one with its language and script. */
function supportedLanguage(wanted: string): string | undefined {
  const [language = '', subtag] = wanted.split('-', 2);
  if (languages.has(wanted)) return wanted;
  // The most frequent case does not need Intl.Locale, which takes 5 ms at first.
  if (languages.has(language) && subtag?.length !== 4) return language;
  const form = languageAndScript(wanted);
  return [...languages].find(([, language]) => language.form === form)?.[0];
}

/**
 * Switches to the first supported language of: `asked` (by the app or from the menu), the choice
 * stored in this browser, the `account`'s, the browser's languages, English. A tag that `Intl` would
 * refuse is passed over. Stays with English if the catalog cannot be loaded.
 */
export async function loadLocale(asked: readonly string[] = [], account?: string): Promise<void> {
  const tags = [
    ...asked,
    ...storedPreference(),
    account ?? '',
    ...(navigator.languages ?? []),
    navigator.language,
  ];
  current = tags.find((tag) => isLanguageTag(tag) && supportedLanguage(tag)) ?? 'en';
  const load = languages.get(catalogLanguage())?.load;
  catalog = english;
  if (load) {
    await load().then(
      (part) => {
        catalog = part.catalog;
      },
      () => {
        current = 'en';
      },
    );
  }
  document.documentElement.lang = current;
  document.documentElement.dir = messageText('dir');
}
