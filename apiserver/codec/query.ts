import { badRequest } from '../../registry/status.js';

/** Parameters of a query as flat text; a known single-valued one given twice is 400. */
export type Query = ReadonlyMap<string, string>;

/** The query of a target without one. */
export const none: Query = new Map();

const single = new Set([
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
  'propagationPolicy',
  'gracePeriodSeconds',
  'includeObject',
]);

/** Names of parameters that were given more than once and may not be, by the query. */
const repeated = new WeakMap<Query, string>();

/** Takes the text behind the question mark apart; nothing of it is judged yet. */
export function parseQuery(text: string): Query {
  const query = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (query.has(name) && single.has(name)) repeated.set(query, name);
    query.set(name, value);
  }
  return query;
}

/** A whole number of a query, within bounds; 400 else. */
export function wholeNumber(query: Query, name: string, max: number): number | undefined {
  const text = query.get(name);
  if (text === undefined) return undefined;
  if (!/^\d{1,16}$/.test(text) || Number(text) > max)
    throw badRequest(`${name} must be a whole number from 0 to ${max}`);
  return Number(text);
}

/** A boolean of a query; 400 else. */
export function flag(query: Query, name: string): boolean {
  const text = query.get(name);
  if (text === undefined || text === 'false' || text === '0') return false;
  if (['true', '1'].includes(text)) return true;
  throw badRequest(`${name} must be true or false`);
}

/**
 * A resourceVersion of a query: undefined where it is absent, "0" or empty; `wrong` where it is no
 * number.
 */
export function versionOf(query: Query, wrong: () => Error): number | undefined {
  const text = query.get('resourceVersion') || '0';
  if (!/^(0|[1-9]\d{0,15})$/.test(text)) throw wrong();
  return text === '0' ? undefined : Number(text);
}

/** Whether the query of a GET asks for a watch. */
export const isWatch = (query: Query): boolean =>
  query !== none && ['true', '1'].includes(query.get('watch') ?? '');

/** A Go duration, in which `timeout` is given. */
const duration = /^\+?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/;
const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy;
const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/**
 * The time in milliseconds that `timeout` gives a request; undefined where it is absent or 0, which
 * asks for no bound; 400 where it is no duration.
 */
export function timeoutMsOf(query: Query): number | undefined {
  const text = query.get('timeout');
  if (text === undefined) return undefined;
  if (text.length > 64 || !duration.test(text))
    throw badRequest('invalid timeout specified in the request URL');
  const sum = [...text.replace('+', '').matchAll(part)].reduce(
    (ms, [, count, unit]) => ms + Number(count) * unitMs[unit!]!,
    0,
  );
  return sum === 0 ? undefined : Math.min(sum, longestMs);
}

/** The longest that a timer waits. */
const longestMs = 2 ** 31 - 1;

/**
 * Parameters that choose something: an empty one is a choice that got lost on the way
 * (`?dryRun=$MODE`), never the same as none.
 */
const choices = [
  'dryRun',
  'fieldValidation',
  'propagationPolicy',
  'gracePeriodSeconds',
  'watch',
  'allowWatchBookmarks',
  'sendInitialEvents',
  'timeoutSeconds',
  'timeout',
  'limit',
  'resourceVersionMatch',
  'includeObject',
];

/** Parameters that any request may have and that are malformed: 400. */
function refuseEmpty(query: Query): void {
  if (repeated.has(query)) throw badRequest(`${repeated.get(query)} may be given once`);
  for (const name of choices)
    if (query.get(name) === '') throw badRequest(`${name} must have a value`);
  timeoutMsOf(query);
}

/**
 * A selector that was left empty selects everything, which is well for reading and seldom meant
 * where it is deleted: 400.
 */
function refuseEmptySelectors(query: Query): void {
  for (const name of ['labelSelector', 'fieldSelector'])
    if (query.get(name) === '')
      throw badRequest(`${name} must have a value where a collection is deleted`);
}

/** What of a request says which parameters it may have. */
interface Judged {
  readonly type: string;
  readonly query: Query;
  readonly verb?: string;
  readonly view?: { readonly isUnknown?: boolean };
}

/**
 * Known parameters that are malformed: 400, once the request is known to be permitted. Those of the
 * provider are the library's.
 */
export function refuseMalformed({ type, query, verb, view }: Judged): void {
  if (query === none || type === 'provider') return;
  refuseEmpty(query);
  if (type !== 'resource') return;
  if (verb === 'deletecollection') refuseEmptySelectors(query);
  if (view?.isUnknown) throw badRequest('includeObject must be one of Metadata, Object, None');
  for (const name of ['watch', 'allowWatchBookmarks', 'sendInitialEvents']) flag(query, name);
  for (const name of ['limit', 'timeoutSeconds']) wholeNumber(query, name, 2 ** 31);
  if (!/^-?\d{1,16}$/.test(query.get('gracePeriodSeconds') ?? '0'))
    throw badRequest('gracePeriodSeconds must be a whole number');
}
