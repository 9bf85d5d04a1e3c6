import { duplicateValue, forbiddenField } from '../../../registry/status/field-errors.js';
import type { Cause } from '../../../registry/status/status.js';
import { audienceScopeID } from '../claims/scope-id.js';
import type { AudienceObject } from './audience.js';
import { audienceSummary } from './audience-scope.js';

/** The scopes of an Audience that a consent grants, and those that it leaves out. */
export interface AudienceConsent {
  readonly audience: AudienceObject;
  readonly scopes: readonly string[];
  readonly rejected: readonly string[];
}

/** The scopes of an Audience in a Grant, with their titles. */
interface GrantedAudience {
  name: string;
  displayName: string;
  displayNames?: Record<string, string> | undefined;
  operatedBy?: string | undefined;
  homepageURI?: string | undefined;
  scopes: { name: string; title: string; titles?: Record<string, string> | undefined }[];
}

type Audiences = { name: string; scopes: string[] }[] | undefined;

/** The parts of a Grant that say what was decided about Audiences. */
interface GrantParts {
  readonly spec: { audiences?: Audiences };
  readonly status: {
    audiences?: GrantedAudience[] | undefined;
    shareDecisions?: { scope: string; policyDecision: string }[] | undefined;
  };
  readonly internal: {
    audiences?: Record<string, { uid: string; rejected: string[] }> | undefined;
  };
}

/**
 * Records consents in a Grant. What was decided about other Audiences, and about other scopes of
 * these, stays.
 */
export function recordAudiences(grant: GrantParts, consents: readonly AudienceConsent[]): void {
  for (const consent of consents) recordAudience(grant, consent);
}

function recordAudience(
  { spec, status, internal }: GrantParts,
  { audience, scopes, rejected }: AudienceConsent,
): void {
  const { name, uid } = audience.metadata;
  const decided = new Set([...scopes, ...rejected]);
  const known = internal.audiences?.[name];
  const isSame = known?.uid === uid;
  const undecided = (before: readonly string[] | undefined): string[] =>
    isSame ? (before ?? []).filter((scope) => !decided.has(scope)) : [];
  const granted = [...undecided(spec.audiences?.find(isNamed(name))?.scopes), ...scopes].sort();
  spec.audiences = replaced(spec.audiences, { name, scopes: granted });
  status.audiences = replaced(status.audiences, grantedAudience(audience, granted));
  if (spec.audiences.length === 0) delete spec.audiences;
  internal.audiences = {
    ...internal.audiences,
    [name]: { uid, rejected: [...undecided(known?.rejected), ...rejected] },
  };
}

const isNamed =
  (wanted: string) =>
  ({ name }: { readonly name: string }): boolean =>
    name === wanted;

/** Returns the list with this entry, or without it if it has no scope; sorted by name. */
function replaced<E extends { name: string; scopes: readonly unknown[] }>(
  list: readonly E[] | undefined,
  entry: E,
): E[] {
  const others = (list ?? []).filter(({ name }) => name !== entry.name);
  return entry.scopes.length === 0
    ? others
    : [...others, entry].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const grantedAudience = (
  audience: AudienceObject,
  granted: readonly string[],
): GrantedAudience => ({
  ...audienceSummary(audience),
  scopes: audience.spec.scopes
    .filter(({ name }) => granted.includes(name))
    .map(({ name, title, titles }) => ({ name, title, ...(titles && { titles }) })),
});

/**
 * Returns the scopes of an Audience that a Grant has and the Audience declares still; none if it was
 * made for an earlier Audience of the same name.
 */
export function grantedScopesOf(
  { spec, internal }: Pick<GrantParts, 'spec' | 'internal'>,
  { metadata: { name, uid }, spec: { scopes } }: AudienceObject,
): readonly string[] {
  if (internal.audiences?.[name]?.uid !== uid) return [];
  const granted = spec.audiences?.find(isNamed(name))?.scopes ?? [];
  return granted.filter((scope) => scopes.some(isNamed(scope)));
}

/** Returns the requested scopes of an Audience that the person left out. */
export const rejectedScopesOf = (
  { internal }: Pick<GrantParts, 'internal'>,
  { metadata: { name, uid } }: AudienceObject,
): readonly string[] => {
  const decided = internal.audiences?.[name];
  return decided?.uid === uid ? decided.rejected : [];
};

/** Returns the ids of the scopes that a Grant has, those of Audiences included. */
export const grantedScopeIDs = ({
  scopes,
  audiences = [],
}: {
  readonly scopes: readonly string[];
  readonly audiences?: readonly { name: string; scopes: readonly string[] }[] | undefined;
}): ReadonlySet<string> =>
  new Set([
    ...scopes,
    ...audiences.flatMap((audience) =>
      audience.scopes.map((scope) => audienceScopeID(audience.name, scope)),
    ),
  ]);

/** Why a scope cannot be added to a Grant. */
export const onlyRemoved = 'scopes can only be removed here; the Client must request new ones';

/** Returns a cause for each Audience and each scope of one that a Grant does not have. */
export const wideningAudiences = (next: Audiences = [], old: Audiences = []): Cause[] =>
  next.flatMap(({ name, scopes }, i): Cause[] => {
    const field = `spec.audiences[${i}]`;
    const before = old.find((former) => former.name === name)?.scopes;
    return before
      ? wideningScopes(scopes, before, `${field}.scopes`)
      : [forbiddenField(`${field}.name`, onlyRemoved)];
  });

const wideningScopes = (next: readonly string[], old: readonly string[], field: string): Cause[] =>
  next.flatMap((scope, i): Cause[] => {
    if (next.indexOf(scope) < i) return [duplicateValue(`${field}[${i}]`)];
    return old.includes(scope) ? [] : [forbiddenField(`${field}[${i}]`, onlyRemoved)];
  });

/**
 * Updates a Grant from which Audiences or scopes of them were removed; returns false if none was. A
 * removed Audience is asked for again, a removed scope only with prompt=consent.
 */
export function narrowAudiences(next: GrantParts, old: Pick<GrantParts, 'spec'>): boolean {
  const kept = new Map((next.spec.audiences ?? []).map(({ name, scopes }) => [name, scopes]));
  const removed = (old.spec.audiences ?? []).flatMap(({ name, scopes }) =>
    scopes
      .filter((scope) => !kept.get(name)?.includes(scope))
      .map((scope) => ({ name, scope, id: audienceScopeID(name, scope) })),
  );
  if (removed.length === 0) return false;
  const { status, internal } = next;
  const ids = new Set(removed.map(({ id }) => id));
  for (const { name, scope } of removed) {
    if (kept.has(name)) {
      internal.audiences?.[name]?.rejected.push(scope);
    } else {
      delete internal.audiences?.[name];
    }
  }
  if (status.shareDecisions) {
    status.shareDecisions = status.shareDecisions.filter(({ scope }) => !ids.has(scope));
  }
  status.audiences = (status.audiences ?? [])
    .filter(({ name }) => kept.has(name))
    .map((audience) => ({
      ...audience,
      scopes: audience.scopes.filter(({ name }) => kept.get(audience.name)!.includes(name)),
    }));
  return true;
}
