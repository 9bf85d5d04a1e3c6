import { buildInfo } from '../../observability/build-info.js';
import type { Action } from '../../registry/action.js';
import type { AnyKind } from '../../registry/kind.js';
import type { ApiGroup } from '../../registry/store/api-group.js';
import type { Registry } from '../../registry/store/registry.js';
import { inVersion, type RegistryView } from '../../registry/store/registry-view.js';
import { statusVerbs } from '../request/verbs.js';

/**
 * Returns the versions served at `/api`: of Kubernetes' core group in `versions`, because its clients
 * take every kind of a version there for one of that group, and ours beside it
 * (docs/design/kubernetes.md#discovery).
 */
export const apiVersions = ({ groups }: Registry) => ({
  kind: 'APIVersions',
  apiVersion: 'v1',
  versions: ['v1'],
  groupVersions: groups.flatMap(({ name, versions }) =>
    versions.map(({ version }) => `${name}/${version}`),
  ),
  serverAddressByClientCIDRs: [],
});

const namespaces = {
  name: 'namespaces',
  singularName: 'namespace',
  namespaced: false,
  kind: 'Namespace',
  verbs: ['get', 'list', 'watch'],
  shortNames: ['ns'],
};
const events = {
  name: 'events',
  singularName: 'event',
  namespaced: true,
  kind: 'Event',
  verbs: ['list', 'watch'],
  shortNames: ['ev'],
};

/** The resources of the core group: namespaces, and events if a kind has them. */
export const coreGroup = ({ eventKind }: Registry) =>
  eventKind ? [namespaces, events] : [namespaces];

/** Returns `/api/v1`: what is served of the core group. */
export const coreResources = (registry: Registry) => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: 'v1',
  resources: coreGroup(registry),
});

function apiGroup({ name, versions }: ApiGroup) {
  const served = versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: served, preferredVersion: served[0]! };
}

/** Returns `/apis/<group>`: the API group. */
export const groupDocument = (group: ApiGroup) => ({
  kind: 'APIGroup',
  apiVersion: 'v1',
  ...apiGroup(group),
});

/** Returns `/apis`: every group. */
export const groupList = (registry: Registry) => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: registry.groups.map(apiGroup),
});

/**
 * Returns every resource with its verbs, main resources before subresources
 * (docs/design/kubernetes.md#discovery).
 */
export function resourceList(registry: RegistryView): unknown {
  const subresources = registry.kinds.flatMap((kind) => subresourcesOf(kind, registry));
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: registry.apiVersion,
    resources: [
      ...registry.kinds.map((kind) => ({
        name: kind.resource,
        singularName: kind.singular,
        namespaced: kind.scope === 'Namespaced',
        kind: kind.kind,
        ...described(kind),
      })),
      ...subresources.map(({ of, subresource, kind, verbs }) => ({
        name: `${of.resource}/${subresource}`,
        singularName: '',
        namespaced: of.scope === 'Namespaced',
        kind,
        verbs,
      })),
    ],
  };
}

/**
 * Returns aggregated discovery of `/apis` in one version, or of `/api`, where Kubernetes clients
 * look for the core group (docs/design/kubernetes.md#discovery).
 */
export function groupDiscovery(
  path: '/api' | '/apis',
  registry: Registry,
  discoveryVersion: string,
): unknown {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${discoveryVersion}`,
    metadata: {},
    items:
      path === '/api'
        ? [discoveredCoreGroup(registry)]
        : registry.groups.map((group) => discoveredGroup(registry, group)),
  };
}

/**
 * The core group: kubectl knows the kind `List` of v1, in which `kubectl get -o yaml` prints several
 * objects, only where v1 is.
 */
const discoveredCoreGroup = (registry: Registry) => ({
  metadata: {},
  versions: [
    {
      version: 'v1',
      resources: coreGroup(registry).map(
        ({ name, kind, namespaced, singularName, verbs, shortNames }) => ({
          resource: name,
          responseKind: { group: '', version: 'v1', kind },
          scope: namespaced ? 'Namespaced' : 'Cluster',
          singularResource: singularName,
          verbs,
          shortNames,
        }),
      ),
      freshness: 'Current',
    },
  ],
});

const discoveredGroup = (registry: Registry, group: ApiGroup) => ({
  metadata: { name: group.name },
  versions: group.versions.map(({ version }) =>
    discoveredVersion(inVersion(registry, version, group)),
  ),
});

function discoveredVersion(registry: RegistryView) {
  const { group, version } = registry;
  const responseKind = (kind: string) => ({ group, version, kind });
  const resources = registry.kinds.map((kind) => {
    const subresources = subresourcesOf(kind, registry).map((subresource) => ({
      subresource: subresource.subresource,
      responseKind: responseKind(subresource.kind),
      verbs: subresource.verbs,
    }));
    return {
      resource: kind.resource,
      responseKind: responseKind(kind.kind),
      scope: kind.scope,
      singularResource: kind.singular,
      ...described(kind),
      ...(subresources.length > 0 && { subresources }),
    };
  });
  return { version, resources, freshness: 'Current' };
}

const described = ({ verbs, shortNames, categories }: AnyKind) => ({
  verbs: [...verbs].sort(),
  ...(shortNames.length > 0 && { shortNames }),
  ...(categories.length > 0 && { categories }),
});

/** Returns each subresource of a kind once, with the kind of its request body. */
function subresourcesOf(kind: AnyKind, registry: RegistryView) {
  const byName = new Map<string, Action[]>();
  for (const action of registry.actions) {
    if (action.of === kind) {
      byName.set(action.subresource, [...(byName.get(action.subresource) ?? []), action]);
    }
  }
  const status = { of: kind, subresource: 'status', kind: kind.kind, verbs: statusVerbs };
  return [
    ...(kind.hasStatusSubresource ? [status] : []),
    ...[...byName].map(([subresource, actions]) => ({
      of: kind,
      subresource,
      kind: actions[0]!.kind,
      verbs: actions.map(({ verb }) => verb).sort(),
    })),
  ];
}

/** Returns `/version`, in the format of Kubernetes. */
export const versionInfo = (component: string, release: string) => ({
  major: '1',
  minor: '33',
  gitVersion: `v1.33.0+${component}.${release}`,
  gitCommit: buildInfo.commit,
  gitTreeState: buildInfo.treeState,
  buildDate: buildInfo.date,
  goVersion: 'none',
  compiler: `node ${process.version}`,
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
});
