import type { AuthorizationRequest } from '../model/authorization-request.js';
import type { CedarValue } from '../model/cedar-value.js';
import type { UnknownValue } from './unknowns.js';

/**
 * The comparisons of one value with the names that rules mention. The value is read once per
 * request.
 */
class Comparison {
  readonly #read: NonNullable<UnknownValue['comparison']>['read'];
  readonly #indexes = new Map<string, string>();
  readonly #cachedLists = new WeakMap<readonly string[], string>();

  constructor({ read }: NonNullable<UnknownValue['comparison']>) {
    this.#read = read;
  }

  add(name: string): void {
    if (!this.#indexes.has(name)) this.#indexes.set(name, `${this.#indexes.size},`);
  }

  /** Encodes which of the names the value equals or contains, as their indexes. */
  encode(request: AuthorizationRequest): string {
    const value = this.#read(request);
    if (value === undefined) return '-';
    if (typeof value === 'string') return this.#indexes.get(value) ?? ';';
    let text = this.#cachedLists.get(value);
    if (text === undefined) {
      text = `${value.map((name) => this.#indexes.get(name) ?? '').join('')};`;
      this.#cachedLists.set(value, text);
    }
    return text;
  }
}

/** Encodes the unknowns of a request as the key of its cached decision. */
export class DecisionCacheKey {
  readonly #comparisons: readonly Comparison[];
  readonly #others: readonly UnknownValue[];

  constructor(unknowns: readonly UnknownValue[]) {
    const comparisons = new Map<string, Comparison>();
    for (const { comparison: definition } of unknowns) {
      if (!definition) continue;
      const { source, name } = definition;
      const comparison = comparisons.get(source) ?? new Comparison(definition);
      comparison.add(name);
      comparisons.set(source, comparison);
    }
    this.#comparisons = [...comparisons.values()];
    this.#others = unknowns.filter(({ comparison }) => !comparison);
  }

  /**
   * Returns equal keys for requests whose unknowns have equal values. Throws if an attribute has
   * the wrong type.
   */
  encode(request: AuthorizationRequest): string {
    let key = '';
    for (const comparison of this.#comparisons) key += comparison.encode(request);
    for (const { read } of this.#others) key += encodeValue(read(request));
    return key;
  }
}

/**
 * Encodes a value with its length or end, so that different lists of values have different
 * encodings.
 */
function encodeValue(value: CedarValue | undefined): string {
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value === 'string') return `${value.length}:${value}`;
  return value === undefined ? '-' : `${JSON.stringify(value)},`;
}
