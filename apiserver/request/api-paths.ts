import type { Registry } from '../../registry/store/registry.js';

/** The paths of one API group. */
export class ApiPaths {
  /**
   * The two paths of the API in each version, with the same handlers (docs/design/api.md#versions),
   * the preferred version first.
   */
  readonly mounts: readonly { readonly root: string; readonly version: string }[];
  /** The paths of discovery and OpenAPI documents (docs/design/kubernetes.md#documents). */
  readonly documents: ReadonlySet<string>;
  /** The paths of the OpenAPI documents for Kubernetes clients. */
  readonly kubernetesOpenapi: ReadonlySet<string>;
  /**
   * Documents that are also served with a trailing slash, as kube-apiserver does; collections are
   * not (docs/design/wire.md).
   */
  readonly #trailingSlash: ReadonlyMap<string, string>;

  /** Whether `/metrics` is served. */
  readonly hasMetrics: boolean;

  /** `more` are the names of further documents, which are served below all paths of the API. */
  constructor(
    { group, versions }: Pick<Registry, 'group' | 'versions'>,
    more: readonly string[] = [],
    hasMetrics = false,
  ) {
    this.hasMetrics = hasMetrics;
    const roots = [
      '/api',
      '/api/v1',
      '/apis',
      `/apis/${group}`,
      ...versions.flatMap(({ version }) => [`/api/${version}`, `/apis/${group}/${version}`]),
    ];
    this.mounts = versions.flatMap(({ version }) =>
      [`/api/${version}/`, `/apis/${group}/${version}/`].map((root) => ({ root, version })),
    );
    this.kubernetesOpenapi = new Set(
      versions.map(({ version }) => `/openapi/v3/apis/${group}/${version}`),
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

  /** Returns the paths of what has a name below all paths of the API. */
  pathsOf(name: string): string[] {
    return this.mounts.map(({ root }) => `${root}${name}`);
  }

  /** Returns the path of a document without its trailing slash, and any other path as it is. */
  withoutTrailingSlash(path: string): string {
    return this.#trailingSlash.get(path) ?? path;
  }
}
