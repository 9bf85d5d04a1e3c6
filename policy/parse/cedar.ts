import { createRequire } from 'node:module';
import type { DetailedError, ValidationError } from '@cedar-policy/cedar-wasm/nodejs';
import type { PolicyFault } from '../../kinds/policy/fault.js';
import type { Vocabulary } from '../model/vocabulary.js';
import { type CallCedar, withCedarWorker } from './cedar-worker.js';
import { bytePosition, scan } from './limits.js';
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
      runValidation(call, text, schema, vocabulary),
    );
  } catch (error) {
    return { faults: [{ message: `is too complex to validate: ${(error as Error).message}` }] };
  }
}

async function runValidation(
  call: CallCedar,
  text: string,
  schema: string,
  vocabulary: Vocabulary,
): Promise<Validated | { faults: PolicyFault[] }> {
  const parsed = await call('policySetTextToParts', text);
  if (parsed.type === 'failure') {
    return { faults: parsed.errors.map((error) => faultOf(text, error, vocabulary)) };
  }
  if (parsed.policy_templates.length > 0) {
    return { faults: [{ message: 'templates are not supported: a rule must not have slots' }] };
  }
  const answer = await call('validate', { schema, policies: { staticPolicies: text } });
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
