import type { Action, ActionBody } from '../../registry/action.js';
import { clone, EncodedObject } from '../../registry/encoded-object.js';
import type { Awaitable, Call, CreateActionBody, KindObject, Ports } from '../../registry/kind.js';
import type { NetworkLimits } from '../../registry/limits/network-limits.js';
import type { LimitOf } from '../../registry/limits/rate-limit.js';
import { updatesBy } from '../../registry/managedfields/update.js';
import { isRecord } from '../../registry/schema/is-record.js';
import { namespacedName } from '../../registry/schema/namespaced-name.js';
import { badRequest, invalid, notFound } from '../../registry/status/status.js';
import { finalizersOf } from '../../registry/store/lifecycle/finalizers.js';
import type { Registry } from '../../registry/store/registry.js';
import { schemasIn } from '../../registry/store/registry-view.js';
import type { Store } from '../../registry/store/store.js';
import { viewLike } from '../../registry/versions/kind-view.js';
import type { Authorization } from '../chain/authorization.js';
import { wireObject } from '../codec/object-encoding.js';
import { emptyQuery, versionOf } from '../codec/query.js';
import {
  actionPatchTypes,
  isApply,
  jsonType,
  requireBodyType,
  requireObject,
} from '../http/body.js';
import { isBrowser, isNavigation } from '../http/headers.js';
import type {
  ApiRequest,
  ApiResponse,
  AuthorizedRequest,
  FoundRequest,
  ObjectRequest,
  ResourceRequest,
} from '../http/message.js';
import { pageRedirect } from '../http/page-redirect.js';
import type { Encoder } from '../http/response.js';
import { type ResourceRequestInfo, statusOf } from '../request/request-info.js';
import { Applier } from './apply.js';
import { applyBody, draftOf } from './apply-body.js';
import { BodyReader, type SpendBudget } from './body-reader.js';
import { callOf } from './call.js';
import { deleteCollection } from './delete-collection.js';
import { checkPreconditions, deleted, readDeleteOptions } from './delete-options.js';
import {
  checkUnknownFields,
  hiddenCharacters,
  isDryRun,
  requireKind,
  unknownMembers,
} from './field-validation.js';
import { managerOf } from './managed-fields.js';
import { waitUntilFresh } from './resource-version.js';

/** The dependencies of the handlers. */
export interface HandlerDependencies {
  store: Store;
  registry: Registry;
  authorization: Authorization;
  encoder: Encoder;
  limits: NetworkLimits;
  spendBudget?: SpendBudget;
  ports(req: ApiRequest, res: ApiResponse): Ports;
}

const empty = Buffer.alloc(0);

/** The handlers of the verbs; requests are authorized by now. */
export class Handlers {
  readonly #parts: HandlerDependencies;

  readonly #bodies: BodyReader;
  readonly #applier: Applier;

  constructor(parts: HandlerDependencies) {
    this.#parts = parts;
    this.#bodies = new BodyReader(() => this.#bodyLimit, parts.spendBudget);
    this.#applier = new Applier(parts.registry, parts.authorization, this.#bodies);
  }

  get #bodyLimit(): number {
    return this.#parts.store.settings.limits.requestBodySize;
  }

  get(req: FoundRequest, res: ApiResponse): Awaitable<void> {
    const { requestInfo, target } = req.authorized;
    if (requestInfo.query !== emptyQuery && requestInfo.query.get('resourceVersion')) {
      return this.#getFresh(req, res);
    }
    return this.#sendObject(req, res, target);
  }

  /**
   * Reads and authorizes the object again when the store has reached the requested resourceVersion:
   * 400, 504 (docs/design/kubernetes.md#lists).
   */
  async #getFresh(req: FoundRequest, res: ApiResponse): Promise<void> {
    const { authorized } = req;
    const { requestInfo } = authorized;
    const version = versionOf(requestInfo.query, () =>
      badRequest('resourceVersion must be a decimal number'),
    );
    if (version === undefined) return this.#sendObject(req, res, authorized.target);
    await waitUntilFresh(this.#parts.store, version);
    const target = await this.#parts.store.stored(requestInfo.kind, namespacedName(requestInfo));
    const prepared = target && (await this.#parts.authorization.loadFor(authorized, [target]));
    if (!target || !this.#parts.authorization.canSee(prepared ?? authorized, target)) {
      throw notFound(requestInfo.kind, requestInfo.name);
    }
    return this.#sendObject(req, res, target);
  }

  #sendObject(req: ObjectRequest, res: ApiResponse, target: EncodedObject): Awaitable<void> {
    const { requestInfo, caller } = req.authorized;
    if (requestInfo.kind.heldBy && isNavigation(req)) {
      return this.#parts.encoder.send(req, res, 303, empty, pageRedirect(requestInfo.name));
    }
    if (!requestInfo.representation.isWhole) {
      return this.#parts.encoder.send(
        req,
        res,
        200,
        requestInfo.representation.singleObject(target, { caller, now: Date.now() }, true),
      );
    }
    if (!requestInfo.kind.strategy.decorate && !requestInfo.kind.strategy.status) {
      return this.#parts.encoder.send(req, res, 200, target.wire(undefined, requestInfo.view));
    }
    return this.#respond(req, res, 200, target.parse(), this.#call(req, res));
  }

  async create(req: ResourceRequest, res: ApiResponse): Promise<void> {
    const { requestInfo } = req.authorized;
    const createAction = requestInfo.kind.create;
    if (createAction && !createAction.dryRun && requestInfo.query.has('dryRun')) {
      throw badRequest('dryRun is not supported for this resource');
    }
    await this.#spendLimit(createAction?.limit, req);
    const body = await this.#readCreate(req, res);
    const call = this.#call(req, res, isDryRun(requestInfo));
    const object = createAction
      ? await createAction.run(call, this.#createBody(requestInfo, body))
      : await call.change((tx) =>
          tx.create(
            requestInfo.kind,
            draftOf(requestInfo.view, clone(body), requestInfo.namespace),
          ),
        );
    const response = requestInfo.kind.strategy.status ? clone(object) : object;
    requestInfo.kind.strategy.status?.(response, call);
    this.#parts.encoder.json(req, res, 201, wireObject(requestInfo.view, response));
  }

  /** Returns the validated body of a create action. */
  #createBody(requestInfo: ResourceRequestInfo, body: Record<string, unknown>): CreateActionBody {
    const { kind, view, namespace } = requestInfo;
    const { spec, metadata } = draftOf(view, body, namespace);
    const causes = this.#parts.registry.schemas(kind).createSpec.check(spec, 'spec');
    if (causes.length > 0) throw invalid(kind, '', causes);
    return { spec, metadata };
  }

  async update(req: ObjectRequest, res: ApiResponse): Promise<void> {
    await this.#write(req, res);
  }
  async patch(req: ObjectRequest, res: ApiResponse): Promise<void> {
    if (!isApply(req)) return this.#write(req, res);
    const { requestInfo } = req.authorized;
    await this.#spendLimit(requestInfo.kind.changeLimit, req);
    const { code, object, call } = await this.#applier.apply(req, () =>
      this.#call(req, res, isDryRun(requestInfo)),
    );
    await this.#respond(req, res, code, object, call);
  }

  /**
   * Counts the request against a limit by client network, if there is one; throws 429 beyond it.
   */
  async #spendLimit(limit: LimitOf | undefined, { network }: ApiRequest): Promise<void> {
    const { limits, store } = this.#parts;
    if (limit) await limits.spend(limit(store.settings.limits), network, Date.now());
  }

  async #write(req: ObjectRequest, res: ApiResponse): Promise<void> {
    const { requestInfo } = req.authorized;
    await this.#spendLimit(requestInfo.kind.changeLimit, req);
    const change = await this.#bodies.readChange(req, requestInfo.kind.bodyLimit);
    const { view } = requestInfo;
    const subresource = statusOf(requestInfo);
    const schemas = schemasIn(this.#parts.registry, view);
    const call = this.#call(req, res, isDryRun(requestInfo));
    const tracker = updatesBy(
      () =>
        managerOf(requestInfo.query.get('fieldManager'), req.headers['user-agent'], isBrowser(req)),
      view.apiVersion,
      subresource,
    );
    const object = await call.change((tx) =>
      tx.update(
        requestInfo.kind,
        namespacedName(requestInfo),
        (next) =>
          checkUnknownFields(
            req,
            res,
            requestInfo,
            requestInfo.name,
            applyBody(view, next, change, schemas, subresource),
          ),
        tracker,
      ),
    );
    await this.#respond(req, res, 200, object, call);
  }

  async delete(req: ObjectRequest, res: ApiResponse): Promise<void> {
    const { requestInfo } = req.authorized;
    const options = await readDeleteOptions(req, res, requestInfo, this.#bodyLimit);
    const call = this.#call(req, res, options.isDryRun);
    const name = namespacedName(requestInfo);
    const old = await call.change(async (tx) => {
      const target = await tx.get(requestInfo.kind, name);
      if (!target) throw notFound(requestInfo.kind, requestInfo.name);
      checkPreconditions(requestInfo, options, target);
      return (await tx.delete(requestInfo.kind, name, options.propagationPolicy)) ?? target;
    });
    if (requestInfo.kind.strategy.beginDelete) {
      const left = call.dryRun
        ? old
        : (await this.#parts.store.stored(requestInfo.kind, name))?.parse();
      return this.#respond(req, res, 200, left ?? deleted(old, call.now), call);
    }
    if (requestInfo.kind.allowsFinalizers && finalizersOf(old).length > 0) {
      return this.#respond(req, res, 200, old, call);
    }
    const { uid } = old.metadata;
    this.#parts.encoder.json(req, res, 200, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: {
        name: requestInfo.name,
        group: requestInfo.kind.group,
        kind: requestInfo.kind.resource,
        uid,
      },
      code: 200,
    });
  }

  /** Deletes the selected objects that the caller may delete; returns them as a List. */
  async deletecollection(req: ResourceRequest, res: ApiResponse): Promise<void> {
    const { requestInfo } = req.authorized;
    const options = await readDeleteOptions(req, res, requestInfo, this.#bodyLimit);
    const answer = await deleteCollection(req, options, this.#parts, (authorized) =>
      this.#call(req, res, options.isDryRun, authorized),
    );
    this.#parts.encoder.json(req, res, 200, answer);
  }

  /**
   * POST, GET or PATCH on `<resource>/<name>/<subresource>`: network limit, decode, validate, run.
   */
  async action(action: Action, req: FoundRequest, res: ApiResponse): Promise<void> {
    const { requestInfo, target } = req.authorized;
    if (requestInfo.query.has('dryRun')) {
      throw badRequest('dryRun is not supported for subresources');
    }
    await this.#spendLimit(action.limit, req);
    const call = this.#call(req, res);
    const body =
      action.verb === 'get' ? { spec: {}, apply() {} } : await this.#actionBody(action, req, res);
    const result = (await action.run(call, target.object, body)) as KindObject;
    const kind = action.answers ?? action.of;
    if ('schema' in kind) {
      const isOurs = 'apiVersion' in result && result.apiVersion === action.of.apiVersion;
      const { apiVersion } = requestInfo.view;
      const answer = isOurs ? { ...result, apiVersion } : result;
      return this.#parts.encoder.json(req, res, action.code, answer);
    }
    await this.#respond(req, res, action.code, result, call, kind);
  }

  async #actionBody(
    action: Action,
    req: ObjectRequest,
    res: ApiResponse,
  ): Promise<ActionBody<unknown>> {
    const { requestInfo } = req.authorized;
    const max = action.bodyLimit ?? requestInfo.kind.bodyLimit;
    const answers = action.answers && 'resource' in action.answers ? action.answers : action.of;
    if (action.verb === 'patch') {
      const change = await this.#bodies.readChange(req, max, actionPatchTypes);
      if (change.mode !== 'json') {
        requireKind(change.body, { ...requestInfo.view, kind: action.kind });
      }
      const view = viewLike(answers, requestInfo.view);
      const schemas = schemasIn(this.#parts.registry, view);
      return {
        spec: undefined,
        apply: (next) =>
          checkUnknownFields(
            req,
            res,
            requestInfo,
            next.metadata.name,
            applyBody(view, next, change, schemas),
            answers,
          ),
      };
    }
    requireBodyType(req, actionPatchTypes, [jsonType]);
    const body = requireObject(await this.#bodies.readBody(req, max));
    const of = { ...requestInfo.kind, kind: action.kind };
    requireKind(body, { ...requestInfo.view, kind: action.kind });
    const validator = this.#parts.registry.body(action)!;
    checkUnknownFields(
      req,
      res,
      requestInfo,
      requestInfo.name,
      unknownMembers(body, validator.schema),
      of,
    );
    const faults = validator.check(body.spec ?? {}, 'spec');
    const causes = faults.length > 0 ? faults : hiddenCharacters(body.spec, 'spec');
    if (causes.length > 0) throw invalid(of, requestInfo.name, causes);
    return { spec: body.spec ?? {}, apply() {} };
  }

  async #readCreate(req: ResourceRequest, res: ApiResponse): Promise<Record<string, unknown>> {
    const { requestInfo } = req.authorized;
    requireBodyType(req);
    const body = requireObject(await this.#bodies.readBody(req, requestInfo.kind.bodyLimit));
    requireKind(body, { ...requestInfo.view, kind: requestInfo.kind.kind });
    const name =
      isRecord(body.metadata) && typeof body.metadata.name === 'string' ? body.metadata.name : '';
    checkUnknownFields(
      req,
      res,
      requestInfo,
      name,
      unknownMembers(body, schemasIn(this.#parts.registry, requestInfo.view).createSpec),
    );
    return body;
  }

  async #respond(
    req: ResourceRequest,
    res: ApiResponse,
    code: number,
    object: KindObject,
    call: Call,
    kind = req.authorized.requestInfo.kind,
  ): Promise<void> {
    const { status, decorate } = kind.strategy;
    const response = status || decorate ? clone(object) : object;
    status?.(response, call);
    await decorate?.(response, call);
    const view = viewLike(kind, req.authorized.requestInfo.view);
    this.#parts.encoder.json(req, res, code, wireObject(view, response));
  }

  #call(
    req: ResourceRequest,
    res: ApiResponse,
    dryRun = false,
    authorized: AuthorizedRequest = req.authorized,
  ): Call {
    const { store, ports } = this.#parts;
    return callOf(store, req, res, {
      ports: ports(req, res),
      dryRun,
      authorized,
    });
  }
}
