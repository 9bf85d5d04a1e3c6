import type { Alternative } from '../../kinds/policy/alternatives.js';
import { causesOf } from '../../kinds/policy/causes.js';
import type { PolicyCheckResult } from '../../kinds/policy/check-result.js';
import type { PolicyFault } from '../../kinds/policy/fault.js';
import type { RuleSummary } from '../../kinds/policy/rule-summary.js';
import type { Histogram } from '../../observability/counters.js';
import type { Action } from '../../registry/action.js';
import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import type { AnyKind } from '../../registry/kind.js';
import type { AuthorizationResponse } from '../evaluate/decision-result.js';
import type { EvaluationError } from '../evaluate/error-log.js';
import {
  type EvaluationCounts,
  type EvaluatorContext,
  PolicyEvaluator,
  zeroCounts,
} from '../evaluate/evaluator.js';
import { PreparsedPolicySetPool } from '../evaluate/preparsed-pool.js';
import { alternativesTo, type SearchBudget } from '../explain/explain.js';
import {
  AuthorizationRequest,
  type DecisionEnvironment,
  type PolicySource,
} from '../model/authorization-request.js';
import { cedarSchema } from '../model/cedar-schema.js';
import { type Vocabulary, vocabularyOf } from '../model/vocabulary.js';
import { type Cedar, loadCedar, validate } from '../parse/cedar.js';
import { neverHolds } from '../parse/never-holds.js';
import {
  type ParsedRules,
  type Rule,
  readRules,
  ruleFormatVersion,
  summarize,
} from '../parse/rules.js';
import { unsatisfiableCondition, unsupported } from '../parse/unsupported.js';
import { builtInMessage } from '../text/built-in-texts.js';
import { defaultPolicy } from '../text/default-policy.js';
import { checkLockout } from './lockout-check.js';

/** A policy that is not active. */
export interface CompiledPolicy {
  /** Whether any rule mentions a fact about an entity. */
  readonly mentionsEntities: boolean;
  /** Decides a request at `timeMs` since the epoch, by default now. */
  decide(attributes: AuthorizationAttributes, timeMs?: number): AuthorizationResponse;
  /** Returns the entities that must be loaded before a decision, as type and id. */
  missingEntities(attributes: AuthorizationAttributes): readonly (readonly [string, string])[];
}

/** Evaluates the active policy, and checks other policy texts without activating them. */
export interface Engine {
  /** The published Cedar schema. */
  readonly schema: string;
  /** The text of the first policy, active until another is created. */
  readonly defaultText: string;
  /**
   * Changes with Cedar's version, the schema and the rule format; equal values parse a text into
   * equal rules.
   */
  readonly parserVersion: string;
  /** Counters of the active policies since the start. */
  readonly counts: Readonly<EvaluationCounts>;
  /** The name of the active policy, or undefined. */
  readonly activePolicyName: string | undefined;
  /**
   * Checks whether a text may become the active policy, in a worker thread, for up to seconds. Does
   * not activate it.
   */
  check(text: string): Promise<PolicyCheckResult>;
  /**
   * Returns summaries of the rules of a checked text; takes tens of milliseconds. Throws if the
   * text cannot be parsed.
   */
  summarizeRules(text: string): Promise<RuleSummary[]>;
  /**
   * Activates a checked text at once and clears every cache; returns its rules. Skips parsing if
   * `parsedRules` are given. Throws and changes nothing if the text cannot be parsed. The latest
   * call wins.
   */
  activate(name: string, text: string, parsedRules?: readonly Rule[]): Promise<readonly Rule[]>;
  /**
   * Compiles a text without activating it: for recorded requests, or for live ones, which have all
   * facts. Each of the two ends the use of the former one.
   */
  compile(name: string, text: string, requests: 'recorded' | 'live'): Promise<CompiledPolicy>;
  /** Decides one request. Synchronous; never throws. */
  decide(attributes: AuthorizationAttributes): AuthorizationResponse;
  /**
   * Returns the smallest changes with which the active policy would permit a refused request, of those
   * that its caller may know. Takes up to 2,000 evaluations, or those of `budget`; never throws.
   */
  explain(attributes: AuthorizationAttributes, budget?: SearchBudget): readonly Alternative[];
  /** Whether any active rule mentions a fact about an entity. */
  readonly mentionsEntities: boolean;
  /**
   * Returns the entities, as type and id, whose facts the active rules about a request mention and
   * that are not in memory.
   */
  missingEntities(attributes: AuthorizationAttributes): readonly (readonly [string, string])[];
  /** Connects where facts about entities and operators come from; before that, there are none. */
  connect(source: PolicySource): void;
  /** Returns whether Cedar still responds. */
  isResponding(): boolean;
}

/** Options of an engine. `onEvaluationError` and `evaluationSeconds` observe the active policy only. */
interface EngineOptions {
  readonly onEvaluationError?: (error: EvaluationError) => void;
  readonly evaluationSeconds?: Histogram | undefined;
  /** The time zone of `timeOfDay` and `weekday` until a source says it. */
  readonly timeZone?: string;
}

/**
 * Loads Cedar and computes the vocabulary of the rules. Denies everything until a policy is
 * activated.
 */
export async function openEngine(
  kinds: readonly AnyKind[],
  actions: readonly Action[],
  options: EngineOptions = {},
): Promise<Engine> {
  return new CedarEngine(await loadCedar(), kinds, vocabularyOf(kinds, actions), options);
}

const systemAllow: AuthorizationResponse = {
  allowed: true,
  policy: '',
  reasons: [{ rule: 'this service itself', message: '' }],
};

const noPolicyDeny: AuthorizationResponse = {
  allowed: false,
  policy: '',
  reasons: [{ rule: 'error', ...builtInMessage('policy.none') }],
};

const noEntities: readonly (readonly [string, string])[] = [];

/**
 * Cedar registers preparsed sets by name in the whole process, so each engine needs its own prefix.
 */
let engineCount = 0;

class CedarEngine implements Engine {
  readonly schema: string;
  readonly defaultText: string;
  readonly parserVersion: string;
  readonly counts: EvaluationCounts = zeroCounts();
  readonly #cedar: Cedar;
  readonly #kinds: readonly AnyKind[];
  readonly #vocabulary: Vocabulary;
  #source: PolicySource | undefined;
  readonly #activeContext: EvaluatorContext;
  readonly #checkContext: EvaluatorContext;
  readonly #explainContext: EvaluatorContext;
  readonly #shadowContext: EvaluatorContext;
  readonly #timeZone: string | undefined;
  #activeEvaluator: PolicyEvaluator | undefined;
  /** Evaluates the active policy for requests that were not made, and are not counted. */
  #explainEvaluator: PolicyEvaluator | undefined;
  #useCount = 0;
  #pendingChecks: Promise<unknown> = Promise.resolve();

  constructor(
    cedar: Cedar,
    kinds: readonly AnyKind[],
    vocabulary: Vocabulary,
    { onEvaluationError, evaluationSeconds, timeZone }: EngineOptions,
  ) {
    this.#timeZone = timeZone;
    this.#cedar = cedar;
    this.#kinds = kinds;
    this.#vocabulary = vocabulary;
    this.schema = cedarSchema(vocabulary);
    this.defaultText = defaultPolicy(vocabulary);
    this.parserVersion = JSON.stringify([cedar.getCedarVersion(), ruleFormatVersion, this.schema]);
    const engineNumber = ++engineCount;
    this.#activeContext = {
      cedar,
      vocabulary,
      preparsedSets: new PreparsedPolicySetPool(cedar, `active${engineNumber}-`),
      counts: this.counts,
      ...(evaluationSeconds && { evaluationSeconds }),
      ...(onEvaluationError && { onEvaluationError }),
    };
    const uncounted = (prefix: string): EvaluatorContext => ({
      cedar,
      vocabulary,
      preparsedSets: new PreparsedPolicySetPool(cedar, `${prefix}${engineNumber}-`),
      counts: zeroCounts(),
    });
    this.#checkContext = uncounted('trial');
    this.#explainContext = uncounted('explain');
    this.#shadowContext = uncounted('shadow');
  }

  get #environment(): DecisionEnvironment {
    const entities = this.#source;
    return { timeZone: entities?.timeZone ?? this.#timeZone, ...(entities && { entities }) };
  }

  get activePolicyName(): string | undefined {
    return this.#activeEvaluator?.name;
  }

  /** Runs checks one after another, since each uses a worker thread. */
  check(text: string): Promise<PolicyCheckResult> {
    const checked = this.#pendingChecks.then(() => this.#check(text));
    this.#pendingChecks = checked.catch(() => undefined);
    return checked;
  }

  async #check(text: string): Promise<PolicyCheckResult> {
    const validated = await validate(text, this.schema, this.#vocabulary);
    if ('faults' in validated) return validated;
    const { rules, faults, positions } = await this.#parse(text);
    const unsatisfiable = ruleFaults(rules, positions, (rule) =>
      unsatisfiableCondition(rule, this.#vocabulary),
    );
    if (faults.length + unsatisfiable.length > 0) return { faults: [...faults, ...unsatisfiable] };
    const operators = (await this.#source?.operators?.()) ?? [];
    const lockouts = await checkLockout(
      this.#createEvaluator('', rules, this.#checkContext),
      this.#kinds,
      operators,
      this.#environment,
    );
    if (lockouts.length > 0) return { faults: lockouts };
    const withoutMessage = rules
      .filter(({ effect, message }) => effect === 'forbid' && !message)
      .map(({ id }) => ({
        message: `rule ${JSON.stringify(id)} forbids without a @message: people see no reason`,
      }));
    return {
      text: validated.text,
      rules: rules.map(summarize),
      warnings: [...validated.warnings, ...warningsOf(rules, positions), ...withoutMessage],
    };
  }

  async summarizeRules(text: string): Promise<RuleSummary[]> {
    return (await this.#parseOrThrow('', text)).map(summarize);
  }

  async activate(
    name: string,
    text: string,
    parsedRules?: readonly Rule[],
  ): Promise<readonly Rule[]> {
    const activation = ++this.#useCount;
    const rules = parsedRules ?? (await this.#parseOrThrow(name, text));
    if (activation !== this.#useCount) return rules;
    this.#activeEvaluator = this.#createEvaluator(name, rules, this.#activeContext);
    this.#explainEvaluator = this.#createEvaluator(name, rules, this.#explainContext);
    this.decide({ caller: { type: 'Anonymous' }, action: 'discovery', facts: { path: '/api' } });
    return rules;
  }

  async compile(
    name: string,
    text: string,
    requests: 'recorded' | 'live',
  ): Promise<CompiledPolicy> {
    const isRecorded = requests === 'recorded';
    const evaluator = this.#createEvaluator(
      name,
      await this.#parseOrThrow(name, text),
      isRecorded ? this.#checkContext : this.#shadowContext,
    );
    return {
      mentionsEntities: evaluator.mentionsEntities,
      decide: (attributes, timeMs) =>
        evaluator.decide(
          new AuthorizationRequest(attributes, { ...this.#environment, timeMs, isRecorded }),
        ),
      missingEntities: (attributes) =>
        evaluator.missingEntities(new AuthorizationRequest(attributes, this.#environment)),
    };
  }

  decide(attributes: AuthorizationAttributes): AuthorizationResponse {
    const response = this.#evaluate(this.#activeEvaluator, attributes);
    if (response.allowed) {
      this.counts.permits += 1;
    } else if (!attributes.every) {
      this.counts.refusals += 1;
    }
    return response;
  }

  explain(
    attributes: AuthorizationAttributes,
    budget: SearchBudget = { evaluations: 2_000 },
  ): readonly Alternative[] {
    if (!this.#explainEvaluator || attributes.caller.type === 'System' || attributes.every) {
      return [];
    }
    const before = budget.evaluations;
    try {
      return alternativesTo(this.#explainEvaluator, attributes, this.#environment, budget);
    } catch (cause) {
      const { name: policy } = this.#explainEvaluator;
      this.#activeContext.onEvaluationError?.({ type: 'explanation', policy, rules: [], cause });
      return [];
    } finally {
      this.counts.trials += before - budget.evaluations;
    }
  }

  get mentionsEntities(): boolean {
    return this.#activeEvaluator?.mentionsEntities ?? false;
  }

  missingEntities(attributes: AuthorizationAttributes): readonly (readonly [string, string])[] {
    if (attributes.caller.type === 'System' || !this.#activeEvaluator) return noEntities;
    return this.#activeEvaluator.missingEntities(
      new AuthorizationRequest(attributes, this.#environment),
    );
  }

  connect(entities: PolicySource): void {
    this.#source = entities;
  }

  isResponding(): boolean {
    try {
      return this.#cedar.checkParsePolicySet({ staticPolicies: '' }).type === 'success';
    } catch {
      return false;
    }
  }

  #evaluate(
    evaluator: PolicyEvaluator | undefined,
    attributes: AuthorizationAttributes,
    timeMs?: number,
  ): AuthorizationResponse {
    if (attributes.caller.type === 'System') return systemAllow;
    if (!evaluator) {
      this.counts.errors += 1;
      return noPolicyDeny;
    }
    return evaluator.decide(new AuthorizationRequest(attributes, { ...this.#environment, timeMs }));
  }

  /** Creates an evaluator and frees the preparsed sets of the previous one. */
  #createEvaluator(
    name: string,
    rules: readonly Rule[],
    context: EvaluatorContext,
  ): PolicyEvaluator {
    context.preparsedSets.clear();
    return new PolicyEvaluator(name, rules, context);
  }

  async #parseOrThrow(name: string, text: string): Promise<Rule[]> {
    const { rules, faults } = await this.#parse(text);
    if (faults.length > 0) {
      throw new Error(`policy ${name} cannot be activated: ${causesOf(faults)[0]!.message}`);
    }
    return rules;
  }

  /** Parses a text; rules that this service cannot evaluate are among the faults. */
  async #parse(text: string): Promise<ParsedRules> {
    const { rules, faults, positions } = await readRules(this.#cedar, text);
    return {
      rules,
      positions,
      faults: [...faults, ...ruleFaults(rules, positions, unsupported)],
    };
  }
}

/** Returns what in rules never holds, with the position of each rule. */
const warningsOf = (rules: readonly Rule[], positions: ParsedRules['positions']): PolicyFault[] =>
  rules.flatMap((rule, index) =>
    neverHolds(rule).map((message) => ({
      message: `rule ${JSON.stringify(rule.id)}: ${message}`,
      ...positions[index]!,
    })),
  );

/** Returns the fault of each rule that has one, with its position in the text. */
const ruleFaults = (
  rules: readonly Rule[],
  positions: ParsedRules['positions'],
  faultOf: (rule: Rule) => string | undefined,
): PolicyFault[] =>
  rules.flatMap((rule, index) => {
    const message = faultOf(rule);
    return message === undefined
      ? []
      : [{ message: `rule ${JSON.stringify(rule.id)}: ${message}`, ...positions[index]! }];
  });
