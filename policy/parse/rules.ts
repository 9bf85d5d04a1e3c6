import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Expr, PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import { catalogLanguage, catalogs } from '../../i18n/languages.js';
import type { Texts } from '../../i18n/local-text.js';
import type { PolicyFault, TextPosition } from '../../kinds/policy/fault.js';
import type { RuleSummary } from '../../kinds/policy/rule-summary.js';
import { canonicalTag } from '../../kinds/signin/language-faults.js';
import { lineFault } from '../../registry/schema/line-of-text.js';
import { balance, depthOf } from './ast.js';
import type { Cedar } from './cedar.js';
import { position, scan } from './limits.js';

/** One rule (a Cedar policy) of a text. */
export interface Rule {
  readonly id: string;
  readonly effect: 'permit' | 'forbid';
  /** The message shown to people. */
  readonly message?: string;
  /** The same in other languages, by language tag (BCP 47). */
  readonly messages?: Texts;
  readonly principal: PolicyJson['principal'];
  readonly action: PolicyJson['action'];
  readonly resource: PolicyJson['resource'];
  /** All conditions as `when`; `unless` is negated. */
  readonly conditions: readonly Expr[];
}

/** Incremented when Rule changes, so that rules cached by an earlier release are parsed again. */
export const ruleFormatVersion = 2;

/** Returns the part of a rule that the API shows. */
export const summarize = ({ id, effect, message, messages }: Rule): RuleSummary => ({
  id,
  effect,
  ...(message !== undefined && { message }),
  ...(messages && { messages }),
});

/**
 * The largest depth of an expression. Cedar reads JSON to 128 levels, each expression takes two,
 * and unknowns and lists of groups add some.
 */
const maxDepth = 40;

/** Rules parsed before each yield to the event loop. */
const rulesPerTurn = 50;

/** Parsed rules with their positions in the text, and faults. */
export interface ParsedRules {
  readonly rules: Rule[];
  readonly positions: TextPosition[];
  readonly faults: PolicyFault[];
}

/**
 * Parses the rules of a text, or returns faults. A rule without an `@id` is named after its
 * position.
 */
export async function readRules(cedar: Cedar, text: string): Promise<ParsedRules> {
  const { starts, faults } = scan(text);
  const parts = faults.length > 0 ? undefined : cedar.policySetTextToParts(text);
  if (parts?.type !== 'success' || parts.policies.length !== starts.length) {
    return {
      rules: [],
      positions: [],
      faults: faults.length > 0 ? faults : [{ message: 'does not parse' }],
    };
  }
  const rules: Rule[] = [];
  const positions: ParsedRules['positions'] = [];
  const policyTexts = sortByPosition(parts.policies);
  for (const [i, policyText] of policyTexts.entries()) {
    if (i % rulesPerTurn === rulesPerTurn - 1) await yieldToEventLoop();
    const rule = readUniqueRule(rules, cedar, policyText, `rule${i + 1}`);
    const start = position(text, starts[i]!);
    if (typeof rule === 'string') {
      faults.push({ message: rule, ...start });
      continue;
    }
    positions.push(start);
    rules.push(rule);
  }
  for (const i of rejectedByCedar(cedar, rules)) {
    faults.push({ message: 'has a value that Cedar does not accept in JSON', ...positions[i]! });
  }
  return { rules, positions, faults };
}

/**
 * Returns the indexes of rules that Cedar does not accept in JSON form, which slices use. Tries all
 * at once first, since one check costs as much as all.
 */
function rejectedByCedar(cedar: Cedar, rules: readonly Rule[]): number[] {
  const isAccepted = (subset: readonly Rule[]): boolean =>
    cedar.checkParsePolicySet({
      staticPolicies: Object.fromEntries(subset.map((rule) => [rule.id, toPolicyJson(rule)])),
    }).type === 'success';
  return isAccepted(rules) ? [] : rules.flatMap((rule, i) => (isAccepted([rule]) ? [] : [i]));
}

/** Returns a rule in Cedar's JSON form. */
const toPolicyJson = ({ effect, principal, action, resource, conditions }: Rule): PolicyJson => ({
  effect,
  principal,
  action,
  resource,
  conditions: conditions.map((body) => ({ kind: 'when' as const, body })),
});

/** Restores the order of the text; Cedar sorts the parts as policy0, policy1, policy10, policy2. */
function sortByPosition(parts: readonly string[]): string[] {
  const names = parts.map((_, i) => `policy${i}`).sort();
  return parts.map((_, i) => parts[names.indexOf(`policy${i}`)]!);
}

/** Ids that decisions report when no rule decided. */
const reservedIds = new Set(['default', 'error']);

const maxMessageLength = 500;

/** Parses one rule whose id no previous rule has; returns a message if that fails. */
function readUniqueRule(
  previous: readonly Rule[],
  cedar: Cedar,
  text: string,
  name: string,
): Rule | string {
  const rule = readRule(cedar, text, name);
  if (typeof rule === 'string' || !previous.some(({ id }) => id === rule.id)) return rule;
  return `another rule has the @id ${JSON.stringify(rule.id)} too`;
}

/** Begins the annotation of a message in another language: `@message_pt_BR` is for `pt-BR`. */
const messagePrefix = 'message_';

const annotationOf = (tag: string): string => `@${messagePrefix}${tag.replaceAll('-', '_')}`;

/** Returns the messages of a rule in other languages, by language tag. */
const messagesOf = (annotations: Readonly<Record<string, string>>): Texts =>
  Object.fromEntries(
    Object.entries(annotations)
      .filter(([name]) => name.startsWith(messagePrefix))
      .map(([name, text]) => [name.slice(messagePrefix.length).replaceAll('_', '-'), text]),
  );

/** Returns what is wrong with the messages of a rule, or undefined. */
function faultOfMessages(message: string | undefined, messages: Texts): string | undefined {
  for (const tag of Object.keys(messages)) {
    const fault = tagFault(tag);
    if (fault !== undefined) return `${annotationOf(tag)}: ${fault}`;
  }
  if (message === undefined && Object.keys(messages).length > 0) {
    return `${annotationOf(Object.keys(messages)[0]!)} needs a @message beside it, for the other languages`;
  }
  const annotations = message === undefined ? [] : [['@message', message] as const];
  const named = Object.entries(messages).map(([tag, text]) => [annotationOf(tag), text] as const);
  const wrong = [...annotations, ...named].find(
    ([, text]) => text.length > maxMessageLength || lineFault(text) !== undefined,
  );
  return (
    wrong &&
    `a ${wrong[0]} must show something, with at most ${maxMessageLength} characters and no hidden characters`
  );
}

/** Returns why an annotation does not name a language that pages and mails have, or undefined. */
function tagFault(tag: string): string | undefined {
  const canonical = canonicalTag(tag);
  if (canonical === undefined) {
    return 'its name must end in a language tag such as de, or pt_BR with a region';
  }
  if (canonical !== tag) return `write ${annotationOf(canonical)}`;
  return catalogLanguage(tag) === undefined
    ? `no page is in this language; those of pages are ${Object.keys(catalogs).join(', ')}`
    : undefined;
}

/** Parses one rule; returns a message if that fails. */
function readRule(cedar: Cedar, text: string, name: string): Rule | string {
  const answer = cedar.policyToJson(text);
  if (answer.type === 'failure') return 'cannot be read';
  const { effect, principal, action, resource, conditions, annotations = {} } = answer.json;
  const { id = name, message } = annotations;
  const messages = messagesOf(annotations);
  if (!/^[A-Za-z0-9][\x20-\x7e]{0,99}$/.test(id)) {
    return 'an @id must have 1 to 100 printable ASCII characters and begin with a letter or a digit';
  }
  if (reservedIds.has(id)) {
    return `an @id must not be ${JSON.stringify(id)}, which is reserved for decisions without a rule`;
  }
  const messageFault = faultOfMessages(message, messages);
  if (messageFault !== undefined) return messageFault;
  const clauses = conditions.map(({ kind, body }) =>
    balance(kind === 'when' ? body : { '!': { arg: body } }),
  );
  if (clauses.length > maxDepth || clauses.some((clause) => depthOf(clause) > maxDepth)) {
    return `its conditions may be at most ${maxDepth} deep`;
  }
  return {
    id,
    effect,
    ...(message !== undefined && { message }),
    ...(Object.keys(messages).length > 0 && { messages }),
    principal,
    action,
    resource,
    conditions: clauses,
  };
}

/** What rules name, each once. */
export interface Named {
  /** Ids of entities, by the type of the entity. */
  readonly entityIds: ReadonlyMap<string, readonly string[]>;
  /** Of conditions. */
  readonly stringLiterals: readonly string[];
}

/** Returns the entities and string literals that rules name. */
export function namedIn(rules: readonly Rule[]): Named {
  const entityIds = new Map<string, Set<string>>();
  const stringLiterals = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { type, id, Value: literal } = value as Readonly<Record<string, unknown>>;
    if (typeof literal === 'string') stringLiterals.add(literal);
    if (typeof type === 'string' && typeof id === 'string') {
      entityIds.set(type, (entityIds.get(type) ?? new Set()).add(id));
    }
    Object.values(value).forEach(visit);
  };
  visit(rules);
  return {
    entityIds: new Map([...entityIds].map(([type, ids]) => [type, [...ids]])),
    stringLiterals: [...stringLiterals],
  };
}
