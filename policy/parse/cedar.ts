import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import type { DetailedError, ValidationError } from '@cedar-policy/cedar-wasm/nodejs';
import type { PolicyFault } from '../../kinds/policy/fault.js';
import { bytePosition, scan } from './limits.js';

/** Cedar's own engine. */
export type Cedar = typeof import('@cedar-policy/cedar-wasm/nodejs');

/** Loads Cedar; 30 to 50 ms, once. */
export async function loadCedar(): Promise<Cedar> {
  guardOptimiser(process.versions.node);
  const loaded = (await import('@cedar-policy/cedar-wasm/nodejs')) as Cedar & { default?: Cedar };
  return loaded.default ?? loaded;
}

/**
 * V8 11 (Node 20) ends the process, "unreachable code", when a function that it inlined such a call
 * into is thrown back to the interpreter during that call.
 */
function guardOptimiser(version: string): void {
  if (Number.parseInt(version, 10) < 24) setFlagsFromString('--no-turbo-inline-js-wasm-calls');
}

/**
 * What a text that parses and validates is: the same text in the usual form, and what its author
 * may want to know.
 */
export interface Validated {
  readonly text: string;
  readonly warnings: readonly PolicyFault[];
}

/** How long the judging of one text may take, in milliseconds. */
const patience = 20_000;

/**
 * A thread of its own: validation takes up to seconds of CPU, and a text that brings Cedar down
 * brings down nothing but it.
 */
const thread = `const { parentPort, workerData } = require('node:worker_threads');
const cedar = require(workerData);
parentPort.on('message', ([name, argument]) => parentPort.postMessage(cedar[name](argument)));`;

type Call = <N extends 'policySetTextToParts' | 'validate' | 'formatPolicies'>(
  name: N,
  argument: Parameters<Cedar[N]>[0],
) => Promise<ReturnType<Cedar[N]>>;

/** Parses, validates and formats a text; line and column with everything that is wrong. */
export async function validate(
  text: string,
  schema: string,
  within: number = patience,
): Promise<Validated | { readonly faults: readonly PolicyFault[] }> {
  const { faults, starts } = scan(text);
  if (faults.length > 0) return { faults };
  if (starts.length === 0) return { faults: [{ message: 'has no rules' }] };
  const worker = new Worker(thread, {
    eval: true,
    workerData: createRequire(import.meta.url).resolve('@cedar-policy/cedar-wasm/nodejs'),
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  const timer = setTimeout(() => void worker.terminate(), within);
  try {
    return await judge(callOn(worker), text, schema);
  } catch {
    return { faults: [{ message: 'is too complex to be judged' }] };
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

function callOn(worker: Worker): Call {
  let settle: { resolve: (value: any) => void; reject: (error: unknown) => void } | undefined;
  worker.on('message', (answer) => settle?.resolve(answer));
  worker.on('error', (error) => settle?.reject(error));
  worker.on('exit', () => settle?.reject(new Error('the thread ended')));
  return (name, argument) =>
    new Promise((resolve, reject) => {
      settle = { resolve, reject };
      worker.postMessage([name, argument]);
    });
}

async function judge(
  call: Call,
  text: string,
  schema: string,
): Promise<Validated | { faults: PolicyFault[] }> {
  const parts = await call('policySetTextToParts', text);
  if (parts.type === 'failure')
    return { faults: parts.errors.map((error) => faultOf(text, error)) };
  if (parts.policy_templates.length > 0)
    return { faults: [{ message: 'templates have no use here: a rule may not have slots' }] };
  const answer = await call('validate', { schema, policies: { staticPolicies: text } });
  if (answer.type === 'failure') throw new Error('the schema of this service is not valid');
  if (answer.validationErrors.length > 0)
    return { faults: distinct(text, answer.validationErrors) };
  const impossible = answer.validationWarnings.filter(({ error }) =>
    error.message.includes('policy is impossible'),
  );
  if (impossible.length > 0)
    return {
      faults: distinct(text, impossible).map((fault) => ({ ...fault, message: neverApplies })),
    };
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
    warnings: distinct(text, answer.validationWarnings),
  };
}

/**
 * Why a rule that Cedar warns of as impossible is refused: its author believes that it does
 * something.
 */
const neverApplies =
  'the rule can never apply: its scope and conditions are false for every request there can be';

/** Cedar repeats an error for each kind of request; people are told once. */
function distinct(text: string, errors: readonly ValidationError[]): PolicyFault[] {
  const faults = errors.map(({ error }) => faultOf(text, error));
  return [...new Map(faults.map((fault) => [`${fault.line}:${fault.column}`, fault])).values()]
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
    .slice(0, 32);
}

function faultOf(
  text: string,
  { message, help, sourceLocations = [] }: DetailedError,
): PolicyFault {
  const [place] = sourceLocations;
  const words = message
    .replace(/^failed to parse policies from string: /, '')
    .replace(/for policy `policy\d+`, /, '');
  const wanted = place?.label ? `: ${place.label}` : '';
  return {
    message: `${words}${wanted}${help ? `; ${help}` : ''}`,
    ...(place && bytePosition(text, place.start)),
  };
}
