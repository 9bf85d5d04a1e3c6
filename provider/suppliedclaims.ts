import type { ClaimValue, Scope } from '../kinds/scopes.js';

/** What was supplied, by scope and claim. */
export type Supplied = ReadonlyMap<string, Readonly<Record<string, ClaimValue>>>;

const hidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const most = { characters: 4096, items: 100 };

const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= most.characters && !hidden.test(value);

const fits: Readonly<Record<Scope['claims'][number]['type'], (value: unknown) => boolean>> = {
  string: isText,
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  boolean: (value) => typeof value === 'boolean',
  strings: (value) => Array.isArray(value) && value.length <= most.items && value.every(isText),
};

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads the answer to a review of `account`: declared claims of the declared type, by scope; undefined where it is no such answer. */
export function readAnswer(body: Buffer, account: string, scopes: readonly Scope[]): Supplied | undefined {
  let answer: unknown;
  try { answer = JSON.parse(body.toString()) } catch { return undefined }
  if (!isRecord(answer) || !isRecord(answer.status) || !isRecord(answer.status.claims)) return undefined;
  if (isRecord(answer.spec) && answer.spec.account !== undefined && answer.spec.account !== account) return undefined;
  const { claims } = answer.status;
  return new Map(scopes.map((scope) => [scope.name, Object.fromEntries(scope.claims
    .filter(({ name, type }) => Object.hasOwn(claims, name) && fits[type](claims[name]))
    .map(({ name }) => [name, claims[name] as ClaimValue]))]));
}
