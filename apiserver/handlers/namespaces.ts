import type { AnyKind, KindObject } from '../../registry/kind.js';
import type { Limits } from '../../registry/limits/limit-settings.js';
import { notFound } from '../../registry/status/status.js';
import { negotiateRepresentation } from '../codec/representation.js';
import { parseSelector } from '../codec/selectors.js';
import type { ApiResponse, PermittedRequest } from '../http/message.js';
import type { Encoder } from '../http/response.js';
import {
  isNamespace,
  type NonResourceRequestInfo,
  namespacesPath,
  type ResourceRequestInfo,
} from '../request/request-info.js';
import type { Watcher } from './watch/watch.js';
import { parseWatchOptions } from './watch/watch-options.js';

/** The one namespace that is listed, which never changes. */
const namespace = {
  kind: 'Namespace',
  apiVersion: 'v1',
  metadata: {
    name: 'default',
    uid: '00000000-0000-4000-8000-000000000000',
    resourceVersion: '1',
    creationTimestamp: null,
    labels: { 'kubernetes.io/metadata.name': 'default' },
  },
  spec: {},
  status: { phase: 'Active' },
} as unknown as KindObject;

/** What selectors and options need to know of namespaces. */
const kind = {
  kind: 'Namespace',
  resource: 'namespaces',
  group: '',
  selectableFields: {},
  unique: {},
} as unknown as AnyKind;

/**
 * Serves the namespaces of Kubernetes' core group: `default`, which programs look for before they use
 * kinds without a namespace, and with namespaced kinds any that is asked for, because kubectl blames the
 * namespace for each absent object (docs/design/kubernetes.md#discovery).
 */
export class Namespaces {
  readonly #encoder: Encoder;
  readonly #watcher: Watcher;
  readonly #limits: Limits;
  readonly #hasAny: boolean;

  constructor(encoder: Encoder, watcher: Watcher, limits: Limits, kinds: readonly AnyKind[]) {
    this.#encoder = encoder;
    this.#watcher = watcher;
    this.#limits = limits;
    this.#hasAny = kinds.some(({ scope }) => scope === 'Namespaced');
  }

  respond(req: PermittedRequest<NonResourceRequestInfo>, res: ApiResponse): void | Promise<void> {
    const { path, query, isWatch } = req.authorized.requestInfo;
    negotiateRepresentation(req.headers.accept, 'other', query, undefined);
    const name = path.slice(namespacesPath.length + 1) || undefined;
    if (isWatch) return this.#watch(req, res, name);
    if (name === namespace.metadata.name) return this.#encoder.json(req, res, 200, namespace);
    if (name !== undefined) {
      if (!this.#hasAny || !isNamespace(name)) throw notFound(kind, name);
      return this.#encoder.json(req, res, 200, { ...namespace, metadata: { name } });
    }
    const isSelected = parseSelector(query, kind).matches(namespace);
    this.#encoder.json(req, res, 200, {
      kind: 'NamespaceList',
      apiVersion: 'v1',
      metadata: { resourceVersion: namespace.metadata.resourceVersion },
      items: isSelected ? [namespace] : [],
    });
  }

  #watch(req: PermittedRequest, res: ApiResponse, name: string | undefined): Promise<void> {
    const { query } = req.authorized.requestInfo;
    const requestInfo = { query, kind, view: {} } as ResourceRequestInfo;
    const options = parseWatchOptions(requestInfo, name, this.#limits.watchTimeout);
    const { initial, selector, bookmarks, timeoutMs } = options;
    const isSelected =
      (selector.name ?? namespace.metadata.name) === namespace.metadata.name &&
      selector.matches(namespace);
    const events: object[] = [];
    if (initial !== 'none' && isSelected) events.push({ type: 'ADDED', object: namespace });
    if (initial === 'list' && bookmarks) events.push({ type: 'BOOKMARK', object: bookmark });
    return this.#watcher.idle(req, res, events, timeoutMs);
  }
}

/** The end of the initial events. */
const bookmark = {
  kind: 'Namespace',
  apiVersion: 'v1',
  metadata: {
    resourceVersion: namespace.metadata.resourceVersion,
    annotations: { 'k8s.io/initial-events-end': 'true' },
  },
};
