import { createRequire } from 'node:module';
import type { DetailedError, ValidationError } from '@cedar-policy/cedar-wasm/nodejs';
import type { PolicyFault } from '../../kinds/policy/fault.js';
import { hashOf } from '../../kinds/policy/policy.js';
import { BoundedMap } from '../../security/bounded-map.js';
import type { Vocabulary } from '../model/vocabulary.js';
import { type CallCedar, withCedarWorker } from './cedar-worker.js';
import { bytePosition, policyLimits, scan } from './limits.js';
import { suggestionFor } from './name-suggestion.js';

/** The Cedar library. */
export type Cedar = typeof import('@cedar-policy/cedar-wasm/nodejs');

/** Loads Cedar; takes 30 to 50 ms once. */
export async function loadCedar(): Promise<Cedar> {
  const loaded = (await import('@cedar-policy/cedar-wasm/nodejs')) as Cedar & { default?: Cedar };
  return loaded.default ?? loaded;
}

/** Returns a schema in Cedar's JSON format. Throws if the text is not a schema. */
export function schemaToJSON(text: string): object {
  const cedar = createRequire(import.meta.url)('@cedar-policy/cedar-wasm/nodejs') as Cedar;
  const answer = cedar.schemaToJson(text);
  if (answer.type === 'failure') {
    throw new Error(`the Cedar schema is invalid: ${answer.errors[0]?.message}`);
  }
  return answer.json;
}

/** A text that parses and validates: formatted, with warnings for its author. */
export interface Validated {
  readonly text: string;
  readonly warnings: readonly PolicyFault[];
}

/** The time limit for validating one text, in milliseconds. */
const validationTimeoutMs = 20_000;

/** Parses, validates and formats a text; faults have line and column. */
export async function validate(
  text: string,
  schema: string,
  vocabulary: Vocabulary,
  timeoutMs: number = validationTimeoutMs,
): Promise<Validated | { readonly faults: readonly PolicyFault[] }> {
  const { faults, starts } = scan(text);
  if (faults.length > 0) return { faults };
  if (starts.length === 0) return { faults: [{ message: 'has no rules' }] };
  try {
    return await withCedarWorker(timeoutMs, (call) =>
      runValidation(call, { text, starts }, schema, vocabulary),
    );
  } catch (error) {
    return { faults: [{ message: `is too complex to validate: ${(error as Error).message}` }] };
  }
}

/**
 * Rules that validated without a fault or warning, by schema and text. Cedar validates each rule
 * alone, for every kind of request that there is: 250 ms for the rules of the default policy.
 */
const soundRules = new BoundedMap<string, true>(4 * policyLimits.rules);

/** The text with its sound rules as blanks, so that the others keep their positions; keys of all. */
function blankSoundRules(
  { text, starts }: { text: string; starts: readonly number[] },
  schema: string,
): { rest: string; keys: string[] } {
  const rules = starts.map((start, i) => text.slice(start, starts[i + 1]));
  const schemaHash = hashOf(schema);
  const keys = rules.map((rule) => hashOf(schemaHash + rule.trimEnd()));
  const rest = rules.map((rule, i) => (soundRules.has(keys[i]!) ? blank(rule) : rule));
  return { rest: blank(text.slice(0, starts[0])) + rest.join(''), keys };
}

/** As many bytes in as many lines. */
const blank = (text: string): string =>
  text.replace(/[^\n]+/g, (line) => ' '.repeat(Buffer.byteLength(line)));

async function runValidation(
  call: CallCedar,
  scanned: { text: string; starts: readonly number[] },
  schema: string,
  vocabulary: Vocabulary,
): Promise<Validated | { faults: PolicyFault[] }> {
  const { text } = scanned;
  const parsed = await call('policySetTextToParts', text);
  if (parsed.type === 'failure') {
    return { faults: parsed.errors.map((error) => faultOf(text, error, vocabulary)) };
  }
  if (parsed.policy_templates.length > 0) {
    return { faults: [{ message: 'templates are not supported: a rule must not have slots' }] };
  }
  const { rest, keys } = blankSoundRules(scanned, schema);
  const answer = await call('validate', { schema, policies: { staticPolicies: rest } });
  if (answer.type === 'failure') throw new Error('the Cedar schema of this service is invalid');
  if (answer.validationErrors.length > 0) {
    return { faults: distinctFaults(text, answer.validationErrors, vocabulary) };
  }
  const impossible = answer.validationWarnings.filter(({ error }) =>
    error.message.includes('policy is impossible'),
  );
  if (impossible.length > 0) {
    return {
      faults: distinctFaults(text, impossible, vocabulary).map((fault) => ({
        ...fault,
        message: neverApplies,
      })),
    };
  }
  if (answer.validationWarnings.length === 0) keys.forEach((key) => soundRules.set(key, true));
  const formatted = await call('formatPolicies', {
    policyText: text,
    lineWidth: 120,
    indentWidth: 2,
  }).catch(() => undefined);
  return {
    text:
      formatted?.type === 'success' && scan(formatted.formatted_policy).faults.length === 0
        ? formatted.formatted_policy
        : text,
    warnings: distinctFaults(text, answer.validationWarnings, vocabulary),
  };
}

/**
 * The message for a rule that Cedar reports as impossible. It is refused, since its author expects
 * it to have an effect.
 */
const neverApplies =
  'the rule can never apply: its scope and conditions are false for every request there can be';

/** Cedar repeats an error for each request environment; keeps one for each position. */
function distinctFaults(
  text: string,
  errors: readonly ValidationError[],
  vocabulary: Vocabulary,
): PolicyFault[] {
  const faults = errors.map(({ error }) => faultOf(text, error, vocabulary));
  return [...new Map(faults.map((fault) => [`${fault.line}:${fault.column}`, fault])).values()]
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
    .slice(0, 32);
}

function faultOf(
  text: string,
  { message, help, sourceLocations = [] }: DetailedError,
  vocabulary: Vocabulary,
): PolicyFault {
  const [location] = sourceLocations;
  const reason = message
    .replace(/^failed to parse policies from string: /, '')
    .replace(/for policy `policy\d+`, /, '');
  const label = location?.label ? `: ${location.label}` : '';
  const advice = suggestionFor(message, vocabulary) ?? help;
  return {
    message: `${reason}${label}${advice ? `; ${advice}` : ''}`,
    ...(location && bytePosition(text, location.start)),
  };
}
