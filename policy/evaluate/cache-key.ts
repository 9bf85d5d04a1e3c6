import type { AuthorizationRequest } from '../model/authorization-request.js';
import type { CedarValue } from '../model/context-attributes.js';
import type { UnknownValue } from './unknowns.js';

/** What several rules compare with a name each: read once, however many rules there are. */
class Comparison {
  readonly #read: NonNullable<UnknownValue['among']>['read'];
  readonly #numbers = new Map<string, string>();
  readonly #ofList = new WeakMap<readonly string[], string>();

  constructor({ read }: NonNullable<UnknownValue['among']>) {
    this.#read = read;
  }

  add(name: string): void {
    if (!this.#numbers.has(name)) this.#numbers.set(name, `${this.#numbers.size},`);
  }

  /** Which of the names it is or holds, by their numbers. */
  text(asked: AuthorizationRequest): string {
    const found = this.#read(asked);
    if (found === undefined) return '-';
    if (typeof found === 'string') return this.#numbers.get(found) ?? ';';
    let text = this.#ofList.get(found);
    if (text === undefined) {
      text = `${found.map((name) => this.#numbers.get(name) ?? '').join('')};`;
      this.#ofList.set(found, text);
    }
    return text;
  }
}

/** Writes what several unknowns say of a question as one text. */
export class DecisionCacheKey {
  readonly #comparisons: readonly Comparison[];
  readonly #others: readonly UnknownValue[];

  constructor(unknowns: readonly UnknownValue[]) {
    const comparisons = new Map<string, Comparison>();
    for (const { among } of unknowns) {
      if (!among) continue;
      const comparison = comparisons.get(among.what) ?? new Comparison(among);
      comparison.add(among.name);
      comparisons.set(among.what, comparison);
    }
    this.#comparisons = [...comparisons.values()];
    this.#others = unknowns.filter(({ among }) => !among);
  }

  /** Equal where every unknown reads alike; throws where a fact is not what it should be. */
  of(asked: AuthorizationRequest): string {
    let key = '';
    for (const comparison of this.#comparisons) key += comparison.text(asked);
    for (const { read } of this.#others) key += encoded(read(asked));
    return key;
  }
}

/** Says where it ends, so that no two lists of values read alike. */
function encoded(value: CedarValue | undefined): string {
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value === 'string') return `${value.length}:${value}`;
  return value === undefined ? '-' : `${JSON.stringify(value)},`;
}
