import type { Cedar } from '../parse/cedar.js';
import type { ResidualPolicySet } from './residual-set.js';

/** The largest number of rules in all preparsed sets. */
const maxRules = 20_000;

/**
 * Policy sets that Cedar holds preparsed, each under a name. Cedar never frees a name, only
 * replaces its set, so names are reused.
 */
export class PreparsedPolicySetPool {
  readonly #cedar: Cedar;
  readonly #prefix: string;
  readonly #names = new Map<string, string>();
  #ruleCount = 0;

  constructor(cedar: Cedar, prefix: string) {
    this.#cedar = cedar;
    this.#prefix = prefix;
  }

  /** Returns the name of a preparsed set; preparses it on first use. */
  nameFor({ digest, size, rules }: ResidualPolicySet): string {
    const existing = this.#names.get(digest);
    if (existing !== undefined) return existing;
    if (this.#ruleCount + size > maxRules) this.clear();
    const name = `${this.#prefix}${this.#names.size}`;
    this.#preparse(name, rules);
    this.#names.set(digest, name);
    this.#ruleCount += size;
    return name;
  }

  /** Frees every set. */
  clear(): void {
    for (const name of this.#names.values()) this.#preparse(name, {});
    this.#names.clear();
    this.#ruleCount = 0;
  }

  #preparse(name: string, rules: ResidualPolicySet['rules']): void {
    const answer = this.#cedar.preparsePolicySet(name, { staticPolicies: rules });
    if (answer.type === 'failure') {
      throw new Error(`Cedar could not preparse a policy set: ${answer.errors[0]?.message}`);
    }
  }
}
