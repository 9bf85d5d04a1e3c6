import { readdirSync, readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

type Messages = Readonly<Record<string, string>>;

const read = (file: string): Messages => JSON.parse(readFileSync(file, 'utf8')) as Messages;

/** The languages of the pages. */
export const languages = readdirSync('i18n/messages').map((file) => file.replace('.json', ''));

/** Every message in a language, of pages and of mails. */
const messagesIn = (language: string): string[] =>
  [
    read(`i18n/messages/${language}.json`),
    ...readdirSync('ui/messages/en').map((part) => read(`ui/messages/${language}/${part}`)),
  ].flatMap((part) => Object.values(part));

/** A message of a part of the pages. */
export const message = (language: string, part: string, id: string): string =>
  read(`ui/messages/${language}/${part}.json`)[id]!;

const argument = /\{\w+\}/;

/** The forms of a message: one, or one for each plural. */
function formsOf(message: string): string[] {
  const [whole, forms] = /\{\w+, plural,((?: \w+ \{[^{}]*\})+)\}/.exec(message) ?? [];
  if (whole === undefined) return [message];
  return [...forms!.matchAll(/ \w+ \{([^{}]*)\}/g)].flatMap(([, form]) =>
    formsOf(message.replace(whole, () => form!.replace('#', '{count}'))),
  );
}

/** The durations from now that `Intl` writes in a language. */
const durationsIn = (language: string): string[] => {
  const format = new Intl.RelativeTimeFormat(language);
  return (['second', 'minute', 'hour', 'day'] as const).flatMap((unit) =>
    Array.from({ length: 201 }, (_, i) => format.format(i - 100, unit)),
  );
};

/** The times of day that a page writes in a language. */
const timesIn = (language: string): string[] => {
  const format = new Intl.DateTimeFormat(language, { timeStyle: 'short', timeZone: 'UTC' });
  return Array.from({ length: 1440 }, (_, minute) => format.format(minute * 60_000));
};

const tidy = (text: string): string => text.replace(/[\s\u2066-\u2069\u200e\u200f]+/g, ' ').trim();

/** What a language can say. */
export class Words {
  readonly #texts = new Set<string>();
  readonly #patterns: RegExp[] = [];
  readonly #data: RegExp;

  /** `data` matches texts that belong to no language: addresses, codes, names of people and apps. */
  constructor(language: string, data: RegExp) {
    this.#data = data;
    for (const text of [...durationsIn(language), ...timesIn(language)]) {
      this.#texts.add(tidy(text));
    }
    for (const form of messagesIn(language).flatMap(formsOf)) {
      const pieces = form.split(argument).map(tidy);
      for (const piece of pieces) this.#texts.add(piece);
      if (pieces.length > 1 && pieces.join('') !== '') {
        this.#patterns.push(
          new RegExp(
            `^${pieces.map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join(' ?(.*?) ?')}$`,
            'u',
          ),
        );
      }
    }
  }

  /** Whether a text is one of the language's messages or data, or one with such arguments. */
  has(text: string): boolean {
    const words = tidy(text);
    if (this.#texts.has(words) || this.#data.test(words) || !/\p{L}/u.test(words)) return true;
    return this.#patterns.some((pattern) =>
      pattern
        .exec(words)
        ?.slice(1)
        .every((value) => this.has(value)),
    );
  }
}

/** The texts of a page as it stands, also those that only screen readers get. */
export const textsOf = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const found = [document.title];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { parentElement: parent, textContent } = texts.currentNode;
      if (!parent!.closest('noscript, script, style, time, option:not([value=""])')) {
        found.push(textContent!);
      }
    }
    for (const one of document.querySelectorAll('[aria-label], [alt], [placeholder], [title]')) {
      for (const name of ['aria-label', 'alt', 'placeholder', 'title']) {
        found.push(one.getAttribute(name) ?? '');
      }
    }
    return found.filter((text) => text.trim() !== '');
  });
