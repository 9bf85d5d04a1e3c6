import type { Catalog, MessageID } from '../messages/catalog.js';
import base from '../messages/base.json';

const english: Partial<Record<MessageID, string>> = { ...base };
let catalog: Partial<Catalog> = english;
let current = 'en';

/** Languages other than English, and how to load each catalog. */
export const languages = new Map<string, () => Promise<Catalog>>();

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

const storageKey = 'vestibule.language';

/** Stores the chosen language in this browser if storage is available. */
export function storePreference(wanted: string): void {
  try {
    localStorage.setItem(storageKey, wanted);
  } catch {
    /* storage is off: the choice holds for this page only */
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
 * Switches to the first supported language of: `wanted`, the stored choice, the browser's
 * languages, English.
 */
export async function loadLocale(wanted: readonly string[] = []): Promise<void> {
  if (languages.size === 0) return; // reading the choice would delay the first view
  current =
    [...wanted, ...storedPreference(), ...navigator.languages].find(supportedLanguage) ?? 'en';
  catalog = (await languages.get(catalogLanguage())?.()) ?? english;
  document.documentElement.lang = current;
  document.documentElement.dir = messageText('dir');
}
