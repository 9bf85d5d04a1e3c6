import type { Registry } from '../../registry/store/registry.js';

/** The paths of one API group and version. */
export class ApiPaths {
  /** The two paths of the API, with the same handlers (docs/design/api.md#versions). */
  readonly mounts: readonly string[];
  /** The paths of discovery and OpenAPI documents (docs/design/kubernetes.md#documents). */
  readonly documents: ReadonlySet<string>;
  /** The path of the OpenAPI document for Kubernetes clients. */
  readonly kubernetesOpenapi: string;
  /**
   * Documents that are also served with a trailing slash, as kube-apiserver does; collections are
   * not (docs/design/wire.md).
   */
  readonly #trailingSlash: ReadonlyMap<string, string>;

  /** `more` are the names of further documents, which are served below both paths of the API. */
  constructor(
    { group, version, apiVersion }: Pick<Registry, 'group' | 'version' | 'apiVersion'>,
    more: readonly string[] = [],
  ) {
    const roots = [
      '/api',
      '/api/v1',
      `/api/${version}`,
      '/apis',
      `/apis/${group}`,
      `/apis/${apiVersion}`,
    ];
    this.mounts = [`/api/${version}/`, `/apis/${apiVersion}/`];
    this.kubernetesOpenapi = `/openapi/v3/apis/${apiVersion}`;
    this.documents = new Set([
      ...roots,
      '/api/openapi/v3',
      '/openapi/v3',
      this.kubernetesOpenapi,
      '/openapi/v2',
      '/version',
      ...more.flatMap((name) => this.pathsOf(name)),
    ]);
    this.#trailingSlash = new Map([...roots, '/version'].map((path) => [`${path}/`, path]));
  }

  /** Returns the paths of what has a name below both paths of the API. */
  pathsOf(name: string): string[] {
    return this.mounts.map((root) => `${root}${name}`);
  }

  /** Returns the path of a document without its trailing slash, and any other path as it is. */
  withoutTrailingSlash(path: string): string {
    return this.#trailingSlash.get(path) ?? path;
  }
}
