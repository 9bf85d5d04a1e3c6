import { BoundedMap } from '../../security/bounded-map.js';
import { type MediaType, parseMediaRanges } from './media-type.js';

/**
 * A media range of an Accept header, with the JSON transformation that it asks for (Kubernetes API
 * conventions; RFC 9110 §12.5.1).
 */
export interface MediaRange {
  readonly type: string;
  readonly as?: string;
  readonly group?: string;
  readonly version?: string;
}

const jsonTypes = new Set([
  'application/json',
  'application/*',
  '*/*',
  'text/html',
  'text/*',
  'application/xhtml+xml',
]);
const parameterNames: Readonly<Record<string, 'as' | 'group' | 'version'>> = {
  as: 'as',
  g: 'group',
  v: 'version',
};

/**
 * Reports whether JSON satisfies a media range. A navigation that accepts only HTML gets JSON too.
 */
export const acceptsJSON = ({ type }: MediaRange): boolean => jsonTypes.has(type);

/** Reports whether a media range asks for YAML, of which every JSON text is one (YAML 1.2). */
export const acceptsYAML = ({ type, as }: MediaRange): boolean =>
  type === 'application/yaml' && as === undefined;

/** Parsed headers; a client sends the same few repeatedly. */
const parsedHeaders = new BoundedMap<string, readonly MediaRange[]>(500);
const maxHeaderLength = 512;
const acceptAll: readonly MediaRange[] = [{ type: '*/*' }];

/**
 * Returns the media ranges of an Accept header by weight, then by order, without those of weight 0.
 * Without a header, anything is accepted.
 */
export function parseAccept(accept: string | undefined): readonly MediaRange[] {
  if (!accept) return acceptAll;
  let clauses = parsedHeaders.get(accept);
  if (clauses) return clauses;
  const weighed = parseMediaRanges(accept)
    .map(clauseOf)
    .filter(({ weight }) => weight > 0);
  clauses = weighed.sort((a, b) => b.weight - a.weight).map(({ clause }) => clause);
  if (accept.length <= maxHeaderLength) parsedHeaders.set(accept, clauses);
  return clauses;
}

function clauseOf({ type, parameters }: MediaType): { clause: MediaRange; weight: number } {
  const clause: { type: string; as?: string; group?: string; version?: string } = { type };
  let weight = 1;
  for (const [name, value] of parameters) {
    if (name === 'q') {
      weight = Number(value) || 0;
    } else if (Object.hasOwn(parameterNames, name)) {
      clause[parameterNames[name]!] = value;
    }
  }
  return { clause, weight };
}

/** Reports whether an Accept header prefers YAML to JSON. */
export const prefersYAML = (accept: string | undefined): boolean => {
  if (accept === undefined || !/yaml/i.test(accept)) return false;
  const first = parseAccept(accept).find((clause) => acceptsJSON(clause) || acceptsYAML(clause));
  return first !== undefined && acceptsYAML(first);
};
