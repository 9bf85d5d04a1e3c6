import { useEffect, useState } from 'preact/hooks';
import type { APIResourceList } from '../../api.js';
import { reviewAccess, type ResourceAttributes } from '../../base/api/access-review.js';
import { ApiError, call } from '../../base/api/api.js';
import type { Kind } from './kind.js';
import type { OpenAPI } from './schema.js';

/** Reads the kinds of the API from discovery. */
export async function readKinds(): Promise<Kind[]> {
  const { groupVersion, resources } = await call<APIResourceList>('GET', '');
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map(({ name, kind, verbs }) => ({
      kind,
      resource: name,
      group: groupVersion.split('/')[0]!,
      apiVersion: groupVersion,
      verbs,
      path: `/apis/${groupVersion}/${name}`,
    }));
}

/**
 * Reads the OpenAPI document. Its address has the hash of the document, so the browser keeps it
 * until the API changes.
 */
export async function readOpenAPI({ apiVersion }: Kind): Promise<OpenAPI> {
  const { paths } = await call<{ paths: Record<string, { serverRelativeURL: string }> }>(
    'GET',
    '/openapi/v3',
  );
  const address = paths[`apis/${apiVersion}`]!.serverRelativeURL;
  const response = await fetch(address, { headers: { Accept: 'application/json' } }).catch(
    () => undefined,
  );
  if (!response?.ok) throw new ApiError(response?.status ?? 0);
  return (await response.json()) as OpenAPI;
}

interface RulesReview {
  readonly status: {
    readonly resourceRules: readonly {
      readonly verbs: readonly string[];
      readonly apiGroups: readonly string[];
      readonly resources: readonly string[];
    }[];
  };
}

/** What the caller may do to any object of a resource, as `verb group/resource`. */
const granted = new Set<string>();

const grantOf = ({ group, resource }: Kind, verb: string, subresource?: string): string =>
  `${verb} ${group}/${resource}${subresource ? `/${subresource}` : ''}`;

/** Returns the kinds that the caller may list, by one SelfSubjectRulesReview. */
export async function readListed(kinds: readonly Kind[]): Promise<Kind[]> {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectRulesReview',
    spec: {},
  };
  const { status } = await call<RulesReview>('POST', path, review);
  for (const { verbs, apiGroups, resources } of status.resourceRules) {
    const paths = apiGroups.flatMap((group) => resources.map((resource) => `${group}/${resource}`));
    for (const verb of verbs) paths.forEach((path) => granted.add(`${verb} ${path}`));
  }
  return kinds.filter((kind) => granted.has(grantOf(kind, 'list')));
}

const answers = new Map<string, Promise<boolean>>();

/**
 * Returns whether the caller may do this: by the rules review, or else by a SelfSubjectAccessReview. An unanswered question is a yes. So
 * is a change that a rule forbids now: the rule's message says what would permit it, such as a newer
 * sign-in.
 */
export function isAllowed(
  kind: Kind,
  verb: string,
  name?: string,
  subresource?: string,
): Promise<boolean> {
  if (!subresource && !kind.verbs.includes(verb)) return Promise.resolve(false);
  if (!name && granted.has(grantOf(kind, verb, subresource))) return Promise.resolve(true);
  const key = `${verb} ${kind.resource} ${name ?? ''} ${subresource ?? ''}`;
  const known = answers.get(key);
  if (known) return known;
  const asked = ask({ group: kind.group, resource: kind.resource, subresource, verb, name });
  answers.set(key, asked);
  return asked;
}

async function ask(attributes: ResourceAttributes): Promise<boolean> {
  const access = await reviewAccess(attributes);
  if (!access) return true;
  return access.allowed || (attributes.verb !== 'list' && Boolean(access.denied));
}

/** Returns whether the caller may do this; false until it is known. */
export function useIsAllowed(
  kind: Kind,
  verb: string,
  name?: string,
  subresource?: string,
): boolean {
  const [allowed, set] = useState(false);
  useEffect(() => {
    let isCurrent = true;
    set(false);
    void isAllowed(kind, verb, name, subresource).then((answer) => {
      if (isCurrent) set(answer);
    });
    return () => {
      isCurrent = false;
    };
  }, [kind, verb, name, subresource]);
  return allowed;
}

/** Returns the kind of this name. */
export const kindOf = (kinds: readonly Kind[], name: string): Kind | undefined =>
  kinds.find(({ kind }) => kind === name);

/** Returns the words of a kind's name: Policy decision. */
export function singularOf({ kind }: Pick<Kind, 'kind'>): string {
  const words = kind.replace(/(?<=[a-z0-9])(?=[A-Z])/g, ' ');
  return words.slice(0, 1) + words.slice(1).toLowerCase();
}

/** Returns the words of a resource's name, with the kind's capitals: Policy decisions. */
export function pluralOf({ kind, resource }: Pick<Kind, 'kind' | 'resource'>): string {
  const lower = kind.toLowerCase();
  let same = 0;
  while (same < lower.length && lower[same] === resource[same]) same += 1;
  return singularOf({ kind: kind.slice(0, same) + resource.slice(same) });
}
