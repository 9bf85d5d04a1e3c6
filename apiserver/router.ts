import type { NextFunction, RequestHandler } from 'express';
import type { Awaitable, Verb } from '../registry/kind.js';
import { noSuchPath } from '../registry/status/status.js';
import type { Registry } from '../registry/store/registry.js';
import type { KindView } from '../registry/versions/kind-view.js';
import type { Keys } from '../security/keyring.js';
import type { ApiDescription } from './discovery/api-description.js';
import { Documents } from './discovery/documents.js';
import { Events } from './handlers/events.js';
import { type HandlerDependencies, Handlers } from './handlers/handlers.js';
import { Lister } from './handlers/list.js';
import { Namespaces } from './handlers/namespaces.js';
import { SelfSubjectReviews } from './handlers/self-subject-reviews.js';
import type { Watcher } from './handlers/watch/watch.js';
import { createApp } from './http/express-app.js';
import type {
  ApiRequest,
  ApiResponse,
  FoundRequest,
  ObjectRequest,
  PermittedRequest,
  ResourceRequest,
} from './http/message.js';
import { warningHeader } from './http/warning.js';
import type { ApiPaths } from './request/api-paths.js';
import {
  type NonResourceRequestInfo,
  namespacesPath,
  reviewPaths,
} from './request/request-info.js';

/** What the API needs. */
interface ApiDependencies extends HandlerDependencies {
  keys: Keys;
  watcher: Watcher;
  paths: ApiPaths;
  release: string;
  description: ApiDescription;
}

type Handler<Request extends ApiRequest> = (req: Request, res: ApiResponse) => Awaitable<void>;

/** A request that Express routes by its path. */
type PathRequest = PermittedRequest<NonResourceRequestInfo>;

/** Says in a Warning which version to use instead of a deprecated one, as kube-apiserver does. */
function warnOfVersion({ apiVersion, kind }: KindView, registry: Registry, res: ApiResponse): void {
  const { apiVersion: preferred } = registry.groupOf(kind);
  const text = `${apiVersion} ${kind.kind} is deprecated; use ${preferred} ${kind.kind}`;
  res.appendHeader('Warning', warningHeader(text));
}

/** The handlers behind the request chain. */
export interface Api {
  /** Serves the objects of the kinds and their events: the chain has parsed the path. */
  resource: Handler<ResourceRequest>;
  /** Serves documents, namespaces and reviews through Express. */
  route(req: ApiRequest, res: ApiResponse, next: (error?: unknown) => void): void;
}

/** Creates the handlers of the kinds, and the Express application: one route for each other path. */
export function createApi(parts: ApiDependencies): Api {
  const app = createApp();
  const handlers = new Handlers(parts);
  const lister = new Lister(parts.store, parts.authorization, parts.encoder, parts.keys);
  const events = new Events(parts);
  // The path of the last four names an object, and a GET or an action was authorized for one found.
  const verbs: Record<Verb, Handler<ResourceRequest>> = {
    list: (req, res) => lister.list(req, res),
    watch: (req, res) => parts.watcher.watch(req, res),
    create: (req, res) => handlers.create(req, res),
    deletecollection: (req, res) => handlers.deletecollection(req, res),
    get: (req, res) => handlers.get(req as FoundRequest, res),
    update: (req, res) => handlers.update(req as ObjectRequest, res),
    patch: (req, res) => handlers.patch(req as ObjectRequest, res),
    delete: (req, res) => handlers.delete(req as ObjectRequest, res),
  };
  const { encoder, watcher, store, registry } = parts;
  const namespaces = new Namespaces(encoder, watcher, store.settings.limits, registry.kinds);
  const resource: Handler<ResourceRequest> = (req, res) => {
    const { action, events: query, verb, view } = req.authorized.requestInfo;
    if (view.deprecated) warnOfVersion(view, parts.registry, res);
    if (query) return events.respond(query, req, res);
    return action ? handlers.action(action, req as FoundRequest, res) : verbs[verb](req, res);
  };
  const routeOf = (handler: Handler<PathRequest>): RequestHandler => handler as never;
  const documents = new Documents(parts, parts.store.settings.component);
  for (const path of parts.paths.documents) {
    app.get(
      path,
      routeOf((req, res) => documents.send(req, res)),
    );
  }
  const watchPath = namespacesPath.replace('/v1/', '/v1/watch/');
  for (const path of [namespacesPath, watchPath].flatMap((one) => [one, `${one}/:name`])) {
    app.get(
      path,
      routeOf((req, res) => namespaces.respond(req, res)),
    );
  }
  const reviews = new SelfSubjectReviews(
    parts.registry,
    parts.paths,
    parts.authorization,
    parts.encoder,
  );
  for (const path of reviewPaths.keys()) {
    app.post(
      path,
      routeOf((req, res) => reviews.respond(req, res)),
    );
  }
  app.use(() => {
    throw noSuchPath();
  });
  return {
    resource,
    route: (req, res, next) => app(req as never, res as never, next as NextFunction),
  };
}
