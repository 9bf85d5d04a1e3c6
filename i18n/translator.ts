import { BoundedMap } from '../security/bounded-map.js';
import {
  type Catalog,
  catalogs,
  type MessageID,
  supportedLanguage,
  supportedLocale,
} from './languages.js';
import { knownTimeZone } from './time-zone.js';

/** A text with arguments, `{name}`, and plural forms, `{count, plural, one {…} other {…}}`. */
const argument = /\{(\w+)(?:, plural,((?: \w+ \{[^{}]*\}){1,9}))?\}/g;

const [isolateStart, isolateEnd] = ['\u2068', '\u2069'];

/** Formats by language, time zone and fields: creating one takes 100 µs. */
const dateFormats = new BoundedMap<string, Intl.DateTimeFormat>(256);

const pluralRules = new BoundedMap<string, Intl.PluralRules>(Object.keys(catalogs).length);

/**
 * Returns the messages of a language, with dates in a time zone.
 *
 * @example
 * ```ts
 * const translator = new Translator(['de-CH', 'en'], 'Europe/Zurich');
 * translator.text('device.title'); // Gerät verbinden
 * ```
 */
export class Translator {
  /** The language of the messages (BCP 47). */
  readonly language: string;
  /** The language of the reader, which may have a region (BCP 47). */
  readonly locale: string;
  readonly #catalog: Catalog;
  readonly #timeZone: string;

  /** The first language of `wanted` that has a catalog, else English; UTC without a known zone. */
  constructor(wanted: readonly string[], timeZone?: string) {
    this.language = supportedLanguage(wanted);
    this.locale = supportedLocale(wanted);
    this.#catalog = catalogs[this.language]!;
    this.#timeZone = knownTimeZone(timeZone) ?? 'UTC';
  }

  /** The direction of the language: `ltr` or `rtl`. */
  get direction(): string {
    return this.#catalog.direction;
  }

  /** Returns a message as plain text. Right-to-left text isolates its arguments. */
  text(id: MessageID, values: Readonly<Record<string, string | number>> = {}): string {
    const isolates = this.direction === 'rtl';
    return this.parts(
      id,
      values,
      (text) => text,
      (value) => (isolates ? `${isolateStart}${value}${isolateEnd}` : String(value)),
    ).join('');
  }

  /** Returns the parts of a message in their order: its words, and its arguments as rendered. */
  parts<V, P>(
    id: MessageID,
    values: Readonly<Record<string, V>>,
    words: (text: string) => P,
    render: (value: V) => P,
  ): P[] {
    const message = this.#catalog[id];
    const parts: P[] = [];
    let end = 0;
    for (const { 0: whole, 1: name = '', 2: forms, index } of message.matchAll(argument)) {
      parts.push(words(message.slice(end, index)));
      parts.push(forms ? words(this.#plural(forms, Number(values[name]))) : render(values[name]!));
      end = index + whole.length;
    }
    return [...parts, words(message.slice(end))];
  }

  #plural(forms: string, count: number): string {
    const form = (name: string): string | undefined =>
      new RegExp(` ${name} \\{([^{}]*)\\}`).exec(forms)?.[1];
    const rules = pluralRules.getOrCreate(this.language, () => new Intl.PluralRules(this.language));
    const chosen = form(rules.select(count)) ?? form('other') ?? '';
    return chosen.replace('#', () => count.toLocaleString(this.language));
  }

  /** Returns a time of day with its zone; `time` in milliseconds since the epoch. */
  time(time: number): string {
    return this.#dateFormat('time', {}).format(time);
  }

  /** Returns a date and time of day with its zone; `time` in milliseconds since the epoch. */
  date(time: number): string {
    const fields = { year: 'numeric', month: 'long', day: 'numeric' } as const;
    return this.#dateFormat('date', fields).format(time);
  }

  #dateFormat(name: string, fields: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
    return dateFormats.getOrCreate(
      `${name} ${this.locale} ${this.#timeZone}`,
      () =>
        new Intl.DateTimeFormat(this.locale, {
          ...fields,
          hour: '2-digit',
          minute: '2-digit',
          hourCycle: 'h23',
          timeZone: this.#timeZone,
          timeZoneName: 'short',
        }),
    );
  }

  /** Returns a browser that {@link describeBrowser} named, such as "Firefox on Linux". */
  browser(name: string): string {
    const [browser, os] = (/^(.+) on (\w+)$/.exec(name) ?? [])
      .slice(1)
      .map((word) => (word === 'Other' ? undefined : word));
    if (browser !== undefined && os !== undefined) return this.text('browser', { browser, os });
    return browser ?? os ?? this.text('browser.unknown');
  }
}
