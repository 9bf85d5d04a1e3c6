import type { AuthorizationRequest } from '../model/authorization-request.js';
import type { Vocabulary } from '../model/vocabulary.js';
import { addMentions } from '../parse/ast.js';
import type { Rule } from '../parse/rules.js';
import { DecisionCacheKey } from './cache-key.js';
import { PartialEvaluator, type Guard, type Shape } from './partial-evaluator.js';
import { ResidualPolicySet, type ResidualRule } from './residual-set.js';
import type { UnknownValue } from './unknowns.js';

/** A rule of a slice, with the guards that all have to pass for it to apply. */
interface SliceRule extends ResidualRule {
  readonly guards: readonly Guard[];
}

const passes = ({ flag, wanted }: Guard, asked: AuthorizationRequest): boolean =>
  Boolean(flag.read(asked)) === wanted;

/** Sets kept; questions fall into few. */
const max = 1000;

/** The rules of a policy that one shape of question meets, rewritten for it. */
export class PolicySlice {
  readonly unknowns: readonly UnknownValue[];
  readonly #number: number;
  readonly #rules: readonly SliceRule[];
  readonly #key: DecisionCacheKey;
  readonly #commonKey: DecisionCacheKey;
  readonly #sets = new Map<string, ResidualPolicySet>();

  constructor(number: number, rules: readonly Rule[], shape: Shape, vocabulary: Vocabulary) {
    this.#number = number;
    const evaluator = new PartialEvaluator(vocabulary, shape);
    this.#rules = rules.flatMap((rule) => {
      const residual = evaluator.rule(rule);
      if (!residual) return [];
      const mentions = new Set<string>();
      for (const { body } of residual.policy.conditions) addMentions(body, mentions);
      return [{ id: rule.id, mentions, ...residual }];
    });
    this.unknowns = evaluator.unknowns.all.filter((one) =>
      this.#rules.some(
        ({ guards, mentions }) => mentions.has(one.name) || guards.some(({ flag }) => flag === one),
      ),
    );
    const lasting = this.unknowns.filter(({ moves }) => !moves);
    this.#key = new DecisionCacheKey(lasting);
    this.#commonKey = new DecisionCacheKey(lasting.filter(({ ofObject }) => !ofObject));
  }

  /** Equal for questions with equal answers, unless time passes. */
  key(asked: AuthorizationRequest): string {
    return `${this.#number} ${this.#key.of(asked)}`;
  }

  /** The same for questions about every object of a kind. */
  commonKey(asked: AuthorizationRequest): string {
    return `${this.#number}*${this.#commonKey.of(asked)}`;
  }

  /** The rules whose guards a question passes. */
  residual(asked: AuthorizationRequest): ResidualPolicySet {
    return this.#setOf(
      this.#rules.filter(({ guards }) => guards.every((guard) => passes(guard, asked))),
    );
  }

  /**
   * The rules that whatever object is met by, where nothing an object is could make them permit
   * less: what they permit is permitted for every object of the kind alike. None where that depends
   * on it.
   */
  common(asked: AuthorizationRequest): ResidualPolicySet | undefined {
    const ofObject = new Set(this.unknowns.filter((one) => one.ofObject).map(({ name }) => name));
    const possible = this.#rules.filter(({ guards }) =>
      guards.every((guard) => guard.flag.ofObject || passes(guard, asked)),
    );
    const sure = possible.filter(
      ({ guards, mentions }) =>
        !guards.some(({ flag }) => flag.ofObject) &&
        ![...mentions].some((name) => ofObject.has(name)),
    );
    const depends = possible.some(
      (rule) =>
        !sure.includes(rule) &&
        (rule.policy.effect === 'forbid' || rule.policy.conditions.length > 0),
    );
    return depends ? undefined : this.#setOf(sure);
  }

  #setOf(rules: readonly SliceRule[]): ResidualPolicySet {
    const key = rules.map(({ id }) => id).join('\n');
    let set = this.#sets.get(key);
    if (!set) {
      if (this.#sets.size >= max) this.#sets.clear();
      this.#sets.set(key, (set = new ResidualPolicySet(rules, this.unknowns)));
    }
    return set;
  }
}
