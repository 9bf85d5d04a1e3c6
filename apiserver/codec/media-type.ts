/** A media type or range with its parameters, names in lower case (RFC 9110 §8.3.1 and §12.5.1). */
export interface MediaType {
  readonly type: string;
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

const token = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
/** kubectl sends a type with an @, which is not a token character. */
const subtypeToken = /[!#$%&'*+.^_`|~0-9A-Za-z@-]+/y;
const space = /[ \t]*/y;
const rest = /[^,]*/y;
const quoted = /"((?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t \x21-\x7e\x80-\xff])*)"/y;

/** A parser for one header value. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  /**
   * Returns the match of a sticky `pattern` at the current position and advances; undefined without
   * a match.
   */
  take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (!match) return undefined;
    this.#at += match[0].length;
    return match;
  }

  /** Advances past a character; returns false if the next one is another. */
  skip(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }
}

/** Parses a header value with one media type; undefined if it is malformed. */
export function parseMediaType(text: string): MediaType | undefined {
  const reader = new Reader(text);
  const found = mediaType(reader);
  return found && reader.isAtEnd ? found : undefined;
}

/** Parses a list of media ranges, and skips malformed ones. */
export function parseMediaRanges(text: string): MediaType[] {
  const reader = new Reader(text);
  const mediaTypes: MediaType[] = [];
  do {
    reader.take(space);
    const found = mediaType(reader);
    const isWhole = reader.take(rest)![0] === '';
    if (found && isWhole) mediaTypes.push(found);
  } while (reader.skip(','));
  return mediaTypes;
}

function mediaType(reader: Reader): MediaType | undefined {
  const type = reader.take(token);
  if (!type || !reader.skip('/')) return undefined;
  const subtype = reader.take(subtypeToken);
  if (!subtype) return undefined;
  const parameters: [string, string][] = [];
  reader.take(space);
  while (reader.skip(';')) {
    reader.take(space);
    const name = reader.take(token); // a parameter may be empty (RFC 9110 5.6.6)
    if (name) {
      const value = reader.skip('=') ? valueOf(reader) : undefined;
      if (value === undefined) return undefined;
      parameters.push([name[0].toLowerCase(), value]);
    }
    reader.take(space);
  }
  return { type: `${type[0]}/${subtype[0]}`.toLowerCase(), parameters };
}

function valueOf(reader: Reader): string | undefined {
  const plain = reader.take(token);
  if (plain) return plain[0];
  return reader.take(quoted)?.[1]!.replaceAll(/\\(.)/g, '$1');
}
