import { nearest } from '../../../../registry/schema/nearest-name.js';
import { CommandError, KubectlStyleError } from '../../terminal/errors.js';
import type { ApiClient } from './api-client.js';

/** A resource type from the service's discovery. */
export interface Resource {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
}

/** Aggregated discovery, an APIGroupDiscoveryList (docs/design/kubernetes.md#discovery). */
const acceptHeader = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

interface DiscoveredResource {
  readonly resource: string;
  readonly responseKind: {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  };
  readonly scope: string;
  readonly singularResource: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** Returns every resource of the service, in the preferred version of its group, sorted by name. */
export async function discover(service: ApiClient): Promise<Resource[]> {
  const groups = [...(await groupsAt(service, '/api')), ...(await groupsAt(service, '/apis'))];
  return groups
    .flatMap(({ metadata: { name: group = '' }, versions: [preferred] }) =>
      (preferred?.resources ?? []).map((resource) => ({
        plural: resource.resource,
        singular: resource.singularResource,
        kind: resource.responseKind.kind,
        group,
        version: preferred!.version,
        verbs: resource.verbs,
        shortNames: resource.shortNames ?? [],
        categories: resource.categories ?? [],
        namespaced: resource.scope === 'Namespaced',
      })),
    )
    .sort((a, b) =>
      a.group === b.group ? compare(a.plural, b.plural) : compare(a.group, b.group),
    );
}

interface DiscoveredGroup {
  /** Without a name it is the core group. */
  readonly metadata: { readonly name?: string };
  readonly versions: readonly {
    readonly version: string;
    readonly resources: readonly DiscoveredResource[];
  }[];
}

async function groupsAt(
  service: ApiClient,
  path: '/api' | '/apis',
): Promise<readonly DiscoveredGroup[]> {
  const { kind, items } = await service.request<{
    kind: string;
    items: readonly DiscoveredGroup[];
  }>('GET', path, { accept: acceptHeader });
  if (kind !== 'APIGroupDiscoveryList') {
    throw new CommandError(`${service.server} does not serve API discovery`);
  }
  return items;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/**
 * Returns the resources for a name: one by its plural, singular, kind or short name, with or
 * without group, or all of a category.
 */
export function findResources(resources: readonly Resource[], word: string): Resource[] {
  const [name, ...rest] = word.toLowerCase().split('.');
  const suffix = rest.join('.');
  const resource = resources.find(
    ({ plural, singular, kind, shortNames, group, version }) =>
      [plural, singular, kind.toLowerCase(), ...shortNames].includes(name!) &&
      ['', group, `${version}.${group}`].includes(suffix),
  );
  const found = resource
    ? [resource]
    : resources.filter(({ categories }) => categories.includes(word));
  if (found.length === 0) {
    throw new KubectlStyleError(
      `error: the server doesn't have a resource type "${word}"${suggestion(resources, name!)}`,
    );
  }
  return found;
}

/**
 * Returns a type as kubectl writes it before an object's name, such as `group.id.vestibule.org`.
 */
export const typeName = ({ kind, group }: Pick<Resource, 'kind' | 'group'>): string =>
  `${kind.toLowerCase()}${group && `.${group}`}`;

/** Returns the path of a collection, or of one object. */
export const resourcePath = ({ group, version, plural }: Resource, name?: string): string =>
  `${group ? `/apis/${group}` : '/api'}/${version}/${plural}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;

function suggestion(resources: readonly Resource[], word: string): string {
  const nearestName = nearest(
    word,
    resources.flatMap(({ plural, singular }) => [plural, singular]),
  );
  return nearestName === undefined ? '' : `\nDid you mean "${nearestName}"?`;
}
