import type { IncomingMessage } from 'node:http';
import type { Action } from '../../registry/action.js';
import type { AnyKind, KindObject, Verb } from '../../registry/kind.js';
import {
  badRequest,
  methodNotAllowed,
  noSuchPath,
  notFound,
} from '../../registry/status/status.js';
import type { Registry } from '../../registry/store/registry.js';
import { hubOf, type KindView, viewIn } from '../../registry/versions/kind-view.js';
import { emptyQuery, isWatch, parseQuery, type Query } from '../codec/query.js';
import { negotiateRepresentation, type Representation } from '../codec/representation.js';
import type { ApiPaths } from './api-paths.js';
import { endpointMethods } from './provider-paths.js';
import { allowed, methodOf, statusVerbs, verbOf, withHead } from './verbs.js';

/** A parsed request for objects, shared by policy, router, audit log and handlers. */
export interface ResourceRequestInfo {
  readonly type: 'resource';
  readonly kind: AnyKind;
  /** The kind as the version of the path has it: of the request's body and of its answer. */
  readonly view: KindView;
  readonly verb: Verb;
  /** As in the path; `~` until the caller is known. */
  name?: string;
  /** As in the path; absent for a kind without namespaces, and for a list or watch of all. */
  readonly namespace?: string;
  readonly action?: Action;
  /** The last part of the path: an action's, or `status` of a kind that serves it. */
  readonly subresource?: string;
  /** The representation of objects. */
  readonly representation: Representation;
  readonly query: Query;
  /** Present on a list or watch of events: the whole query, with the selectors of events. */
  readonly events?: Query;
  /** Whether a watch of events sends an object. */
  readonly isSelected?: (object: KindObject) => boolean;
}

/** Returns `status` for a request of a status subresource, which writes nothing else. */
export const statusOf = ({ action, subresource }: ResourceRequestInfo): 'status' | undefined =>
  !action && subresource === 'status' ? subresource : undefined;

/** A parsed request for one object; `namespacedName` returns the name for the store. */
export interface ObjectRequestInfo extends ResourceRequestInfo {
  name: string;
}

/** A parsed request for anything else; `type` is the policy's name for it. */
export interface NonResourceRequestInfo {
  readonly type: 'discovery' | 'review' | 'health' | 'metrics' | 'page' | 'asset' | 'provider';
  readonly path: string;
  readonly query: Query;
  /** Whether it is a watch of the namespaces. */
  readonly isWatch?: boolean;
}

export type RequestInfo = ResourceRequestInfo | NonResourceRequestInfo;

/** Reports whether a request is a watch, whose response has no bounds of time. */
export const isWatchRequest = (requestInfo: RequestInfo): boolean =>
  requestInfo.type === 'resource' ? requestInfo.verb === 'watch' : requestInfo.isWatch === true;

/** Reports whether a text can be the name of an object. */
const isName = (text: string): boolean => text.length <= 253 && apiName.test(text);

const apiName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** The paths of access reviews and their kinds (docs/design/kubernetes.md#reviews). */
export const reviewPaths: ReadonlyMap<string, string> = new Map([
  ['/apis/authentication.k8s.io/v1/selfsubjectreviews', 'SelfSubjectReview'],
  ['/apis/authentication.k8s.io/v1beta1/selfsubjectreviews', 'SelfSubjectReview'],
  ['/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', 'SelfSubjectAccessReview'],
  ['/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', 'SelfSubjectRulesReview'],
]);
/** The paths of health checks. */
export const healthPath = /^\/(livez|readyz|healthz)(\/[a-z0-9-]+)?$/;
const pagePath =
  /^\/(interaction\/[a-z2-7]{32}|account|policy|console(\/[\w\-.~]+){0,3}|mailbox|recovery|invitation|\.well-known\/passkey-endpoints)?$/;

/** The namespace in which Kubernetes' clients look for what has none, and the list that has it. */
export const namespacesPath = '/api/v1/namespaces';
const namespacePath = /^\/api\/v1\/namespaces(\/[a-z0-9.-]{1,253})?$/;

/** The older form of a watch of the core group. */
const coreWatch = /^\/api\/v1\/watch\/(?=(events|namespaces(\/[a-z0-9.-]{1,253})?(\/events)?)$)/;

const withWatch = (query: Query): Query => new Map([...query, ['watch', 'true']]);

/** The paths at which kubectl looks for events (docs/design/kubernetes.md#events). */
const eventsPaths = ['/api/v1/events', '/api/v1/namespaces/default/events'];

/** What a request is parsed from. */
interface RequestLine extends Pick<IncomingMessage, 'headers'> {
  readonly method: string;
  readonly url: string;
}

/** Parses method and target; 400, 404, 405 or 406. */
export function parseRequest(
  request: RequestLine,
  registry: Registry,
  paths: ApiPaths,
): RequestInfo {
  const target = request.url;
  if (!target.startsWith('/')) throw badRequest('the request target must be a path');
  const queryStart = target.indexOf('?');
  const rawPath = queryStart < 0 ? target : target.slice(0, queryStart);
  const askedPath = paths.withoutTrailingSlash(
    rawPath.includes('%') ? rawPath.replaceAll(/%7e/gi, '~') : rawPath,
  );
  checkPath(askedPath);
  const path = askedPath.replace(coreWatch, '/api/v1/');
  const askedQuery = queryStart < 0 ? emptyQuery : parseQuery(target.slice(queryStart + 1));
  const query = path === askedPath ? askedQuery : withWatch(askedQuery);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  if (request.method === 'HEAD' && isWatch(query)) throw badRequest('a watch has no HEAD');
  const mount = paths.documents.has(path)
    ? undefined
    : paths.mounts.find(({ root }) => path.startsWith(root));
  if (mount) {
    const rest = path.slice(mount.root.length);
    const { accept } = request.headers;
    const { group, version } = mount;
    return parseResource(method, rest, query, { registry, group, version, accept });
  }
  const eventKind = eventsPaths.includes(path) && registry.eventKind;
  if (eventKind) return parseEvents(method, eventKind, query, request.headers.accept);
  const type = otherType(path, method, request, paths);
  return {
    type,
    path,
    query,
    ...(namespacePath.test(path) && isWatch(query) && { isWatch: true }),
  };
}

/** Refuses an escaped path: 400 if malformed, else 404, because no path needs escapes. */
function checkPath(path: string): void {
  if (/^[\w\-.~/]*$/.test(path)) return;
  if (/%(?![0-9A-Fa-f]{2})/.test(path)) throw badRequest('the path has a broken escape');
  if (!/^[\x21-\x7e]*$/.test(path) || path.includes('%') || path.includes('\\')) throw noSuchPath();
}

function otherType(
  path: string,
  method: string,
  request: RequestLine,
  paths: ApiPaths,
): NonResourceRequestInfo['type'] {
  const methods = endpointMethods(path);
  if (methods) return checkProviderMethod(method, methods, request);
  if (reviewPaths.has(path)) return checkReviewMethod(method);
  const type = typeOfPath(path, paths);
  if (!type) throw noSuchPath();
  if (method !== 'GET') throw methodNotAllowed(method.toLowerCase(), undefined, ['GET', 'HEAD']);
  return type;
}

/** Returns the policy's name of a path; undefined for others. */
export function typeOfPath(
  path: string,
  { documents, hasMetrics }: ApiPaths,
): NonResourceRequestInfo['type'] | undefined {
  if (documents.has(path) || namespacePath.test(path)) return 'discovery';
  if (healthPath.test(path)) return 'health';
  if (hasMetrics && path === '/metrics') return 'metrics';
  if (pagePath.test(path)) return 'page';
  return path.startsWith('/assets/') ? 'asset' : undefined;
}

function checkReviewMethod(method: string): 'review' {
  if (method !== 'POST') throw methodNotAllowed(method.toLowerCase(), undefined, ['POST']);
  return 'review';
}

/**
 * Refuses a method that a provider endpoint does not take (405); OPTIONS only as a CORS preflight.
 */
function checkProviderMethod(
  method: string,
  methods: readonly string[],
  { headers }: RequestLine,
): 'provider' {
  if (
    !methods.includes(method) ||
    (method === 'OPTIONS' && headers['access-control-request-method'] === undefined)
  ) {
    throw methodNotAllowed(method.toLowerCase(), undefined, methods);
  }
  return 'provider';
}

/** An older form of a watch (Kubernetes API conventions). */
const watchPrefix = /^watch\/(?!watch\/)/;

/** Where a request for objects goes, and what it accepts. */
interface Addressed {
  readonly registry: Registry;
  readonly group: string;
  readonly version: string;
  readonly accept: string | undefined;
}

/** The part of a path that names a namespace, before a resource in it (Kubernetes API conventions). */
const namespacePrefix = /^namespaces\/([^/]*)\/(.+)$/;
/** A label of RFC 1123. */
const namespaceName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Reports whether a text can be the name of a namespace. */
export const isNamespace = (text: string): boolean => namespaceName.test(text);

/** The verbs of all namespaces at once. */
const acrossNamespaces: readonly string[] = ['list', 'watch'];

/** Throws 404 for a path with a namespace of a kind without, or the other way round; 400 or 405. */
function checkNamespace(kind: AnyKind, namespace: string | undefined, isForObject: boolean): void {
  const isNamespaced = kind.scope === 'Namespaced';
  if (namespace !== undefined ? !isNamespaced : isNamespaced && isForObject) throw noSuchPath();
  if (namespace !== undefined && !isNamespace(namespace)) {
    throw badRequest('the namespace in the path must be a lower case RFC 1123 label');
  }
}

/** Returns the verb of a request for an object or a collection; throws 405 for one that is not served. */
function servedVerb(
  kind: AnyKind,
  method: string,
  query: Query,
  isForObject: boolean,
  namespace: string | undefined,
): Verb {
  const verb = verbOf(method, isForObject, isWatch(query));
  const isOfAll = kind.scope === 'Namespaced' && namespace === undefined;
  const isServed = verb && kind.verbs.includes(verb);
  if (isServed && (!isOfAll || acrossNamespaces.includes(verb))) return verb;
  const methods = isOfAll
    ? withHead(kind.verbs.includes('list') ? ['GET'] : [])
    : allowed(kind, isForObject);
  throw methodNotAllowed(verb ?? method.toLowerCase(), kind, methods);
}

function parseResource(
  method: string,
  rest: string,
  query: Query,
  addressed: Addressed,
): ResourceRequestInfo {
  if (method === 'GET' && watchPrefix.test(rest)) {
    return parseResource(method, rest.replace(watchPrefix, ''), withWatch(query), addressed);
  }
  const { registry, group, version, accept } = addressed;
  const [, namespace, below = rest] = namespacePrefix.exec(rest) ?? [];
  const [resource = '', name, subresource, ...more] = below.split('/');
  const kind = registry.kindOf(resource, group);
  if (!kind || more.length > 0 || name === '' || subresource === '') throw noSuchPath();
  if (name !== undefined && name !== '~' && !isName(name)) throw notFound(kind, name);
  if (name === '~' && !kind.ownName) {
    throw notFound(kind, name);
  }
  checkNamespace(kind, namespace, name !== undefined);
  const inNamespace = namespace !== undefined && { namespace };
  if (subresource === 'status' && kind.hasStatusSubresource) {
    return { ...parseStatus(method, kind, name!, query, addressed), ...inNamespace };
  }
  if (subresource !== undefined) {
    return { ...parseAction(method, kind, name!, subresource, query, addressed), ...inNamespace };
  }
  const verb = servedVerb(kind, method, query, name !== undefined, namespace);
  const view = viewIn(kind, version)!;
  return {
    type: 'resource',
    kind,
    view,
    verb,
    ...(name !== undefined && { name }),
    ...inNamespace,
    query,
    representation: negotiateRepresentation(accept, verb, query, view),
  };
}

/** Parses a list or watch of events, which is authorized as that of the kind that has them. */
function parseEvents(
  method: string,
  kind: AnyKind,
  query: Query,
  accept: string | undefined,
): ResourceRequestInfo {
  if (method !== 'GET') throw methodNotAllowed(method.toLowerCase(), undefined, ['GET', 'HEAD']);
  const selectors = ['fieldSelector', 'labelSelector'];
  const isList = !isWatch(query);
  return {
    type: 'resource',
    kind,
    view: hubOf(kind),
    verb: isList ? 'list' : 'watch',
    query: isList
      ? emptyQuery
      : new Map([...query].filter(([parameter]) => !selectors.includes(parameter))),
    representation: negotiateRepresentation(accept, 'events', emptyQuery, hubOf(kind)),
    events: query,
  };
}

function parseStatus(
  method: string,
  kind: AnyKind,
  name: string,
  query: Query,
  { version, accept }: Addressed,
): ResourceRequestInfo {
  const verb = statusVerbs.find((one) => methodOf({ verb: one }) === method);
  if (!verb) {
    const methods = statusVerbs.map((one) => methodOf({ verb: one }));
    throw methodNotAllowed(method.toLowerCase(), kind, withHead(methods));
  }
  const view = viewIn(kind, version)!;
  const representation = negotiateRepresentation(accept, verb, query, view);
  return { type: 'resource', kind, view, verb, name, subresource: 'status', query, representation };
}

function parseAction(
  method: string,
  kind: AnyKind,
  name: string,
  subresource: string,
  query: Query,
  { registry, version, accept }: Addressed,
): ResourceRequestInfo {
  const view = viewIn(kind, version)!;
  const actions = registry.actionsOn(kind, subresource);
  if (actions.length === 0) throw noSuchPath();
  const action = actions.find((action) => methodOf(action) === method);
  if (!action) throw methodNotAllowed(method.toLowerCase(), kind, withHead(actions.map(methodOf)));
  return {
    type: 'resource',
    kind,
    view,
    verb: action.verb,
    name,
    action,
    subresource,
    query,
    representation: negotiateRepresentation(accept, 'action', query, view),
  };
}
