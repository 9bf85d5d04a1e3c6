import type { ApiGroup } from '../../registry/store/api-group.js';
import { isServedBelowApi } from '../../registry/store/registry-view.js';

/** What paths have of a group. */
type GroupVersions = Pick<ApiGroup, 'name' | 'versions'>;

/** The groups of a registry. */
interface Groups {
  readonly groups: readonly GroupVersions[];
  readonly mainGroup: GroupVersions;
}

/** The paths of the API groups. */
export class ApiPaths {
  /**
   * The paths of each version, with the same handlers: two of the first group
   * (docs/design/api.md#versions), one of others; the preferred version of a group first.
   */
  readonly mounts: readonly {
    readonly root: string;
    readonly group: string;
    readonly version: string;
  }[];
  /** The paths of discovery and OpenAPI documents (docs/design/kubernetes.md#documents). */
  readonly documents: ReadonlySet<string>;
  /** The paths of the OpenAPI documents for Kubernetes clients. */
  readonly kubernetesOpenapi: ReadonlySet<string>;
  /**
   * Documents that are also served with a trailing slash, as kube-apiserver does; collections are
   * not (docs/design/wire.md).
   */
  readonly #trailingSlash: ReadonlyMap<string, string>;

  readonly #main: string;

  /** Whether `/metrics` is served. */
  readonly hasMetrics: boolean;

  /** `more` are the names of further documents, which are served below the paths of the first group. */
  constructor(registry: Groups, more: readonly string[] = [], hasMetrics = false) {
    this.hasMetrics = hasMetrics;
    const { groups, mainGroup } = registry;
    this.mounts = groups.flatMap((group) =>
      group.versions.flatMap(({ version }) => {
        const below = isServedBelowApi(registry, group, version) ? [`/api/${version}/`] : [];
        const all = [...below, `/apis/${group.name}/${version}/`];
        return all.map((root) => ({ root, group: group.name, version }));
      }),
    );
    this.#main = mainGroup.name;
    const roots = [
      '/api',
      '/api/v1',
      '/apis',
      ...groups.map(({ name }) => `/apis/${name}`),
      ...this.mounts.map(({ root }) => root.slice(0, -1)),
    ];
    this.kubernetesOpenapi = new Set(
      groups.flatMap(({ name, versions }) =>
        versions.map(({ version }) => `/openapi/v3/apis/${name}/${version}`),
      ),
    );
    this.documents = new Set([
      ...roots,
      '/api/openapi/v3',
      '/openapi/v3',
      ...this.kubernetesOpenapi,
      '/openapi/v2',
      '/version',
      ...more.flatMap((name) => this.pathsOf(name)),
    ]);
    this.#trailingSlash = new Map([...roots, '/version'].map((path) => [`${path}/`, path]));
  }

  /** Returns the paths of what has a name below all paths of the first group. */
  pathsOf(name: string): string[] {
    return this.mounts
      .filter(({ group }) => group === this.#main)
      .map(({ root }) => `${root}${name}`);
  }

  /** Returns the path of a document without its trailing slash, and any other path as it is. */
  withoutTrailingSlash(path: string): string {
    return this.#trailingSlash.get(path) ?? path;
  }
}
