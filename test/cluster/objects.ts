import type { KubeAPIServer } from '../support/cluster/kubeapiserver.js';
import { type Answer, exchange } from '../support/people/tab.js';
import type { Rendered } from './helm.js';

/** A kind as an API server serves it. */
interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly isNamespaced: boolean;
  readonly canList: boolean;
  readonly isPreferred: boolean;
}

/** Kinds that an API server makes for itself, or reports of others. */
const itsOwn = new Set(['ComponentStatus', 'Event', 'IPAddress', 'Lease']);

/** An object as it is put to an API server. */
export type Put = Pick<Rendered, 'apiVersion' | 'kind' | 'metadata'> & {
  readonly [member: string]: unknown;
};

/** Objects of any kind at an API server, by what it says it serves, as an administrator. */
export class Objects {
  readonly #cluster: KubeAPIServer;
  #resources: readonly Resource[] = [];

  private constructor(cluster: KubeAPIServer) {
    this.#cluster = cluster;
  }

  static async at(cluster: KubeAPIServer): Promise<Objects> {
    const objects = new Objects(cluster);
    await objects.discover();
    return objects;
  }

  /** Asks again what is served. */
  async discover(): Promise<void> {
    const found = await Promise.all(
      ['/api', '/apis'].map(async (path) => {
        const { body } = await this.#ask(
          'GET',
          path,
          undefined,
          'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
        );
        return body.items.flatMap(({ metadata: { name: group = '' }, versions }: any) =>
          versions.flatMap(({ version, resources = [] }: any, i: number) =>
            resources.map(
              ({ resource, responseKind, scope, verbs }: any): Resource => ({
                apiVersion: group === '' ? version : `${group}/${version}`,
                kind: responseKind.kind,
                name: resource,
                isNamespaced: scope === 'Namespaced',
                canList: verbs.includes('list'),
                isPreferred: i === 0,
              }),
            ),
          ),
        );
      }),
    );
    this.#resources = found.flat();
  }

  serves({ apiVersion, kind }: Pick<Rendered, 'apiVersion' | 'kind'>): boolean {
    return this.#resources.some(
      (resource) => resource.apiVersion === apiVersion && resource.kind === kind,
    );
  }

  /** Makes an object, in a namespace where it does not say one; it may be there already. */
  async create(object: Put, namespace?: string): Promise<void> {
    const { code, bytes } = await this.#ask('POST', this.#pathOf(object, namespace), object);
    if (code !== 201 && code !== 409) {
      throw new Error(
        `${object.kind} ${object.metadata.name}: ${code} ${bytes.toString().slice(0, 1_000)}`,
      );
    }
  }

  /**
   * Puts an object to the API server, which reads it strictly and keeps nothing; `taken`, or what
   * it says against it.
   */
  async tries(object: Put, namespace?: string): Promise<string> {
    const { code, body, headers } = await this.#ask(
      'POST',
      `${this.#pathOf(object, namespace)}?dryRun=All&fieldValidation=Strict`,
      object,
    );
    return code === 201 && headers.warning === undefined
      ? 'taken'
      : `${code} ${code === 201 ? headers.warning : body.message}`;
  }

  /** The object of that kind and name, or what is answered in its place. */
  async get(object: Put, namespace?: string): Promise<any> {
    return (await this.#ask('GET', `${this.#pathOf(object, namespace)}/${object.metadata.name}`))
      .body;
  }

  /**
   * Every object there is by kind, namespace and name, except those that an API server keeps for
   * itself.
   */
  async all(): Promise<string[]> {
    const lists = await Promise.all(
      this.#resources
        .filter(({ canList, isPreferred, kind }) => canList && isPreferred && !itsOwn.has(kind))
        .map(async (resource) => {
          const { code, body } = await this.#ask(
            'GET',
            collectionOf(resource),
            undefined,
            'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
          );
          if (code !== 200) throw new Error(`${resource.kind}: ${code} ${body?.message}`);
          return (body.items ?? []).map(({ metadata }: Rendered) =>
            this.nameOf({ ...resource, metadata }),
          );
        }),
    );
    return lists.flat().sort();
  }

  /** An object's kind, namespace and name. */
  nameOf(object: Put, namespace?: string): string {
    return `${object.kind} ${this.#resourceOf(object).isNamespaced ? (object.metadata.namespace ?? namespace) : ''}/${object.metadata.name}`;
  }

  #resourceOf({ apiVersion, kind }: Put): Resource {
    const found = this.#resources.find(
      (resource) => resource.apiVersion === apiVersion && resource.kind === kind,
    );
    if (!found) throw new Error(`${kind} of ${apiVersion} is not served`);
    return found;
  }

  #pathOf(object: Put, namespace?: string): string {
    const resource = this.#resourceOf(object);
    return collectionOf(
      resource,
      resource.isNamespaced ? (object.metadata.namespace ?? namespace) : undefined,
    );
  }

  #ask(method: string, path: string, object?: Put, accept = 'application/json'): Promise<Answer> {
    const headers = {
      authorization: `Bearer ${this.#cluster.token('admin')}`,
      accept,
      ...(object && { 'content-type': 'application/json' }),
    };
    return exchange(this.#cluster.url, method, path, headers, object && JSON.stringify(object), {
      ca: this.#cluster.ca,
    });
  }
}

const collectionOf = ({ apiVersion, name }: Resource, namespace?: string): string =>
  `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}/${namespace === undefined ? '' : `namespaces/${namespace}/`}${name}`;
