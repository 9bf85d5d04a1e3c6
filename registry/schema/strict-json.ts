import { isUtf8 } from 'node:buffer';
import { badRequest } from '../status/status.js';

/** Keys cost more than values: every later step copies, compares and validates them. */
const limits = { depth: 32, values: 20_000, keys: 4_000 };
/** Keys that no object may have, because code that copies it could change a prototype. */
export const dangerousKeys: ReadonlySet<string> = new Set([
  '__proto__',
  'constructor',
  'prototype',
  'hasOwnProperty',
]);

/**
 * Parses JSON strictly (RFC 7493 §2), so that every parser agrees on the value: valid UTF-8,
 * bounded depth and size, no duplicate or dangerous key, no number out of range. Throws 400
 * otherwise.
 */
export function parseJSON(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw badRequest('the body is not valid UTF-8');
  const text = bytes.toString();
  if (text.charCodeAt(0) === 0xfeff) throw badRequest('the body begins with a byte order mark');
  new Scanner(text).run();
  const value = parseOrThrow(text);
  checkNumbers(value);
  return value;
}

function parseOrThrow(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('the body is not valid JSON');
  }
}

/** Throws 400 if a number below `value` does not fit a double exactly. */
function checkNumbers(value: unknown): void {
  if (typeof value === 'number') {
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
      throw badRequest('a number is out of range');
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) checkNumbers(member);
  }
}

/** An open container: the keys seen so far (objects only), and the position in it. */
interface OpenContainer {
  keys: Set<string> | undefined;
  expectKey: boolean;
  position: string | number;
}

/**
 * Checks depth, number of values and keys before the value is walked; JSON.parse checks the syntax.
 */
class Scanner {
  readonly #text: string;
  #position = 0;
  #values = 0;
  #keys = 0;
  readonly #containers: OpenContainer[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  run(): void {
    for (; this.#position < this.#text.length; this.#position += 1) {
      const char = this.#text[this.#position]!;
      if (char === '"') {
        this.#string();
      } else if (char === '{' || char === '[') {
        this.#enter(char === '{');
      } else if (char === '}' || char === ']') {
        this.#containers.pop();
      } else if (char === ',') {
        this.#count();
        this.#next();
      }
    }
  }

  #enter(object: boolean): void {
    if (this.#containers.length >= limits.depth) {
      throw badRequest(`the body is nested deeper than ${limits.depth}`);
    }
    this.#count();
    this.#containers.push({
      keys: object ? new Set() : undefined,
      expectKey: object,
      position: object ? '' : 0,
    });
  }

  #next(): void {
    const top = this.#containers.at(-1);
    if (top?.keys) {
      top.expectKey = true;
    } else if (top) {
      top.position = Number(top.position) + 1;
    }
  }

  /** The current path, in the syntax of causes. */
  get #path(): string {
    return this.#containers
      .map(({ position }, i) =>
        typeof position === 'number'
          ? `[${position}]`
          : `${i > 0 ? '.' : ''}${position.slice(0, 64)}`,
      )
      .join('')
      .slice(0, 256);
  }

  #count(): void {
    this.#values += 1;
    if (this.#values > limits.values) {
      throw badRequest(`the body has more than ${limits.values} values`);
    }
  }

  #string(): void {
    const start = this.#position;
    for (
      this.#position += 1;
      this.#position < this.#text.length && this.#text[this.#position] !== '"';
      this.#position += 1
    ) {
      if (this.#text[this.#position] === '\\') this.#position += 1;
    }
    const raw = this.#text.slice(start, this.#position + 1);
    const value = raw.includes('\\') ? unescaped(raw) : raw.slice(1, -1);
    if (!value.isWellFormed()) throw badRequest('a string has half of a surrogate pair');
    const top = this.#containers.at(-1);
    if (!top?.expectKey) return;
    top.expectKey = false;
    this.#keys += 1;
    if (this.#keys > limits.keys) throw badRequest(`the body has more than ${limits.keys} keys`);
    if (dangerousKeys.has(value)) throw badRequest('a key of the body is not allowed');
    top.position = value;
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
