import { isDeepStrictEqual } from 'node:util';
import type { ClaimValue, Scope } from '../../kinds/claims/scopes.js';
import { parseJSON } from '../../registry/strict-json.js';

/** What was supplied, by scope and claim. */
export type Supplied = ReadonlyMap<string, Readonly<Record<string, ClaimValue>>>;

const hidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

const max = { characters: 4096, items: 100 };

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= max.characters && !hidden.test(value);

const fits: Readonly<Record<Scope['claims'][number]['type'], (value: unknown) => boolean>> = {
  string: isText,
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  boolean: (value) => typeof value === 'boolean',
  strings: (value) => Array.isArray(value) && value.length <= max.items && value.every(isText),
};

function parsed(body: Buffer): unknown {
  try {
    return parseJSON(body);
  } catch {
    return undefined;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a review asks: about whom, for which Client, why, which scopes, of which supplier. */
export interface Review {
  readonly account: string;
  readonly client: string;
  readonly provider: string;
  readonly scopes: readonly string[];
  readonly purpose: string;
}

/**
 * Reads the answer to a review: declared claims of the declared type, by scope. Undefined where it
 * is none: JSON that two readers could take for two things, or about anything but what was asked.
 */
export function readAnswer(
  body: Buffer,
  asked: Review,
  scopes: readonly Scope[],
): Supplied | undefined {
  const answer = parsed(body);
  if (
    !isRecord(answer) ||
    !isRecord(answer.status) ||
    !isRecord(answer.status.claims) ||
    !isRecord(answer.spec)
  )
    return undefined;
  const { account, client, provider, scopes: names, purpose } = answer.spec;
  if (!isDeepStrictEqual({ account, client, provider, scopes: names, purpose }, asked))
    return undefined;
  const { claims } = answer.status;
  return new Map(
    scopes.map((scope) => [
      scope.name,
      Object.fromEntries(
        scope.claims
          .filter(({ name, type }) => Object.hasOwn(claims, name) && fits[type](claims[name]))
          .map(({ name }) => [name, claims[name] as ClaimValue]),
      ),
    ]),
  );
}
