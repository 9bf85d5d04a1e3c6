import type { Expr, PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import { balanced, depthOf } from './ast.js';
import type { Cedar } from './cedar.js';
import type { PolicyFault, Place } from '../../kinds/policy/fault.js';
import { position, scan } from './limits.js';
import type { RuleSummary } from '../../kinds/policy/rule-summary.js';

/** One rule of a policy: what people know it by, and its parts. */
export interface Rule {
  readonly id: string;
  readonly effect: 'permit' | 'forbid';
  /** Its words for people. */
  readonly message?: string;
  readonly principal: PolicyJson['principal'];
  readonly action: PolicyJson['action'];
  readonly resource: PolicyJson['resource'];
  /** Every condition, `unless` turned round. */
  readonly conditions: readonly Expr[];
}

/**
 * Raised with every change of what is read of a rule: rules read by an earlier release are then
 * read again.
 */
export const ruleForm = 1;

/** What people see of a rule. */
export const summaryOf = ({ id, effect, message }: Rule): RuleSummary => ({
  id,
  effect,
  ...(message !== undefined && { message }),
});

/**
 * How deep an expression may be: Cedar reads its JSON form to 128 levels, of which each of ours
 * takes two, and slots and lists of groups add some.
 */
const deepest = 40;

/** Rules read between two turns of the event loop. */
const atOnce = 50;

/** Rules with the place of each in the text, or what is wrong with them. */
export interface ParsedRules {
  readonly rules: Rule[];
  readonly places: Place[];
  readonly faults: PolicyFault[];
}

/**
 * Reads the rules of a text that parses, or says what is wrong with them; a rule without an `@id`
 * is called by its place.
 */
export async function readRules(cedar: Cedar, text: string): Promise<ParsedRules> {
  const { starts, faults } = scan(text);
  const parts = faults.length > 0 ? undefined : cedar.policySetTextToParts(text);
  if (parts?.type !== 'success' || parts.policies.length !== starts.length)
    return {
      rules: [],
      places: [],
      faults: faults.length > 0 ? faults : [{ message: 'does not parse' }],
    };
  const rules: Rule[] = [];
  const places: ParsedRules['places'] = [];
  const texts = inOrder(parts.policies);
  for (const [i, one] of texts.entries()) {
    if (i % atOnce === atOnce - 1)
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    const rule = readUnlike(rules, cedar, one, `rule${i + 1}`);
    const place = position(text, starts[i]!);
    if (typeof rule === 'string') {
      faults.push({ message: rule, ...place });
      continue;
    }
    places.push(place);
    rules.push(rule);
  }
  for (const i of unreadable(cedar, rules))
    faults.push({ message: 'holds a value that cannot be read back', ...places[i]! });
  return { rules, places, faults };
}

/**
 * Which rules Cedar does not take back in the form they are held in, which is how slices are
 * prepared; all are tried at once, since one by one each costs as much as all.
 */
function unreadable(cedar: Cedar, rules: readonly Rule[]): number[] {
  const takes = (some: readonly Rule[]): boolean =>
    cedar.checkParsePolicySet({
      staticPolicies: Object.fromEntries(some.map((rule) => [rule.id, heldIn(rule)])),
    }).type === 'success';
  return takes(rules) ? [] : rules.flatMap((rule, i) => (takes([rule]) ? [] : [i]));
}

/** A rule in Cedar's own form, its conditions all to be met. */
const heldIn = ({ effect, principal, action, resource, conditions }: Rule): PolicyJson => ({
  effect,
  principal,
  action,
  resource,
  conditions: conditions.map((body) => ({ kind: 'when' as const, body })),
});

/** Cedar gives the parts ordered by their names policy0, policy1, policy10, policy2. */
function inOrder(parts: readonly string[]): string[] {
  const names = parts.map((_, i) => `policy${i}`).sort();
  return parts.map((_, i) => parts[names.indexOf(`policy${i}`)]!);
}

/** What decisions name where no rule decided. */
const reserved = new Set(['default', 'error']);

/**
 * Control characters and those that turn the direction of text: people read messages in a row with
 * other words.
 */
const hidden = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

const longestMessage = 500;

/** One rule with an id that none of the others has, or why it is none. */
function readUnlike(
  others: readonly Rule[],
  cedar: Cedar,
  text: string,
  name: string,
): Rule | string {
  const rule = readRule(cedar, text, name);
  if (typeof rule === 'string' || !others.some(({ id }) => id === rule.id)) return rule;
  return `another rule has the @id ${JSON.stringify(rule.id)} too`;
}

/** One rule, or why it is none. */
function readRule(cedar: Cedar, text: string, name: string): Rule | string {
  const answer = cedar.policyToJson(text);
  if (answer.type === 'failure') return 'cannot be read';
  const { effect, principal, action, resource, conditions, annotations = {} } = answer.json;
  const { id = name, message } = annotations;
  if (!/^[A-Za-z0-9][\x20-\x7e]{0,99}$/.test(id))
    return 'an @id must have 1 to 100 printable ASCII characters and begin with a letter or a digit';
  if (reserved.has(id))
    return `an @id must not be ${JSON.stringify(id)}, which decisions say of themselves`;
  if (message !== undefined && (message.length > longestMessage || hidden.test(message)))
    return `a @message must have at most ${longestMessage} characters, and none that are hidden`;
  const clauses = conditions.map(({ kind, body }) =>
    balanced(kind === 'when' ? body : { '!': { arg: body } }),
  );
  if (clauses.length > deepest || clauses.some((clause) => depthOf(clause) > deepest))
    return `its conditions may be at most ${deepest} deep`;
  return {
    id,
    effect,
    ...(message !== undefined && { message }),
    principal,
    action,
    resource,
    conditions: clauses,
  };
}

/** Every text that rules compare something with. */
export function textsIn(rules: readonly Rule[]): string[] {
  const texts = new Set<string>();
  JSON.stringify(
    rules.map(({ conditions }) => conditions),
    (_, value: unknown) => {
      const text = (value as { Value?: unknown } | null)?.Value;
      if (typeof text === 'string') texts.add(text);
      return value;
    },
  );
  return [...texts];
}

/** The ids of a type that rules single out. */
export function namedIn(rules: readonly Rule[], type: string): string[] {
  const ids = new Set<string>();
  JSON.stringify(rules, (_, value: unknown) => {
    const one = value as { type?: unknown; id?: unknown } | null;
    if (typeof one === 'object' && one?.type === type && typeof one.id === 'string')
      ids.add(one.id);
    return value;
  });
  return [...ids];
}
