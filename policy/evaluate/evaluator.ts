import type { AuthorizationAnswer } from '@cedar-policy/cedar-wasm/nodejs';
import { defaultRefusalMessage } from '../../registry/authorizer.js';
import type { Decision } from '../../registry/kind.js';
import type { Histogram } from '../../observability/counters.js';
import type { AuthorizationRequest } from '../model/authorization-request.js';
import type { Cedar } from '../parse/cedar.js';
import { isPrincipalIndependent } from './principal-independent.js';
import type { AuthorizationResponse } from './decision-result.js';
import { DecisionCache } from './decision-cache.js';
import type { ResidualPolicySet } from './residual-set.js';
import type { PreparsedPolicySetPool } from './preparsed-pool.js';
import { namedIn, textsIn, type Rule } from '../parse/rules.js';
import { PolicySlice } from './policy-slice.js';
import type { EvaluationError } from './error-log.js';
import type { Vocabulary } from '../model/vocabulary.js';

/**
 * What was counted since the start: answers from memory, evaluations that are remembered from now
 * on, those that never are, and what went wrong.
 */
export interface Counts {
  hits: number;
  misses: number;
  unmemoised: number;
  errors: number;
  overruns: number;
  permits: number;
  refusals: number;
}

/** Nothing counted yet. */
export const noCounts = (): Counts => ({
  hits: 0,
  misses: 0,
  unmemoised: 0,
  errors: 0,
  overruns: 0,
  permits: 0,
  refusals: 0,
});

/** What makes a judge; `trouble` is told what goes wrong. */
export interface EvaluatorContext {
  readonly cedar: Cedar;
  readonly vocabulary: Vocabulary;
  readonly prepared: PreparsedPolicySetPool;
  readonly counts: Counts;
  readonly evaluations?: Histogram;
  readonly trouble?: (trouble: EvaluationError) => void;
}

/** Decisions remembered, in two halves. */
export const memory = 64 << 10;

/** A longer key is not worth its room. */
const longest = 1024;

/** The longest an evaluation may take, in ms (docs/design/policy.md#errors-and-time-limit). */
export const budget = 100;

/** One policy, ready to answer; its memory goes with it. */
export class PolicyEvaluator {
  readonly name: string;
  readonly #rules: readonly Rule[];
  readonly #byID: ReadonlyMap<string, Rule>;
  readonly #chambers: EvaluatorContext;
  readonly #memo = new DecisionCache<AuthorizationResponse>(memory / 2);
  readonly #slices = new Map<string, PolicySlice>();
  readonly #default: AuthorizationResponse;
  readonly #failed: AuthorizationResponse;

  constructor(name: string, rules: readonly Rule[], chambers: EvaluatorContext) {
    this.name = name;
    this.#rules = rules;
    this.#byID = new Map(rules.map((rule) => [rule.id, rule]));
    this.#chambers = chambers;
    this.#default = {
      allowed: false,
      policy: name,
      reasons: [{ rule: 'default', message: 'No rule permits it.' }],
    };
    this.#failed = {
      allowed: false,
      policy: name,
      reasons: [{ rule: 'error', message: 'The policy could not be applied.' }],
    };
  }

  /** The ids of a type that rules single out. */
  named(type: string): string[] {
    return namedIn(this.#rules, type);
  }

  /** Every text that rules compare something with. */
  get texts(): string[] {
    return textsIn(this.#rules);
  }

  /** Answers from memory or by evaluation; whatever goes wrong refuses and is counted. */
  decide(asked: AuthorizationRequest): AuthorizationResponse {
    try {
      const { every = false } = asked.question;
      const slice = this.slice(asked);
      const key = every ? slice.commonKey(asked) : slice.key(asked);
      const known = this.#memo.get(key);
      if (!known)
        return this.#evaluate(every ? slice.common(asked) : slice.residual(asked), asked, key);
      this.#chambers.counts.hits += 1;
      return known;
    } catch {
      return this.#fail('errors');
    }
  }

  /** Whether the answer to a question may change by itself. */
  moves(asked: AuthorizationRequest): boolean {
    return this.slice(asked).residual(asked).moves;
  }

  /** The slice a question falls into, made when first met. */
  slice({ action, principalType, resourceType }: AuthorizationRequest): PolicySlice {
    const name = `${action} ${principalType} ${resourceType}`;
    let slice = this.#slices.get(name);
    if (!slice) {
      const shape = { action, principal: principalType, resource: resourceType };
      slice = new PolicySlice(this.#slices.size, this.#rules, shape, this.#chambers.vocabulary);
      this.#slices.set(name, slice);
    }
    return slice;
  }

  #evaluate(
    set: ResidualPolicySet | undefined,
    asked: AuthorizationRequest,
    key: string,
  ): AuthorizationResponse {
    const isRemembered = !set?.moves && key.length <= longest;
    this.#chambers.counts[isRemembered ? 'misses' : 'unmemoised'] += 1;
    const answer = set ? this.#answer(set, asked) : this.#default;
    if (isRemembered && answer !== this.#failed) this.#memo.set(key, answer);
    return answer;
  }

  #answer(set: ResidualPolicySet, asked: AuthorizationRequest): AuthorizationResponse {
    if (set.size === 0) return this.#default;
    const answer = this.#inTime(set, asked) ?? this.#inTime(set, asked);
    if (!answer) return this.#fail('overruns', Object.keys(set.rules));
    if (answer.type === 'failure') return this.#fail('errors', Object.keys(set.rules));
    const { errors } = answer.response.diagnostics;
    if (errors.length > 0)
      return this.#fail(
        'errors',
        errors.map(({ policyId }) => policyId),
      );
    const {
      decision,
      diagnostics: { reason },
    } = answer.response;
    if (reason.length === 0) return this.#default;
    const whoever =
      decision === 'deny' && reason.some((id) => isPrincipalIndependent(this.#byID.get(id)!));
    return {
      allowed: decision === 'allow',
      policy: this.name,
      reasons: this.#reasons(reason, decision === 'allow'),
      ...(whoever && { appliesToEveryone: whoever }),
    };
  }

  /** Refuses, counts, and tells whoever wants to know. */
  #fail(count: 'errors' | 'overruns', rules: readonly string[] = []): AuthorizationResponse {
    const { counts, trouble } = this.#chambers;
    counts[count] += 1;
    trouble?.({ what: count === 'errors' ? 'error' : 'overrun', policy: this.name, rules });
    return this.#failed;
  }

  /**
   * What Cedar answers; nothing where that took too long, which once may be the machine's doing.
   */
  #inTime(set: ResidualPolicySet, asked: AuthorizationRequest): AuthorizationAnswer | undefined {
    const { cedar, prepared } = this.#chambers;
    const { principalType, action, resourceType } = asked;
    const [preparsedPolicySetId, context] = [prepared.nameOf(set), set.context(asked)];
    const begun = performance.now();
    const answer = cedar.statefulIsAuthorized({
      principal: { type: principalType, id: '' },
      action: { type: 'Action', id: action },
      resource: { type: resourceType, id: '' },
      context,
      entities: [],
      preparsedPolicySetId,
    });
    const took = performance.now() - begun;
    this.#chambers.evaluations?.observe(took / 1000);
    return took > budget ? undefined : answer;
  }

  /** The rules that decided, those with words for people first; each says something. */
  #reasons(ids: readonly string[], allowed: boolean): Decision['reasons'] {
    const reasons = [...ids]
      .sort()
      .map((id) => ({ rule: id, message: this.#byID.get(id)?.message ?? '' }));
    reasons.sort((a, b) => Number(a.message === '') - Number(b.message === ''));
    return reasons.map(({ rule, message }) => ({
      rule,
      message: message || (allowed ? `The rule ${rule} permits it.` : defaultRefusalMessage),
    }));
  }
}
