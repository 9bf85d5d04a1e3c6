import type { Catalog, MessageID } from '../messages/catalog.js';
import base from '../messages/base.json';

const english: Partial<Record<MessageID, string>> = { ...base };
let catalog: Partial<Catalog> = english;
let current = 'en';

/** Languages beside English, and how each is fetched. */
export const languages = new Map<string, () => Promise<Catalog>>();

/** The language in use, as BCP 47. */
export const locale = (): string => current;

/** The text of a message in the language in use, else in English. */
export const messageText = (id: MessageID): string => catalog[id] ?? english[id] ?? id;

/** Adds the English messages of one page, which are bundled with it. */
export function addMessages(part: Partial<Record<MessageID, string>>): void {
  Object.assign(english, part);
}

/** The catalog in use. */
export const catalogLanguage = (): string => supportedLanguage(current) ?? 'en';

const storageKey = 'vestibule.language';

/** Remembers the person's choice of a language in this browser, where it may. */
export function storePreference(wanted: string): void {
  try {
    localStorage.setItem(storageKey, wanted);
  } catch {
    /* storage is off: the choice holds for this page */
  }
}

function storedPreference(): string[] {
  try {
    return [localStorage.getItem(storageKey) ?? ''].filter(Boolean);
  } catch {
    return [];
  }
}

const supportedLanguage = (wanted: string): string | undefined =>
  [wanted, wanted.split('-')[0] ?? ''].find((one) => one === 'en' || languages.has(one));

/**
 * Switches to the first language wanted that there is: those given, the person's choice, the
 * browser's, English, in which the page already is.
 */
export async function loadLocale(wanted: readonly string[] = []): Promise<void> {
  if (languages.size === 0) return; // to look for a choice would make the first view wait for the disk
  current =
    [...wanted, ...storedPreference(), ...navigator.languages].find(supportedLanguage) ?? 'en';
  catalog = (await languages.get(catalogLanguage())?.()) ?? english;
  document.documentElement.lang = current;
  document.documentElement.dir = messageText('dir');
}
