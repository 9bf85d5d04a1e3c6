import type { MessageID } from '../../i18n/languages.js';
import type { Translator } from '../../i18n/translator.js';
import { escapeHTML } from '../../security/escape-html.js';

/** Trusted HTML, created only by {@link html}. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

type Piece = string | number | Html | readonly Html[] | undefined | false;

const render = (piece: Piece): string => {
  if (piece === undefined || piece === false) return '';
  if (piece instanceof Html) return piece.text;
  return Array.isArray(piece)
    ? piece.map((part: Html) => part.text).join('')
    : escapeHTML(String(piece));
};

/** A template tag that escapes every value except Html. */
export function html(strings: TemplateStringsArray, ...pieces: Piece[]): Html {
  return new Html(strings.reduce((text, string, i) => text + render(pieces[i - 1]) + string));
}

/** Returns a message with its arguments as HTML. */
export const message = (
  translator: Translator,
  id: MessageID,
  values: Readonly<Record<string, Html>>,
): Html => new Html(translator.parts(id, values, escapeHTML, (value) => value.text).join(''));
