import type { AuthorizationAttributes } from '../registry/authorizer.js';
import type { Action } from '../registry/action.js';
import type { AnyKind } from '../registry/kind.js';
import type { Histogram } from '../observability/counters.js';
import { AuthorizationRequest } from './model/authorization-request.js';
import { causesOf } from '../kinds/policy/causes.js';
import { loadCedar, validate, type Cedar } from './parse/cedar.js';
import { cedarSchema } from './model/cedar-schema.js';
import { defaultPolicy } from './default-policy.js';
import {
  PolicyEvaluator,
  noCounts,
  type EvaluatorContext,
  type Counts,
} from './evaluate/evaluator.js';
import type { AuthorizationResponse } from './evaluate/decision-result.js';
import type { Operator } from '../kinds/group/operator.js';
import { lockout } from './lockout-check.js';
import { PreparsedPolicySetPool } from './evaluate/preparsed-pool.js';
import type { RuleSummary } from '../kinds/policy/rule-summary.js';
import { readRules, ruleForm, summaryOf, type ParsedRules, type Rule } from './parse/rules.js';
import type { PolicyFault } from '../kinds/policy/fault.js';
import type { EvaluationError } from './evaluate/error-log.js';
import { neverHolds, unsupported } from './parse/unsupported.js';
import { vocabularyOf, type Vocabulary } from './model/vocabulary.js';
import type { Checked } from '../kinds/policy/check-result.js';

/** The engine of the policy: one text in force, others judged. */
export interface Engine {
  /** The published Cedar schema. */
  readonly schema: string;
  /** The text in force until another is. */
  readonly defaultText: string;
  /**
   * Equal where texts are read alike: changes with Cedar, with what rules may name, and with the
   * form rules are held in.
   */
  readonly reader: string;
  /** Of the policies in force, since the start. */
  readonly counts: Readonly<Counts>;
  /** The name of the policy in force. */
  readonly inForce: string | undefined;
  /**
   * Whether a text may be put in force, in a thread of its own for up to seconds; never puts it in
   * force.
   */
  check(text: string): Promise<Checked>;
  /**
   * The rules of a text that was checked before, in some tens of milliseconds; throws where it
   * cannot be read.
   */
  rulesOf(text: string): Promise<RuleSummary[]>;
  /**
   * Puts a checked text in force at once and wholly, everything remembered forgotten, by its rules
   * where they are known already; answers them. Throws, and changes nothing, where it cannot be
   * read. The latest call wins.
   */
  use(name: string, text: string, known?: readonly Rule[]): Promise<readonly Rule[]>;
  /**
   * Another text beside the one in force, to ask what it would say; at `time` (ms), where it is
   * another than now.
   */
  attempt(
    name: string,
    text: string,
  ): Promise<(question: AuthorizationAttributes, time?: number) => AuthorizationResponse>;
  /** One decision; never throws and never waits. */
  decide(question: AuthorizationAttributes): AuthorizationResponse;
  /** Whether Cedar answers at all. */
  alive(): boolean;
}

/**
 * What an engine asks and tells: who the operators are, whenever a text is checked, and what goes
 * wrong and how long Cedar took, in seconds, under the policy in force.
 */
interface Surroundings {
  readonly operators?: () => Promise<readonly Operator[]>;
  readonly trouble?: (trouble: EvaluationError) => void;
  readonly evaluations?: Histogram | undefined;
}

/** Loads Cedar and computes what rules may name; nothing is permitted until a text is in force. */
export async function openEngine(
  kinds: readonly AnyKind[],
  actions: readonly Action[],
  surroundings: Surroundings = {},
): Promise<Engine> {
  return new CedarEngine(await loadCedar(), kinds, vocabularyOf(kinds, actions), surroundings);
}

const systemAllow: AuthorizationResponse = {
  allowed: true,
  policy: '',
  reasons: [{ rule: 'this service itself', message: '' }],
};

const noPolicyDeny: AuthorizationResponse = {
  allowed: false,
  policy: '',
  reasons: [{ rule: 'error', message: 'No policy is in force.' }],
};

/**
 * Cedar holds what is prepared by name for the whole process: engines side by side must not share
 * one.
 */
let engines = 0;

class CedarEngine implements Engine {
  readonly schema: string;
  readonly defaultText: string;
  readonly reader: string;
  readonly counts: Counts = noCounts();
  readonly #cedar: Cedar;
  readonly #kinds: readonly AnyKind[];
  readonly #vocabulary: Vocabulary;
  readonly #operators: () => Promise<readonly Operator[]>;
  readonly #chambers: EvaluatorContext;
  readonly #trial: EvaluatorContext;
  #judge: PolicyEvaluator | undefined;
  #calls = 0;
  #checking: Promise<unknown> = Promise.resolve();

  constructor(
    cedar: Cedar,
    kinds: readonly AnyKind[],
    vocabulary: Vocabulary,
    { operators = async () => [], trouble, evaluations }: Surroundings,
  ) {
    this.#cedar = cedar;
    this.#kinds = kinds;
    this.#vocabulary = vocabulary;
    this.#operators = operators;
    this.schema = cedarSchema(vocabulary);
    this.defaultText = defaultPolicy(vocabulary);
    this.reader = JSON.stringify([cedar.getCedarVersion(), ruleForm, this.schema]);
    const own = ++engines;
    this.#chambers = {
      cedar,
      vocabulary,
      prepared: new PreparsedPolicySetPool(cedar, `force${own}-`),
      counts: this.counts,
      ...(evaluations && { evaluations }),
      ...(trouble && { trouble }),
    };
    this.#trial = {
      cedar,
      vocabulary,
      prepared: new PreparsedPolicySetPool(cedar, `trial${own}-`),
      counts: noCounts(),
    };
  }

  get inForce(): string | undefined {
    return this.#judge?.name;
  }

  /** One text after another: each has a thread. */
  check(text: string): Promise<Checked> {
    const checked = this.#checking.then(() => this.#check(text));
    this.#checking = checked.catch(() => undefined);
    return checked;
  }

  async #check(text: string): Promise<Checked> {
    const valid = await validate(text, this.schema);
    if ('faults' in valid) return valid;
    const { rules, faults, places } = await this.#read(text);
    const vain = faultsOf(rules, places, (rule) => neverHolds(rule, this.#vocabulary));
    if (faults.length + vain.length > 0) return { faults: [...faults, ...vain] };
    const operators = await this.#operators();
    const locked = await lockout(this.#judgeOf('', rules, this.#trial), this.#kinds, operators);
    if (locked.length > 0) return { faults: locked };
    const mute = rules
      .filter(({ effect, message }) => effect === 'forbid' && !message)
      .map(({ id }) => ({
        message: `rule ${JSON.stringify(id)} forbids without a @message: people will read no reason`,
      }));
    return {
      text: valid.text,
      rules: rules.map(summaryOf),
      warnings: [...valid.warnings, ...mute],
    };
  }

  async rulesOf(text: string): Promise<RuleSummary[]> {
    return (await this.#readable('', text)).map(summaryOf);
  }

  async use(name: string, text: string, known?: readonly Rule[]): Promise<readonly Rule[]> {
    const call = ++this.#calls;
    const rules = known ?? (await this.#readable(name, text));
    if (call !== this.#calls) return rules;
    this.#judge = this.#judgeOf(name, rules, this.#chambers);
    this.decide({ caller: { type: 'Anonymous' }, action: 'discovery', facts: { path: '/api' } });
    return rules;
  }

  async attempt(
    name: string,
    text: string,
  ): Promise<(question: AuthorizationAttributes, time?: number) => AuthorizationResponse> {
    const judge = this.#judgeOf(name, await this.#readable(name, text), this.#trial);
    return (question, time) => this.#ask(judge, question, time);
  }

  decide(question: AuthorizationAttributes): AuthorizationResponse {
    const judgement = this.#ask(this.#judge, question);
    if (judgement.allowed) this.counts.permits += 1;
    else if (!question.every) this.counts.refusals += 1;
    return judgement;
  }

  alive(): boolean {
    try {
      return this.#cedar.checkParsePolicySet({ staticPolicies: '' }).type === 'success';
    } catch {
      return false;
    }
  }

  #ask(
    judge: PolicyEvaluator | undefined,
    question: AuthorizationAttributes,
    time?: number,
  ): AuthorizationResponse {
    if (question.caller.type === 'System') return systemAllow;
    if (!judge) {
      this.counts.errors += 1;
      return noPolicyDeny;
    }
    return judge.decide(new AuthorizationRequest(question, time));
  }

  /** Prepared sets of the judge before this one are given up. */
  #judgeOf(name: string, rules: readonly Rule[], chambers: EvaluatorContext): PolicyEvaluator {
    chambers.prepared.clear();
    return new PolicyEvaluator(name, rules, chambers);
  }

  async #readable(name: string, text: string): Promise<Rule[]> {
    const { rules, faults } = await this.#read(text);
    if (faults.length > 0)
      throw new Error(`policy ${name} cannot be put in force: ${causesOf(faults)[0]!.message}`);
    return rules;
  }

  /** The rules of a text, with what cannot be answered here among the faults. */
  async #read(text: string): Promise<ParsedRules> {
    const { rules, faults, places } = await readRules(this.#cedar, text);
    return {
      rules,
      places,
      faults: [
        ...faults,
        ...faultsOf(rules, places, (rule) => unsupported(rule, this.#vocabulary)),
      ],
    };
  }
}

/** What is wrong with each rule, at its place in the text. */
const faultsOf = (
  rules: readonly Rule[],
  places: ParsedRules['places'],
  why: (rule: Rule) => string | undefined,
): PolicyFault[] =>
  rules.flatMap((rule, index) => {
    const message = why(rule);
    return message === undefined
      ? []
      : [{ message: `rule ${JSON.stringify(rule.id)}: ${message}`, ...places[index]! }];
  });
