import type { NextFunction } from 'express';
import type { Awaitable } from '../registry/kind.js';
import { noSuchPath } from '../registry/status/status.js';
import type { Keys } from '../security/keyring.js';
import type { ApiDescription } from './discovery/api-description.js';
import { Documents } from './discovery/documents.js';
import { Events } from './handlers/events.js';
import { type HandlerDependencies, Handlers } from './handlers/handlers.js';
import { Lister } from './handlers/list.js';
import { Namespaces } from './handlers/namespaces.js';
import { SelfSubjectReviews } from './handlers/self-subject-reviews.js';
import type { Watcher } from './handlers/watch/watch.js';
import { type ApiRequest, type ApiResponse, createApp } from './http/message.js';
import type { ApiPaths } from './request/api-paths.js';
import { namespacesPath, type ResourceRequestInfo, reviewPaths } from './request/request-info.js';

/** What the API needs. */
interface ApiDependencies extends HandlerDependencies {
  keys: Keys;
  watcher: Watcher;
  paths: ApiPaths;
  release: string;
  description: ApiDescription;
}

type Handler = (req: ApiRequest, res: ApiResponse) => Awaitable<void>;

/** The handlers behind the request chain. */
export interface Api {
  /** Serves the objects of the kinds and their events: the chain has parsed the path. */
  resource: Handler;
  /** Serves documents, namespaces and reviews through Express. */
  route(req: ApiRequest, res: ApiResponse, next: (error?: unknown) => void): void;
}

/** Creates the handlers of the kinds, and the Express application: one route for each other path. */
export function createApi(parts: ApiDependencies): Api {
  const app = createApp();
  const handlers = new Handlers(parts);
  const lister = new Lister(parts.store, parts.authorization, parts.encoder, parts.keys);
  const events = new Events(parts);
  const verbs: Record<string, Handler> = {
    get: (req, res) => handlers.get(req, res),
    list: (req, res) => lister.list(req, res),
    watch: (req, res) => parts.watcher.watch(req, res),
    create: (req, res) => handlers.create(req, res),
    update: (req, res) => handlers.update(req, res),
    patch: (req, res) => handlers.patch(req, res),
    delete: (req, res) => handlers.delete(req, res),
    deletecollection: (req, res) => handlers.deletecollection(req, res),
  };
  const namespaces = new Namespaces(parts.encoder, parts.watcher, parts.store.settings.limits);
  const resource: Handler = (req, res) => {
    const { action, events: isEvents, verb } = req.authorized!.requestInfo as ResourceRequestInfo;
    if (isEvents) return events.respond(req, res);
    return action ? handlers.action(req, res) : verbs[verb]!(req, res);
  };
  const documents = new Documents(parts, parts.store.settings.component);
  for (const path of parts.paths.documents)
    app.get(path, ((req: ApiRequest, res: ApiResponse) => documents.send(req, res)) as never);
  const watchPath = namespacesPath.replace('/v1/', '/v1/watch/');
  for (const path of [namespacesPath, watchPath].flatMap((one) => [one, `${one}/:name`]))
    app.get(path, ((req: ApiRequest, res: ApiResponse) => namespaces.respond(req, res)) as never);
  const reviews = new SelfSubjectReviews(
    parts.registry,
    parts.paths,
    parts.authorization,
    parts.encoder,
  );
  for (const path of reviewPaths.keys())
    app.post(path, ((req: ApiRequest, res: ApiResponse) => reviews.respond(req, res)) as never);
  app.use((() => {
    throw noSuchPath();
  }) as never);
  return {
    resource,
    route: (req, res, next) => app(req as never, res as never, next as NextFunction),
  };
}
