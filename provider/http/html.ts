import { escapeHTML } from '../../security/escape-html.js';

/** HTML that is what it says: made by {@link html} alone. */
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
    ? piece.map((one: Html) => one.text).join('')
    : escapeHTML(String(piece));
};

/** A template whose every value is escaped unless it is Html itself. */
export function html(strings: TemplateStringsArray, ...pieces: Piece[]): Html {
  return new Html(strings.reduce((text, string, i) => text + render(pieces[i - 1]) + string));
}
