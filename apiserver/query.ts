import { badRequest } from '../registry/status.js';

/** Parameters of a query as flat text; a known single-valued one given twice is 400. */
export type Query = ReadonlyMap<string, string>;

/** The query of a target without one. */
export const none: Query = new Map();

const single = new Set(['labelSelector', 'fieldSelector', 'limit', 'continue', 'resourceVersion', 'resourceVersionMatch', 'watch', 'allowWatchBookmarks',
  'sendInitialEvents', 'timeoutSeconds', 'timeout', 'dryRun', 'fieldValidation', 'fieldManager', 'propagationPolicy', 'gracePeriodSeconds']);

/** Takes the text behind the question mark apart. */
export function parseQuery(text: string): Query {
  const query = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (query.has(name) && single.has(name)) throw badRequest(`${name} may be given once`);
    query.set(name, value);
  }
  return query;
}

/** A whole number of a query, within bounds; 400 else. */
export function wholeNumber(query: Query, name: string, most: number): number | undefined {
  const text = query.get(name);
  if (text === undefined || text === '') return undefined;
  if (!/^\d{1,16}$/.test(text) || Number(text) > most) throw badRequest(`${name} must be a whole number from 0 to ${most}`);
  return Number(text);
}

/** A boolean of a query; 400 else. */
export function flag(query: Query, name: string): boolean {
  const text = query.get(name);
  if (text === undefined || ['', 'false', '0'].includes(text)) return false;
  if (['true', '1'].includes(text)) return true;
  throw badRequest(`${name} must be true or false`);
}

/** A resourceVersion of a query: undefined where it is absent, "0" or empty; `wrong` where it is no number. */
export function versionOf(query: Query, wrong: () => Error): number | undefined {
  const text = query.get('resourceVersion') || '0';
  if (!/^(0|[1-9]\d{0,15})$/.test(text)) throw wrong();
  return text === '0' ? undefined : Number(text);
}

/** Whether the query of a GET asks for a watch. */
export const isWatch = (query: Query): boolean => query !== none && ['true', '1'].includes(query.get('watch') ?? '');

/** A Go duration, in which `timeout` is given. */
const duration = /^[+-]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/;

/** Known parameters that are malformed, whatever the verb: 400 (`kubernetes.md` 4.1 and 8). */
export function refuseMalformed(query: Query): void {
  for (const name of ['watch', 'allowWatchBookmarks', 'sendInitialEvents']) flag(query, name);
  for (const name of ['limit', 'timeoutSeconds']) wholeNumber(query, name, 2 ** 31);
  if (!/^(-?\d{1,16})?$/.test(query.get('gracePeriodSeconds') ?? '')) throw badRequest('gracePeriodSeconds must be a whole number');
  if (query.get('timeout') && !duration.test(query.get('timeout')!)) throw badRequest('invalid timeout specified in the request URL');
}
