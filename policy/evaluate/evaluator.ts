import type { AuthorizationAnswer } from '@cedar-policy/cedar-wasm/nodejs';
import type { Histogram } from '../../observability/counters.js';
import { defaultRefusalMessage } from '../../registry/authorizer.js';
import type { Decision } from '../../registry/kind.js';
import type { AuthorizationRequest } from '../model/authorization-request.js';
import type { Vocabulary } from '../model/vocabulary.js';
import type { Cedar } from '../parse/cedar.js';
import { type Named, namedIn, type Rule } from '../parse/rules.js';
import { builtInMessage, withTexts } from '../text/built-in-texts.js';
import type { DecisionCacheKey } from './cache-key.js';
import { DecisionCache } from './decision-cache.js';
import type { AuthorizationResponse } from './decision-result.js';
import type { EvaluationError } from './error-log.js';
import { mayMentionEntity } from './mentioned-entities.js';
import type { RequestEnvironment } from './partial-evaluator.js';
import { PolicySlice } from './policy-slice.js';
import type { PreparsedPolicySetPool } from './preparsed-pool.js';
import { isPrincipalIndependent } from './principal-independent.js';
import type { ResidualPolicySet } from './residual-set.js';

/**
 * Counters since the start: cache hits, evaluations that were cached (misses), evaluations that
 * cannot be cached (bypasses), errors, and evaluations for explanations (trials).
 */
export interface EvaluationCounts {
  hits: number;
  misses: number;
  bypasses: number;
  errors: number;
  overruns: number;
  permits: number;
  refusals: number;
  trials: number;
}

/** Returns counters at zero. */
export const zeroCounts = (): EvaluationCounts => ({
  hits: 0,
  misses: 0,
  bypasses: 0,
  errors: 0,
  overruns: 0,
  permits: 0,
  refusals: 0,
  trials: 0,
});

/** Dependencies of an evaluator. */
export interface EvaluatorContext {
  readonly cedar: Cedar;
  readonly vocabulary: Vocabulary;
  readonly preparsedSets: PreparsedPolicySetPool;
  readonly counts: EvaluationCounts;
  readonly evaluationSeconds?: Histogram;
  readonly onEvaluationError?: (error: EvaluationError) => void;
}

/** The largest number of cached decisions, in both generations. */
export const cacheCapacity = 64 << 10;

/** Decisions with longer keys, in characters, are not cached. */
const maxKeyLength = 1024;

/** The limit of CPU time of one evaluation, in ms (docs/design/policy.md#errors-and-time-limit). */
export const evaluationTimeoutMs = 100;

/** Evaluates requests against one policy, with a decision cache of its own. */
export class PolicyEvaluator {
  readonly name: string;
  /** Whether any rule may mention a fact about an entity. */
  readonly mentionsEntities: boolean;
  readonly #rules: readonly Rule[];
  #namedOnce?: Named;
  readonly #rulesById: ReadonlyMap<string, Rule>;
  readonly #context: EvaluatorContext;
  readonly #cache = new DecisionCache<AuthorizationResponse>(cacheCapacity / 2);
  /** By action, type of principal and type of resource. */
  readonly #slices = new Map<string, Map<string, Map<string, PolicySlice>>>();
  readonly #defaultDeny: AuthorizationResponse;
  readonly #errorDeny: AuthorizationResponse;

  constructor(name: string, rules: readonly Rule[], context: EvaluatorContext) {
    this.name = name;
    this.#rules = rules;
    this.mentionsEntities = rules.some(mayMentionEntity);
    this.#rulesById = new Map(rules.map((rule) => [rule.id, rule]));
    this.#context = context;
    this.#defaultDeny = {
      allowed: false,
      policy: name,
      reasons: [{ rule: 'default', ...builtInMessage('policy.default') }],
    };
    this.#errorDeny = {
      allowed: false,
      policy: name,
      reasons: [{ rule: 'error', ...builtInMessage('policy.error') }],
    };
  }

  /** Returns the ids of an entity type that rules name. */
  entityIds(type: string): readonly string[] {
    return this.#named.entityIds.get(type) ?? [];
  }

  /** Returns every string literal in the conditions of the rules. */
  get stringLiterals(): readonly string[] {
    return this.#named.stringLiterals;
  }

  get #named(): Named {
    return (this.#namedOnce ??= namedIn(this.#rules));
  }

  /** Decides a request from the cache or by evaluation. Any failure denies and is counted. */
  decide(request: AuthorizationRequest): AuthorizationResponse {
    try {
      const { every = false } = request.attributes;
      const slice = this.slice(request);
      const encoder = every ? slice.collectionKey : slice.key;
      const key = encoder.encode(request);
      const cached = this.#cache.get(encoder, key);
      if (!cached) {
        return this.#evaluate(
          every ? slice.collectionResidual(request) : slice.residual(request),
          request,
          encoder,
          key,
        );
      }
      this.#context.counts.hits += 1;
      return cached;
    } catch (error) {
      return this.#deny('errors', [], error);
    }
  }

  /** Returns the entities that must be loaded before a decision, as type and id. */
  missingEntities(request: AuthorizationRequest): (readonly [string, string])[] {
    return this.slice(request).missingEntities(request);
  }

  /** Returns whether the decision on a request may change with time. */
  isTimeDependent(request: AuthorizationRequest): boolean {
    return this.slice(request).residual(request).isTimeDependent;
  }

  /** Returns the slice that a request belongs to; created on first use. */
  slice({ action, principalType, resourceType }: AuthorizationRequest): PolicySlice {
    return (
      this.#slices.get(action)?.get(principalType)?.get(resourceType) ??
      this.#createSlice({ action, principal: principalType, resource: resourceType })
    );
  }

  #createSlice(environment: RequestEnvironment): PolicySlice {
    const { action, principal, resource } = environment;
    const slice = new PolicySlice(this.#rules, environment, this.#context.vocabulary);
    const ofAction = this.#slices.get(action) ?? new Map<string, Map<string, PolicySlice>>();
    const ofPrincipal = ofAction.get(principal) ?? new Map<string, PolicySlice>();
    this.#slices.set(action, ofAction.set(principal, ofPrincipal.set(resource, slice)));
    return slice;
  }

  #evaluate(
    set: ResidualPolicySet | undefined,
    request: AuthorizationRequest,
    encoder: DecisionCacheKey,
    key: string,
  ): AuthorizationResponse {
    const isCacheable = !set?.isTimeDependent && key.length <= maxKeyLength;
    this.#context.counts[isCacheable ? 'misses' : 'bypasses'] += 1;
    const response = set ? this.#authorize(set, request) : this.#defaultDeny;
    if (isCacheable && response !== this.#errorDeny) this.#cache.set(encoder, key, response);
    return response;
  }

  #authorize(set: ResidualPolicySet, request: AuthorizationRequest): AuthorizationResponse {
    if (set.size === 0) return this.#defaultDeny;
    const answer = this.#isAuthorized(set, request) ?? this.#isAuthorized(set, request);
    if (!answer) return this.#deny('overruns', Object.keys(set.rules));
    if (answer.type === 'failure') return this.#deny('errors', Object.keys(set.rules));
    const { errors } = answer.response.diagnostics;
    if (errors.length > 0) {
      return this.#deny(
        'errors',
        errors.map(({ policyId }) => policyId),
      );
    }
    const {
      decision,
      diagnostics: { reason },
    } = answer.response;
    if (reason.length === 0) return this.#defaultDeny;
    const appliesToEveryone =
      decision === 'deny' && reason.some((id) => isPrincipalIndependent(this.#rulesById.get(id)!));
    return {
      allowed: decision === 'allow',
      policy: this.name,
      reasons: this.#reasons(reason, decision === 'allow'),
      ...(appliesToEveryone && { appliesToEveryone }),
    };
  }

  /** Counts and reports an error, and returns the decision that denies. */
  #deny(
    count: 'errors' | 'overruns',
    rules: readonly string[] = [],
    cause?: unknown,
  ): AuthorizationResponse {
    const { counts, onEvaluationError } = this.#context;
    counts[count] += 1;
    onEvaluationError?.({
      type: count === 'errors' ? 'error' : 'overrun',
      policy: this.name,
      rules,
      ...(cause !== undefined && { cause }),
    });
    return this.#errorDeny;
  }

  /**
   * Asks Cedar; returns undefined if that exceeded the limit of CPU time. The caller retries once,
   * since garbage collection counts.
   */
  #isAuthorized(
    set: ResidualPolicySet,
    request: AuthorizationRequest,
  ): AuthorizationAnswer | undefined {
    const { cedar, preparsedSets } = this.#context;
    const { principalType, action, resourceType } = request;
    const [preparsedPolicySetId, context] = [preparsedSets.nameFor(set), set.context(request)];
    const startedAt = performance.now();
    const cpuBefore = process.threadCpuUsage();
    const answer = cedar.statefulIsAuthorized({
      principal: { type: principalType, id: '' },
      action: { type: 'Action', id: action },
      resource: { type: resourceType, id: '' },
      context,
      entities: [],
      preparsedPolicySetId,
    });
    const { user, system } = process.threadCpuUsage(cpuBefore);
    this.#context.evaluationSeconds?.observe((performance.now() - startedAt) / 1000);
    return (user + system) / 1000 > evaluationTimeoutMs ? undefined : answer;
  }

  /**
   * Returns the rules that determined the decision, those with a message first; each has a message.
   */
  #reasons(ids: readonly string[], allowed: boolean): Decision['reasons'] {
    const reasons = [...ids].sort().map((id) => {
      const { message = '', messages } = this.#rulesById.get(id) ?? {};
      return { rule: id, message, messages };
    });
    reasons.sort((a, b) => Number(a.message === '') - Number(b.message === ''));
    return reasons.map(({ rule, message, messages }) => ({
      rule,
      ...withTexts(
        message || (allowed ? `The rule ${rule} permits it.` : defaultRefusalMessage),
        messages,
      ),
    }));
  }
}
