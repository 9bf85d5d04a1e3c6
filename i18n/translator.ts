import { catalogs, supportedLanguage, type Catalog, type MessageID } from './languages.js';

/** A text with arguments, `{name}`, and plural forms, `{count, plural, one {…} other {…}}`. */
const argument = /\{(\w+)(?:, plural,((?: \w+ \{[^{}]*\}){1,9}))?\}/g;

const [isolateStart, isolateEnd] = ['\u2068', '\u2069'];

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
  readonly #catalog: Catalog;
  readonly #timeZone: string;

  /** The first language of `wanted` that has a catalog, else English; UTC without a known zone. */
  constructor(wanted: readonly string[], timeZone?: string) {
    this.language = supportedLanguage(wanted);
    this.#catalog = catalogs[this.language]!;
    this.#timeZone = timeZone !== undefined && isTimeZone(timeZone) ? timeZone : 'UTC';
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
    const chosen = form(new Intl.PluralRules(this.language).select(count)) ?? form('other') ?? '';
    return chosen.replace('#', new Intl.NumberFormat(this.language).format(count));
  }

  /** Returns a time of day with its zone; `time` in milliseconds since the epoch. */
  time(time: number): string {
    return this.#format(time, {});
  }

  /** Returns a date and time of day with its zone; `time` in milliseconds since the epoch. */
  date(time: number): string {
    return this.#format(time, { year: 'numeric', month: 'long', day: 'numeric' });
  }

  #format(time: number, fields: Intl.DateTimeFormatOptions): string {
    return new Intl.DateTimeFormat(this.language, {
      ...fields,
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
      timeZone: this.#timeZone,
      timeZoneName: 'short',
    }).format(time);
  }

  /** Returns a browser that {@link describeBrowser} named, such as "Firefox on Linux". */
  browser(name: string): string {
    const [, browser, os] = /^(.+) on (\w+)$/.exec(name) ?? [];
    return browser === undefined || os === undefined
      ? this.text('browser.unknown')
      : this.text('browser', { browser, os });
  }
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
