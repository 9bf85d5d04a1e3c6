import { isDeepStrictEqual } from 'node:util';
import type { ClaimValue, Scope } from '../../kinds/apps/claims/scopes.js';
import { isRecord } from '../../registry/schema/is-record.js';
import { hasInvisibleCharacters } from '../../registry/schema/line-of-text.js';
import { parseJSON } from '../../registry/schema/strict-json.js';

/** The supplied values, by scope and claim. */
export type SuppliedClaims = ReadonlyMap<string, Readonly<Record<string, ClaimValue>>>;

const max = { characters: 4096, items: 100 };

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= max.characters && !hasInvisibleCharacters(value);

const hasType: Readonly<Record<Scope['claims'][number]['type'], (value: unknown) => boolean>> = {
  string: isText,
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  boolean: (value) => typeof value === 'boolean',
  strings: (value) => Array.isArray(value) && value.length <= max.items && value.every(isText),
};

function parseOrUndefined(body: Buffer): unknown {
  try {
    return parseJSON(body);
  } catch {
    return undefined;
  }
}

/** The spec of a ClaimsReview. */
export interface ReviewSpec {
  readonly account: string;
  readonly client: string;
  readonly provider: string;
  readonly scopes: readonly string[];
  readonly purpose: string;
}

/**
 * Parses the response to a review: declared claims of the declared type, by scope. Returns
 * undefined if the JSON is invalid or ambiguous, or if its spec differs from the request.
 */
export function parseReviewResponse(
  body: Buffer,
  request: ReviewSpec,
  scopes: readonly Scope[],
): SuppliedClaims | undefined {
  const response = parseOrUndefined(body);
  if (
    !isRecord(response) ||
    !isRecord(response.status) ||
    !isRecord(response.status.claims) ||
    !isRecord(response.spec)
  ) {
    return undefined;
  }
  const { account, client, provider, scopes: names, purpose } = response.spec;
  if (!isDeepStrictEqual({ account, client, provider, scopes: names, purpose }, request)) {
    return undefined;
  }
  const { claims } = response.status;
  return new Map(
    scopes.map((scope) => [
      scope.name,
      Object.fromEntries(
        scope.claims
          .filter(({ name, type }) => Object.hasOwn(claims, name) && hasType[type](claims[name]))
          .map(({ name }) => [name, claims[name] as ClaimValue]),
      ),
    ]),
  );
}
