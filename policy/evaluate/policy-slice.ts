import type { AuthorizationRequest } from '../model/authorization-request.js';
import type { Vocabulary } from '../model/vocabulary.js';
import { addMentions } from '../parse/ast.js';
import type { Rule } from '../parse/rules.js';
import { DecisionCacheKey } from './cache-key.js';
import { type Guard, PartialEvaluator, type RequestEnvironment } from './partial-evaluator.js';
import { ResidualPolicySet, type ResidualRule } from './residual-set.js';
import type { UnknownValue } from './unknowns.js';

/** A rule of a slice; it applies only if all guards hold. */
interface SliceRule extends ResidualRule {
  readonly guards: readonly Guard[];
}

const holds = ({ condition, expected }: Guard, request: AuthorizationRequest): boolean =>
  Boolean(condition.read(request)) === expected;

/** The largest number of residual sets cached per slice. Requests use few different ones. */
const maxResidualSets = 1000;

/** The rules of a policy that can apply in one request environment, evaluated partially. */
export class PolicySlice {
  /** The rules as they are written. */
  readonly rules: readonly Rule[];
  readonly unknowns: readonly UnknownValue[];
  /** Encodes the cache key of a request. */
  readonly key: DecisionCacheKey;
  /** Encodes the cache key of a request about every object of a kind. */
  readonly collectionKey: DecisionCacheKey;
  readonly #entities: readonly UnknownValue[];
  readonly #rules: readonly SliceRule[];
  readonly #sets = new Map<string, ResidualPolicySet>();

  constructor(rules: readonly Rule[], environment: RequestEnvironment, vocabulary: Vocabulary) {
    const evaluator = new PartialEvaluator(vocabulary, environment);
    this.#rules = rules.flatMap((rule) => {
      const residual = evaluator.residual(rule);
      if (!residual) return [];
      const mentions = new Set<string>();
      for (const { body } of residual.policy.conditions) addMentions(body, mentions);
      return [{ id: rule.id, mentions, ...residual }];
    });
    const ids = new Set(this.#rules.map(({ id }) => id));
    this.rules = rules.filter(({ id }) => ids.has(id));
    this.unknowns = evaluator.unknowns.all.filter((unknown) =>
      this.#rules.some(
        ({ guards, mentions }) =>
          mentions.has(unknown.name) || guards.some(({ condition }) => condition === unknown),
      ),
    );
    const cacheable = this.unknowns.filter(({ isTimeDependent }) => !isTimeDependent);
    this.#entities = this.unknowns.filter(({ entity }) => entity);
    this.key = new DecisionCacheKey(cacheable);
    this.collectionKey = new DecisionCacheKey(cacheable.filter(({ isPerObject }) => !isPerObject));
  }

  /** Returns the entities that its rules mention and that must be loaded first, as type and id. */
  missingEntities(request: AuthorizationRequest): (readonly [string, string])[] {
    return this.#entities.flatMap(({ entity }) => {
      const id = entity!.id(request);
      return id !== undefined && request.isMissing(entity!.type, id)
        ? [[entity!.type, id] as const]
        : [];
    });
  }

  /** Returns the rules whose guards hold for a request. */
  residual(request: AuthorizationRequest): ResidualPolicySet {
    return this.#residualSet(
      this.#rules.filter(({ guards }) => guards.every((guard) => holds(guard, request))),
    );
  }

  /**
   * Returns the rules that apply to every object of a collection alike, or undefined if the
   * decision depends on the object. What they permit is permitted for each object of the kind.
   */
  collectionResidual(request: AuthorizationRequest): ResidualPolicySet | undefined {
    const perObject = new Set(
      this.unknowns.filter(({ isPerObject }) => isPerObject).map(({ name }) => name),
    );
    const applicable = this.#rules.filter(({ guards }) =>
      guards.every((guard) => guard.condition.isPerObject || holds(guard, request)),
    );
    const unconditional = applicable.filter(
      ({ guards, mentions }) =>
        !guards.some(({ condition }) => condition.isPerObject) &&
        ![...mentions].some((name) => perObject.has(name)),
    );
    const dependsOnObject = applicable.some(
      (rule) =>
        !unconditional.includes(rule) &&
        (rule.policy.effect === 'forbid' || rule.policy.conditions.length > 0),
    );
    return dependsOnObject ? undefined : this.#residualSet(unconditional);
  }

  #residualSet(rules: readonly SliceRule[]): ResidualPolicySet {
    const key = rules.map(({ id }) => id).join('\n');
    let set = this.#sets.get(key);
    if (!set) {
      if (this.#sets.size >= maxResidualSets) this.#sets.clear();
      this.#sets.set(key, (set = new ResidualPolicySet(rules, this.unknowns)));
    }
    return set;
  }
}
