import { BoundedMap } from '../../security/bounded-map.js';
import { parseMediaRanges, type MediaType } from './media-type.js';

/**
 * One thing a caller would take: a media type and, of JSON, the form of it (Kubernetes API
 * conventions; RFC 9110 12.5.1).
 */
export interface Clause {
  readonly type: string;
  readonly as?: string;
  readonly group?: string;
  readonly version?: string;
}

const json = new Set(['application/json', 'application/*', '*/*', 'text/html']);
const known: Readonly<Record<string, 'as' | 'group' | 'version'>> = {
  as: 'as',
  g: 'group',
  v: 'version',
};

/** Whether a clause can be answered with JSON; a navigation that names nothing but HTML is, too. */
export const takesJSON = ({ type }: Clause): boolean => json.has(type);

/** Headers as they were taken apart: a client sends the same few again and again. */
const parsed = new BoundedMap<string, readonly Clause[]>(500);
const longest = 512;
const anything: readonly Clause[] = [{ type: '*/*' }];

/**
 * What an Accept header names, best first: by weight, then in the order given; what weighs nothing
 * is left out. Without one anything goes.
 */
export function clausesOf(accept: string | undefined): readonly Clause[] {
  if (!accept) return anything;
  let clauses = parsed.get(accept);
  if (clauses) return clauses;
  const weighed = parseMediaRanges(accept)
    .map(clauseOf)
    .filter(({ weight }) => weight > 0);
  clauses = weighed.sort((a, b) => b.weight - a.weight).map(({ clause }) => clause);
  if (accept.length <= longest) parsed.set(accept, clauses);
  return clauses;
}

function clauseOf({ type, parameters }: MediaType): { clause: Clause; weight: number } {
  const clause: { type: string; as?: string; group?: string; version?: string } = { type };
  let weight = 1;
  for (const [name, value] of parameters) {
    if (name === 'q') weight = Number(value) || 0;
    else if (Object.hasOwn(known, name)) clause[known[name]!] = value;
  }
  return { clause, weight };
}
