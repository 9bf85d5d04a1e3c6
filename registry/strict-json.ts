import { isUtf8 } from 'node:buffer';
import { badRequest } from './status.js';

const max = { depth: 32, values: 20_000 };
const poisonous = new Set(['__proto__', 'constructor', 'prototype', 'hasOwnProperty']);

/**
 * Reads JSON so that every reader takes it alike (RFC 7493 §2): fatal UTF-8, bounded, no key twice,
 * no poisonous key, no number out of range; else 400.
 */
export function parseJSON(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw badRequest('the body is not valid UTF-8');
  const text = bytes.toString();
  if (text.charCodeAt(0) === 0xfeff) throw badRequest('the body begins with a byte order mark');
  new Scanner(text).run();
  const value = parsed(text);
  refuseNumbers(value);
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('the body is not valid JSON');
  }
}

/** A number that a double cannot hold as it was written is 400, anywhere below `value`. */
function refuseNumbers(value: unknown): void {
  if (typeof value === 'number') {
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
      throw badRequest('a number is out of range');
  } else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) refuseNumbers(member);
  }
}

/**
 * One container that is open: the keys seen in an object, nothing for an array, and where in it the
 * scanner is.
 */
interface Open {
  keys: Set<string> | undefined;
  expectKey: boolean;
  place: string | number;
}

/**
 * Counts depth and values and reads keys before anything walks the value; syntax is left to
 * JSON.parse.
 */
class Scanner {
  readonly #text: string;
  #at = 0;
  #values = 0;
  readonly #open: Open[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  run(): void {
    for (; this.#at < this.#text.length; this.#at += 1) {
      const char = this.#text[this.#at]!;
      if (char === '"') this.#string();
      else if (char === '{' || char === '[') this.#enter(char === '{');
      else if (char === '}' || char === ']') this.#open.pop();
      else if (char === ',') {
        this.#count();
        this.#next();
      }
    }
  }

  #enter(object: boolean): void {
    if (this.#open.length >= max.depth)
      throw badRequest(`the body is nested deeper than ${max.depth}`);
    this.#count();
    this.#open.push({
      keys: object ? new Set() : undefined,
      expectKey: object,
      place: object ? '' : 0,
    });
  }

  #next(): void {
    const top = this.#open.at(-1);
    if (top?.keys) top.expectKey = true;
    else if (top) top.place = Number(top.place) + 1;
  }

  /** Where the scanner is, as causes write paths. */
  get #path(): string {
    return this.#open
      .map(({ place }, i) =>
        typeof place === 'number' ? `[${place}]` : `${i > 0 ? '.' : ''}${place.slice(0, 64)}`,
      )
      .join('')
      .slice(0, 256);
  }

  #count(): void {
    this.#values += 1;
    if (this.#values > max.values) throw badRequest(`the body has more than ${max.values} values`);
  }

  #string(): void {
    const start = this.#at;
    for (this.#at += 1; this.#at < this.#text.length && this.#text[this.#at] !== '"'; this.#at += 1)
      if (this.#text[this.#at] === '\\') this.#at += 1;
    const raw = this.#text.slice(start, this.#at + 1);
    const value = raw.includes('\\') ? unescaped(raw) : raw.slice(1, -1);
    if (!value.isWellFormed()) throw badRequest('a string has half of a surrogate pair');
    const top = this.#open.at(-1);
    if (!top?.expectKey) return;
    top.expectKey = false;
    if (poisonous.has(value)) throw badRequest('a key of the body is not allowed');
    top.place = value;
    if (top.keys!.has(value)) throw badRequest(`duplicate field "${this.#path}"`);
    top.keys!.add(value);
  }
}

function unescaped(raw: string): string {
  try {
    return JSON.parse(raw) as string;
  } catch {
    throw badRequest('the body is not valid JSON');
  }
}
