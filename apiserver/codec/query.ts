import { hourMs, minuteMs, secondMs } from '../../registry/schema/units.js';
import { badRequest } from '../../registry/status/status.js';

/** The parameters of a query. A known single-valued parameter that is given twice is a 400. */
export type Query = ReadonlyMap<string, string>;

/** The empty query. */
export const emptyQuery: Query = new Map();

const singleValued = new Set([
  'labelSelector',
  'fieldSelector',
  'limit',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'watch',
  'allowWatchBookmarks',
  'sendInitialEvents',
  'timeoutSeconds',
  'timeout',
  'dryRun',
  'fieldValidation',
  'fieldManager',
  'force',
  'propagationPolicy',
  'gracePeriodSeconds',
  'includeObject',
  'orderBy',
]);

/** The parameters of a query that were repeated although they are single-valued. */
const repeatedNames = new WeakMap<Query, string>();

/** Returns the path of a request target. */
export const pathOf = (target: string): string => target.split('?', 1)[0] ?? '';

/** Parses a query string without validating it. */
export function parseQuery(text: string): Query {
  const query = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (query.has(name) && singleValued.has(name)) repeatedNames.set(query, name);
    query.set(name, value);
  }
  return query;
}

/** Returns a whole number within bounds; throws 400 otherwise. */
export function wholeNumber(query: Query, name: string, max: number): number | undefined {
  const text = query.get(name);
  if (text === undefined) return undefined;
  if (!/^\d{1,16}$/.test(text) || Number(text) > max) {
    throw badRequest(`${name} must be a whole number from 0 to ${max}`);
  }
  return Number(text);
}

/** The largest `limit` and `timeoutSeconds`: that of a signed 32-bit integer. */
export const maxCount = 2 ** 31 - 1;

/** What is false in any case of letters: Kubernetes' conversion of queries, and `f` as in ParseBool of Go. */
const falseTexts: ReadonlySet<string | undefined> = new Set([undefined, 'false', '0', 'f']);

/** Returns a boolean as Kubernetes reads it: every value but a false one is true, the empty one too. */
export const booleanParameter = (query: Query, name: string): boolean =>
  !falseTexts.has(query.get(name)?.toLowerCase());

/**
 * Returns a resourceVersion; undefined if it is absent, "0" or empty. Throws `makeError()` if it is no
 * number.
 */
export function versionOf(query: Query, makeError: () => Error): number | undefined {
  const text = query.get('resourceVersion') || '0';
  if (!/^(0|[1-9]\d{0,15})$/.test(text)) throw makeError();
  return text === '0' ? undefined : Number(text);
}

/** Reports whether the query of a GET requests a watch. */
export const isWatch = (query: Query): boolean =>
  query !== emptyQuery && booleanParameter(query, 'watch');

/** A Go duration, the format of `timeout`. */
const duration = /^\+?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/;
const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy;
const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: secondMs,
  m: minuteMs,
  h: hourMs,
};

/**
 * Returns the `timeout` of a request in milliseconds; undefined if it is absent or 0, which means
 * no limit. Throws 400 if it is malformed.
 */
export function timeoutMsOf(query: Query): number | undefined {
  const text = query.get('timeout');
  if (text === undefined) return undefined;
  if (text.length > 64 || !duration.test(text)) {
    throw badRequest('invalid timeout specified in the request URL');
  }
  const sum = [...text.replace('+', '').matchAll(part)].reduce(
    (ms, [, count, unit]) => ms + Number(count) * unitMs[unit!]!,
    0,
  );
  return sum === 0 ? undefined : Math.min(sum, maxTimerMs);
}

/** The longest delay of a timer, in milliseconds. */
const maxTimerMs = 2 ** 31 - 1;

/**
 * Parameters that may not be empty: an empty value is usually a lost variable (`?dryRun=$MODE`).
 */
const nonEmptyParameters = [
  'dryRun',
  'fieldValidation',
  'propagationPolicy',
  'gracePeriodSeconds',
  'timeoutSeconds',
  'timeout',
  'limit',
  'resourceVersionMatch',
  'includeObject',
];

/** Throws 400 for malformed parameters that any request may have. */
function checkCommonParameters(query: Query): void {
  if (repeatedNames.has(query)) throw badRequest(`${repeatedNames.get(query)} may be given once`);
  for (const name of nonEmptyParameters) {
    if (query.get(name) === '') throw badRequest(`${name} must have a value`);
  }
  timeoutMsOf(query);
}

/**
 * Throws 400 for an empty or blank selector, which would select everything and is seldom meant when deleting
 * a collection.
 */
function checkSelectorsNotEmpty(query: Query): void {
  for (const name of ['labelSelector', 'fieldSelector']) {
    if (query.get(name)?.trim() === '') {
      throw badRequest(`${name} must have a value where a collection is deleted`);
    }
  }
}

/** The properties of a request that decide which parameters it may have. */
interface CheckedRequest {
  readonly type: string;
  readonly query: Query;
  readonly verb?: string;
  readonly representation?: { readonly isUnknown?: boolean };
}

/**
 * Throws 400 for malformed parameters. Runs after authorization. The provider validates its own
 * parameters.
 */
export function checkParameters({ type, query, verb, representation }: CheckedRequest): void {
  if (query === emptyQuery || type === 'provider') return;
  checkCommonParameters(query);
  if (type !== 'resource') return;
  if (verb === 'deletecollection') checkSelectorsNotEmpty(query);
  if (verb !== 'list' && query.has('orderBy')) throw badRequest('orderBy is for lists alone');
  if (representation?.isUnknown) {
    throw badRequest('includeObject must be one of Metadata, Object, None');
  }
  for (const name of ['limit', 'timeoutSeconds']) wholeNumber(query, name, maxCount);
  const gracePeriod = query.get('gracePeriodSeconds') ?? '0';
  if (!/^-?\d{1,16}$/.test(gracePeriod) || !Number.isSafeInteger(Number(gracePeriod))) {
    throw badRequest('gracePeriodSeconds must be a whole number');
  }
}
