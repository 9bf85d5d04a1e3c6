import type { AuthorizationRequest } from '../model/authorization-request.js';
import type { CedarValue } from '../model/context-attributes.js';
import type { UnknownValue } from './unknowns.js';

/**
 * Combinations of names that are told apart by a number; beyond them, and where values are no yes
 * or no, a text is.
 */
const combinations = 4096;

/** Numbers stay whole below this, with room for the number of a part above it. */
const widest = 2 ** 31;

/** What is read once for all slots that compare it with a name of their own. */
class Table {
  readonly read: NonNullable<UnknownValue['among']>['read'];
  readonly #numbers = new Map<string, number>();
  readonly #combinations = new Map<string, number>();
  readonly #seen = new WeakMap<readonly string[], number>();

  readonly #many: boolean;

  constructor({ read, many = false }: NonNullable<UnknownValue['among']>) {
    this.read = read;
    this.#many = many;
  }

  add(name: string): void {
    if (!this.#numbers.has(name)) this.#numbers.set(name, this.#numbers.size + 2);
  }

  /** How many codes there may be. */
  get width(): number {
    return this.#many ? combinations : this.#numbers.size + 2;
  }

  /**
   * A number below `width`, the same wherever the slots read alike; -1 where there are too many.
   */
  code(names: string | readonly string[] | undefined): number {
    if (names === undefined) return 0;
    if (typeof names === 'string') return this.#numbers.get(names) ?? 1;
    if (names.length === 0) return 1;
    const seen = this.#seen.get(names);
    if (seen !== undefined) return seen;
    const text = this.text(names);
    const known =
      this.#combinations.get(text) ??
      (this.#combinations.size < combinations - 2 ? this.#combinations.size + 2 : -1);
    const code = text === '' ? 1 : known;
    if (code > 1) this.#combinations.set(text, code);
    this.#seen.set(names, code);
    return code;
  }

  /** The same as a text, however many there are. */
  text(names: string | readonly string[] | undefined): string {
    if (names === undefined) return '-';
    if (typeof names === 'string') return String(this.#numbers.get(names) ?? '');
    return names
      .map((name) => this.#numbers.get(name))
      .filter((number) => number !== undefined)
      .join();
  }
}

/**
 * What several slots say of a question, as one value: all that compare the same thing with
 * different names cost one look, however many rules there are.
 */
export class DecisionCacheKey {
  readonly #tables: readonly Table[];
  readonly #flags: readonly UnknownValue[];
  readonly #values: readonly UnknownValue[];
  readonly #narrow: boolean;

  constructor(slots: readonly UnknownValue[]) {
    const tables = new Map<string, Table>();
    for (const { among } of slots) {
      if (!among) continue;
      const table = tables.get(among.what) ?? new Table(among);
      table.add(among.name);
      tables.set(among.what, table);
    }
    this.#tables = [...tables.values()];
    const others = slots.filter(({ among }) => !among);
    this.#flags = others.filter(({ flag }) => flag);
    this.#values = others.filter(({ flag }) => !flag);
    this.#narrow =
      this.#values.length === 0 &&
      this.#tables.reduce((all, { width }) => all * width, 2 ** this.#flags.length) <= widest;
  }

  /**
   * Equal where every slot reads alike, and below 2^31 if a number; throws where a fact is not what
   * it should be.
   */
  key(asked: AuthorizationRequest): number | string {
    if (!this.#narrow) return this.#text(asked);
    let key = 0;
    for (const table of this.#tables) {
      const code = table.code(table.read(asked));
      if (code < 0) return this.#text(asked);
      key = key * table.width + code;
    }
    for (const { read } of this.#flags) key = key * 2 + (read(asked) ? 1 : 0);
    return key;
  }

  #text(asked: AuthorizationRequest): string {
    let key = '';
    for (const table of this.#tables) key += `${table.text(table.read(asked))};`;
    for (const { read } of this.#flags) key += read(asked) ? '1' : '0';
    for (const { read } of this.#values) key += encoded(read(asked));
    return key;
  }
}

/** JSON ends where it ends, so that no two lists of values read alike. */
function encoded(value: CedarValue | undefined): string {
  switch (value) {
    case true:
      return '1';
    case false:
      return '0';
    case undefined:
      return '-';
    default:
      return `${JSON.stringify(value)},`;
  }
}
