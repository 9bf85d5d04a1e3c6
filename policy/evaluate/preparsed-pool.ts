import type { Cedar } from '../parse/cedar.js';
import type { ResidualPolicySet } from './residual-set.js';

/** Rules that may be held prepared: Cedar never frees a name, only what it stood for. */
const max = 20_000;

/**
 * Parts as Cedar holds them, each under a name of a pool that is used again; the longest unused
 * make way.
 */
export class PreparsedPolicySetPool {
  readonly #cedar: Cedar;
  readonly #prefix: string;
  readonly #held = new Map<string, { name: string; rules: number }>();
  readonly #free: string[] = [];
  #names = 0;
  #rules = 0;

  constructor(cedar: Cedar, prefix: string) {
    this.#cedar = cedar;
    this.#prefix = prefix;
  }

  /** The name a part is prepared under; prepares it where it is not. */
  nameOf(part: ResidualPolicySet): string {
    const found = this.#held.get(part.digest);
    if (found) {
      this.#held.delete(part.digest);
      this.#held.set(part.digest, found);
      return found.name;
    }
    for (const [digest, { name, rules }] of this.#held) {
      if (this.#rules + part.size <= max) break;
      this.#put(name, {});
      this.#forget(digest, name, rules);
    }
    const name = this.#free.pop() ?? `${this.#prefix}${this.#names++}`;
    this.#put(name, part.rules);
    this.#held.set(part.digest, { name, rules: part.size });
    this.#rules += part.size;
    return name;
  }

  /** Every name may be used for something else. */
  clear(): void {
    for (const [digest, { name, rules }] of this.#held) this.#forget(digest, name, rules);
  }

  #forget(digest: string, name: string, rules: number): void {
    this.#held.delete(digest);
    this.#free.push(name);
    this.#rules -= rules;
  }

  #put(name: string, rules: ResidualPolicySet['rules']): void {
    const answer = this.#cedar.preparsePolicySet(name, { staticPolicies: rules });
    if (answer.type === 'failure')
      throw new Error(`a part cannot be prepared: ${answer.errors[0]?.message}`);
  }
}
