import type { Cedar } from '../parse/cedar.js';
import type { ResidualPolicySet } from './residual-set.js';

/** Rules that may be held prepared. */
const max = 20_000;

/**
 * Policy sets as Cedar holds them, each under a name. Cedar never frees a name, only what it stands
 * for, so that names are used again.
 */
export class PreparsedPolicySetPool {
  readonly #cedar: Cedar;
  readonly #prefix: string;
  readonly #names = new Map<string, string>();
  #rules = 0;

  constructor(cedar: Cedar, prefix: string) {
    this.#cedar = cedar;
    this.#prefix = prefix;
  }

  /** The name a set is prepared under; prepares it where it is not. */
  nameOf({ digest, size, rules }: ResidualPolicySet): string {
    const known = this.#names.get(digest);
    if (known !== undefined) return known;
    if (this.#rules + size > max) this.clear();
    const name = `${this.#prefix}${this.#names.size}`;
    this.#put(name, rules);
    this.#names.set(digest, name);
    this.#rules += size;
    return name;
  }

  /** Frees every set. */
  clear(): void {
    for (const name of this.#names.values()) this.#put(name, {});
    this.#names.clear();
    this.#rules = 0;
  }

  #put(name: string, rules: ResidualPolicySet['rules']): void {
    const answer = this.#cedar.preparsePolicySet(name, { staticPolicies: rules });
    if (answer.type === 'failure')
      throw new Error(`a policy set cannot be prepared: ${answer.errors[0]?.message}`);
  }
}
