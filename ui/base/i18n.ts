import type { Catalog, MessageID } from '../messages/catalog.js';
import base from '../messages/base.json';

const english: Partial<Record<MessageID, string>> = { ...base };
let catalog: Partial<Catalog> = english;
let current = 'en';

/** Languages beside English, and how each is fetched. */
export const languages = new Map<string, () => Promise<Catalog>>();

/** The language in use, as BCP 47. */
export const tag = (): string => current;

/** The text of a message in the language in use, else in English. */
export const text = (id: MessageID): string => catalog[id] ?? english[id] ?? id;

/** Adds the English messages of one page, which are bundled with it. */
export function addMessages(part: Partial<Record<MessageID, string>>): void {
  Object.assign(english, part);
}

/** The catalog in use. */
export const inUse = (): string => available(current) ?? 'en';

const stored = 'vestibule.language';

/** Remembers the person's choice of a language in this browser, where it may. */
export function prefer(wanted: string): void {
  try {
    localStorage.setItem(stored, wanted);
  } catch {
    /* storage is off: the choice holds for this page */
  }
}

function preferred(): string[] {
  try {
    return [localStorage.getItem(stored) ?? ''].filter(Boolean);
  } catch {
    return [];
  }
}

const available = (wanted: string): string | undefined =>
  [wanted, wanted.split('-')[0] ?? ''].find((one) => one === 'en' || languages.has(one));

/**
 * Switches to the first language wanted that there is: those given, the person's choice, the
 * browser's, English, in which the page already is.
 */
export async function loadLocale(wanted: readonly string[] = []): Promise<void> {
  if (languages.size === 0) return; // to look for a choice would make the first view wait for the disk
  current = [...wanted, ...preferred(), ...navigator.languages].find(available) ?? 'en';
  catalog = (await languages.get(inUse())?.()) ?? english;
  document.documentElement.lang = current;
  document.documentElement.dir = text('dir');
}
