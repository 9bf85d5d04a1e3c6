import type { Expr, PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import type { AuthorizationRequest } from '../model/authorization-request.js';
import { addMentions, conjuncts, formOf, joined } from '../parse/ast.js';
import { DecisionCacheKey } from './cache-key.js';
import { ResidualPolicySet, type Held } from './residual-set.js';
import type { Rule } from '../parse/rules.js';
import { flagOf, slotOf, type UnknownValue, type Unknowns } from './unknowns.js';
import { PartialEvaluator, type Shape } from './partial-evaluator.js';
import type { Vocabulary } from '../model/vocabulary.js';

/** A leading boolean condition and the value it must have for the policy to apply. */
interface Guard {
  readonly name: string;
  readonly wanted: boolean;
}

interface Guarded extends Held {
  readonly guards: readonly Guard[];
}

/** Parts kept; questions fall into few. */
const max = 1000;

/**
 * The rules of a policy that one shape of question meets, rewritten for it. Those that begin with a
 * flag are sorted out beforehand: what begins with false is false.
 */
export class PolicySlice {
  readonly #rules: readonly Guarded[];
  readonly #slots: readonly UnknownValue[];
  readonly #guards: readonly UnknownValue[];
  readonly #looks: DecisionCacheKey;
  readonly #parts = new Map<number | string, ResidualPolicySet>();
  readonly #ofObject: ReadonlySet<string>;
  readonly #alike: DecisionCacheKey;
  readonly #common = new Map<number | string, ResidualPolicySet | undefined>();
  readonly #number: () => number;

  constructor(number: () => number, rules: readonly Rule[], shape: Shape, vocabulary: Vocabulary) {
    const specialiser = new PartialEvaluator(vocabulary, shape);
    this.#rules = rules.flatMap((rule) => {
      const rewritten = specialiser.rule(rule);
      return rewritten ? [guarded(rule.id, rewritten, specialiser.slots)] : [];
    });
    this.#slots = specialiser.slots.all;
    this.#guards = this.#slots.filter(({ name }) =>
      this.#rules.some(({ guards }) => guards.some((guard) => guard.name === name)),
    );
    this.#looks = new DecisionCacheKey(this.#guards);
    this.#ofObject = new Set(
      this.#slots.filter(({ ofObject }) => ofObject).map(({ name }) => name),
    );
    this.#alike = new DecisionCacheKey(this.#guards.filter(({ ofObject }) => !ofObject));
    this.#number = number;
  }

  /** The part a question falls into, made when first met. */
  part(asked: AuthorizationRequest): ResidualPolicySet {
    const pattern = this.#looks.key(asked);
    return this.#parts.get(pattern) ?? this.#make(pattern, asked);
  }

  /**
   * The rules that whatever object is met by, where nothing an object is could make them permit
   * less: what they permit is permitted for every object of the kind alike. None where that depends
   * on it.
   */
  common(asked: AuthorizationRequest): ResidualPolicySet | undefined {
    const pattern = this.#alike.key(asked);
    if (this.#common.has(pattern)) return this.#common.get(pattern);
    const possible = this.#rules.filter(({ guards }) =>
      guards.every((guard) => this.#ofObject.has(guard.name) || this.#holds(guard, asked)),
    );
    const sure = possible.filter(
      ({ guards, mentions }) =>
        !guards.some(({ name }) => this.#ofObject.has(name)) &&
        ![...mentions].some((name) => this.#ofObject.has(name)),
    );
    const depends = possible.some(
      (rule) =>
        !sure.includes(rule) && (rule.rule.effect === 'forbid' || rule.rule.conditions.length > 0),
    );
    const part = depends ? undefined : new ResidualPolicySet(this.#number(), sure, this.#slots);
    if (this.#common.size >= max) this.#common.clear();
    this.#common.set(pattern, part);
    return part;
  }

  #holds({ name, wanted }: Guard, asked: AuthorizationRequest): boolean {
    return Boolean(this.#guards.find((slot) => slot.name === name)!.read(asked)) === wanted;
  }

  #make(pattern: number | string, asked: AuthorizationRequest): ResidualPolicySet {
    const held = new Set(this.#guards.filter(({ read }) => read(asked)).map(({ name }) => name));
    const part = new ResidualPolicySet(
      this.#number(),
      this.#rules.filter(({ guards }) =>
        guards.every(({ name, wanted }) => held.has(name) === wanted),
      ),
      this.#slots,
    );
    if (this.#parts.size >= max) this.#parts.clear();
    this.#parts.set(pattern, part);
    return part;
  }
}

/** Takes the flags a rule begins with off its conditions. */
function guarded(id: string, { conditions, ...rest }: PolicyJson, slots: Unknowns): Guarded {
  const all = conditions.flatMap(({ body }) => conjuncts(body));
  const guards: Guard[] = [];
  for (let guard = guardOf(all[0], guards, slots); guard; guard = guardOf(all[0], guards, slots)) {
    guards.push(guard);
    all.shift();
  }
  const rule: PolicyJson = {
    ...rest,
    conditions: all.length > 0 ? [{ kind: 'when', body: joined('&&', all) }] : [],
  };
  const mentions = new Set<string>();
  for (const body of all) addMentions(body, mentions);
  return { id, rule, text: JSON.stringify(rule), mentions, guards };
}

function guardOf(
  expression: Expr | undefined,
  before: readonly Guard[],
  slots: Unknowns,
): Guard | undefined {
  if (!expression) return undefined;
  const [form, body] = formOf(expression);
  const itself: Expr = form === '!' ? body.arg : expression;
  const flag = flagOf(itself);
  const name = flag ?? slotOf(itself);
  if (name === undefined) return undefined;
  const settled =
    flag !== undefined || before.some((guard) => guard.wanted && guard.name === slots.needs(name));
  return settled ? { name, wanted: form !== '!' } : undefined;
}
