import {
  type AuthorizationAttributes,
  type Authorizer,
  loaded as loadedFor,
  type Recorded,
  refusalMessage,
} from '../../registry/authorizer.js';
import { anonymous } from '../../registry/caller.js';
import type { EncodedObject } from '../../registry/encoded-object.js';
import type { Awaitable, Caller, Decision } from '../../registry/kind.js';
import { namespacedName, plainName } from '../../registry/schema/namespaced-name.js';
import { badRequest, forbidden, notFound, unauthorized } from '../../registry/status/status.js';
import type { Store } from '../../registry/store/store.js';
import { isApply } from '../http/body.js';
import type {
  AuthorizedRequest,
  AuthorizedResourceRequest,
  ParsedRequest,
} from '../http/message.js';
import type { NonResourceRequestInfo, ResourceRequestInfo } from '../request/request-info.js';
import { type AccessReviewResult, reviewResult } from './access-review-result.js';
import {
  type AuthorizationRequestContext,
  actionOf,
  collectionVerbs,
  decideFor,
  factsOf,
  isForObject,
  noFacts,
  ObjectAttributes,
  type ObjectRequestContext,
  objectAttributes,
  originFacts,
  originOf,
  ownName,
  type RequestOrigin,
  selectorOf,
} from './authorization-attributes.js';
import { forbiddenError, withDecision } from './authorization-errors.js';
import { loadForObjects, loadForRequest } from './load-entities.js';
import { outcomeOf } from './outcome.js';
import { refusalError } from './refusal-error.js';
import type { Step } from './step.js';

/**
 * Loads the object and authorizes the request; 401, 403 and 404 as in docs/design/api.md#refusals.
 */
export class Authorization {
  readonly #store: Store;
  readonly #authorizer: Authorizer;

  constructor(store: Store, authorizer: Authorizer) {
    this.#store = store;
    this.#authorizer = authorizer;
  }

  /** Authorizes a request and keeps the decision and the object. */
  readonly step: Step<ParsedRequest> = async (req) => {
    const { requestInfo, caller = anonymous } = req;
    if (requestInfo.type === 'resource') {
      req.authorized = await this.authorize(requestInfo, caller, originOf(req), {
        mayCreate: isApply(req),
      });
    } else {
      const authorized = await this.authorizeNonResource(requestInfo, caller, originOf(req));
      req.authorized = requestInfo.type === 'review' ? { ...authorized, caller } : authorized;
    }
  };

  /**
   * Authorizes a request for objects, or throws. With `isUnrecorded`, nothing is recorded. With
   * `mayCreate`, a patch of an object that does not exist is authorized as its creation.
   */
  authorize(
    requestInfo: ResourceRequestInfo,
    caller: Caller,
    origin: RequestOrigin,
    { isUnrecorded = false, mayCreate = false } = {},
  ): Awaitable<AuthorizedResourceRequest> {
    return this.#authorizeResource({
      requestInfo,
      caller,
      facts: factsOf(requestInfo, origin),
      isUnrecorded,
      mayCreate: mayCreate && requestInfo.subresource === undefined,
    });
  }

  /** Returns whether a request would be authorized, and the reason; nothing is recorded. */
  async canDo(
    requestInfo: ResourceRequestInfo,
    caller: Caller,
    origin: RequestOrigin,
  ): Promise<AccessReviewResult> {
    return reviewResult(() =>
      this.#authorizeResource({
        requestInfo,
        caller,
        facts: factsOf(requestInfo, origin),
        isUnrecorded: true,
        assumesExistence: true,
      }),
    );
  }

  /** Returns the same for other requests. */
  canDoNonResource(
    requestInfo: NonResourceRequestInfo,
    caller: Caller,
    origin: RequestOrigin,
  ): Promise<AccessReviewResult> {
    return reviewResult(() => this.authorizeNonResource(requestInfo, caller, origin));
  }

  #authorizeResource(context: AuthorizationRequestContext): Awaitable<AuthorizedResourceRequest> {
    const { requestInfo, caller } = context;
    if (requestInfo.name === '~') requestInfo.name = ownName(requestInfo, caller);
    if (!isForObject(context)) {
      return this.#withEntities(context, undefined, (loaded) => this.#authorizeCollection(loaded));
    }
    const { kind, name, verb } = context.requestInfo;
    if (kind.heldBy && !kind.heldBy(caller, name) && verb !== 'list') throw notFound(kind, name);
    const cached = this.#lastKnown(context);
    if (!cached) return this.#authorizeStored(context);
    return this.#withEntities(context, cached, (loaded) => {
      const authorized = this.#authorizeCached(loaded, cached);
      return authorized ?? this.#authorizeStored(context);
    });
  }

  async #authorizeStored(context: ObjectRequestContext): Promise<AuthorizedResourceRequest> {
    const { requestInfo } = context;
    const target = await this.#store.stored(requestInfo.kind, namespacedName(requestInfo));
    return this.#withEntities(context, target, (loaded) => {
      const creation = target ? undefined : this.#authorizeCreation(loaded);
      return creation ?? this.#authorizeObject(loaded, target);
    });
  }

  /** Runs `next` after the facts that the rules about a request mention are loaded. */
  #withEntities<T, Context extends AuthorizationRequestContext>(
    context: Context,
    target: EncodedObject | undefined,
    next: (context: Context) => Awaitable<T>,
  ): Awaitable<T> {
    const loading = loadForRequest(this.#authorizer, context, target);
    return loading ? loading.then((entities) => next({ ...context, entities })) : next(context);
  }

  /** Loads what the rules mention about objects, into the request; undefined if it is in memory. */
  loadFor(
    authorized: AuthorizedResourceRequest,
    objects: readonly EncodedObject[],
  ): Promise<AuthorizedResourceRequest> | undefined {
    return loadForObjects(this.#authorizer, authorized, objects);
  }

  /**
   * Authorizes the creation by an apply. A caller who may not create learns no more than for any
   * other request for an absent object.
   */
  #authorizeCreation(context: ObjectRequestContext): AuthorizedResourceRequest | undefined {
    const { requestInfo, caller, facts } = context;
    const { kind } = requestInfo;
    if (!context.mayCreate || !kind.verbs.includes('create') || kind.nameSource === 'service') {
      return undefined;
    }
    const create = { ...context, requestInfo: { ...requestInfo, verb: 'create' as const } };
    const decision = this.#decide(create, {}, 'permission');
    if (!decision.allowed) return undefined;
    const { name: _, ...unnamed } = create.requestInfo;
    const outcome = outcomeOf(this.#authorizer, { ...create, requestInfo: unnamed });
    return { requestInfo, caller, facts, decision, ...outcome, createsObject: true };
  }

  /**
   * Authorizes a change with the cached object. The commit proves that object; if it has changed,
   * the request is authorized again.
   */
  #authorizeCached(
    context: ObjectRequestContext,
    target: EncodedObject,
  ): AuthorizedResourceRequest | undefined {
    const decision = this.#decideObject(context, target);
    return decision.allowed
      ? { ...this.#authorizedRequest(context, target, decision), fromCache: true }
      : undefined;
  }

  /** Returns the cached object of a change. */
  #lastKnown(context: ObjectRequestContext): EncodedObject | undefined {
    const { requestInfo, isUnrecorded, assumesExistence } = context;
    if (
      (requestInfo.verb !== 'update' && requestInfo.verb !== 'patch') ||
      requestInfo.action ||
      isUnrecorded ||
      assumesExistence ||
      requestInfo.query.has('dryRun')
    ) {
      return undefined;
    }
    return this.#store.lastKnown(requestInfo.kind, namespacedName(requestInfo));
  }

  #authorizedRequest(
    context: ObjectRequestContext,
    target: EncodedObject | undefined,
    decision: Decision,
  ): AuthorizedResourceRequest {
    const { requestInfo, caller, facts, entities } = context;
    const outcome = outcomeOf(this.#authorizer, context);
    const base = { requestInfo, caller, facts, decision, ...outcome, entities };
    if (!target) return base;
    const reauthorize = async (current: EncodedObject | undefined): Promise<Decision> =>
      (await this.#authorizeCurrent(context, current)).decision;
    return { ...base, target, reauthorize };
  }

  /** Authorizes other requests, for any caller except for metrics. */
  async authorizeNonResource(
    requestInfo: NonResourceRequestInfo,
    caller: Caller,
    origin: RequestOrigin,
  ): Promise<AuthorizedRequest> {
    const action = requestInfo.type === 'review' ? 'discovery' : requestInfo.type;
    const attributes = {
      caller: action === 'metrics' ? caller : anonymous,
      action,
      facts: { path: requestInfo.path, ...originFacts(origin) },
    };
    const decision = this.#authorizer.decide(await loadedFor(this.#authorizer, attributes));
    if (decision.allowed) return { requestInfo, caller: attributes.caller, decision };
    const isUnknown = action === 'metrics' && caller.type === 'Anonymous';
    throw withDecision(isUnknown ? unauthorized() : forbidden(refusalMessage(decision)), decision);
  }

  /** Returns whether the caller may see one object of a list or watch. */
  canSee(authorized: AuthorizedResourceRequest, stored: EncodedObject): boolean {
    return this.#authorizer.decideQuietly(objectAttributes(authorized, stored)).allowed;
  }

  /**
   * Returns whether the caller may see every object of the collection. If unknown, each object is
   * asked for.
   */
  canSeeAll(authorized: AuthorizedResourceRequest): boolean {
    const { requestInfo, caller, facts = noFacts, entities } = authorized;
    const action = actionOf(requestInfo);
    const { kind, verb, namespace } = requestInfo;
    const attributes = { caller, action, verb, kind, namespace, facts, entities, every: true };
    return this.#authorizer.decideQuietly(attributes).allowed;
  }

  /**
   * Authorizes the deletion of one object of a collection; undefined if it is refused. A commit that
   * finds another version authorizes that, and throws 403.
   */
  authorizeOne(
    authorized: AuthorizedResourceRequest,
    stored: EncodedObject,
  ): AuthorizedResourceRequest | undefined {
    const decide = (one: EncodedObject, prepared = authorized): Decision =>
      this.#authorizer.decide(objectAttributes(prepared, one), 'permission');
    const decision = decide(stored);
    if (!decision.allowed) return undefined;
    const { kind } = authorized.requestInfo;
    const reauthorize = async (current: EncodedObject | undefined): Promise<Decision> => {
      const prepared = current && (await this.loadFor(authorized, [current]));
      const now = current ? decide(current, prepared) : decision;
      if (!now.allowed) throw forbidden(refusalMessage(now), kind, plainName(stored.name));
      return now;
    };
    return { ...authorized, decision, target: stored, reauthorize };
  }

  /** Decides about the requested object, or about its absence. */
  #decideObject(context: ObjectRequestContext, target: EncodedObject | undefined): Decision {
    const attributes = new ObjectAttributes(context, target, context.requestInfo.name);
    return decideFor(context, this.#authorizer, attributes, 'permission');
  }

  /** Authorizes a request again for the current object, with the facts of now. */
  #authorizeCurrent(
    context: ObjectRequestContext,
    current: EncodedObject | undefined,
  ): Awaitable<AuthorizedResourceRequest> {
    return this.#withEntities(context, current, (loaded) => this.#authorizeObject(loaded, current));
  }

  #authorizeObject(
    context: ObjectRequestContext,
    target: EncodedObject | undefined,
  ): AuthorizedResourceRequest {
    const { requestInfo } = context;
    const decision = this.#decideObject(context, target);
    if (!decision.allowed) throw refusalError(this.#authorizer, context, target);
    if (
      !target &&
      !context.assumesExistence &&
      (requestInfo.verb !== 'watch' || requestInfo.kind.heldBy)
    ) {
      throw notFound(requestInfo.kind, requestInfo.name);
    }
    return this.#authorizedRequest(context, target, decision);
  }

  /**
   * Authorizes a collection: the whole kind, else the caller's own range; deletecollection the
   * other way round.
   */
  #authorizeCollection(context: AuthorizationRequestContext): AuthorizedResourceRequest {
    const { requestInfo, caller } = context;
    const { kind, verb } = requestInfo;
    const selector = collectionVerbs.has(verb) ? selectorOf(requestInfo) : undefined;
    if (selector?.name !== undefined && verb !== 'deletecollection') {
      return this.#authorizeNamed(context, selector.name, selector.owner);
    }
    const own = kind.owner && caller.owner;
    if (verb === 'deletecollection' && kind.owner) {
      return this.#authorizeRange(context, selector?.owner ?? own);
    }
    if (selector?.owner !== undefined) return this.#authorizeRange(context, selector.owner);
    const kindDecision = this.#decide(context, {}, 'permission');
    if (kindDecision.allowed) {
      return { ...context, decision: kindDecision, ...outcomeOf(this.#authorizer, context) };
    }
    const hasRange = collectionVerbs.has(verb) || (context.assumesExistence && verb !== 'create');
    if (own === undefined || !hasRange) {
      throw forbiddenError(requestInfo, caller, this.#decide(context));
    }
    return this.#authorizeRange(context, own);
  }

  #authorizeRange(
    context: AuthorizationRequestContext,
    owner: string | undefined,
  ): AuthorizedResourceRequest {
    const { requestInfo, caller } = context;
    if (caller.type === 'Anonymous') throw unauthorized();
    if (owner === undefined) {
      throw badRequest(`name the owner: fieldSelector=${requestInfo.kind.owner}=<account>`);
    }
    const decision = this.#decide(context, { owner });
    if (!decision.allowed) throw forbiddenError(requestInfo, caller, decision);
    return { ...context, decision, owner };
  }

  /** Authorizes a list or watch of one name like a request for that name. */
  #authorizeNamed(
    context: AuthorizationRequestContext,
    name: string,
    owner: string | undefined,
  ): AuthorizedResourceRequest {
    const { requestInfo, caller } = context;
    const decision = this.#decide(context, { name }, 'permission');
    const ownerRange = owner === undefined ? {} : { owner };
    if (decision.allowed) return { ...context, decision, ...ownerRange };
    const whole = this.#decide(context, {}, 'permission');
    if (whole.allowed || (requestInfo.kind.owner && caller.owner)) {
      return { ...context, decision: whole, ...ownerRange };
    }
    throw forbiddenError(requestInfo, caller, this.#decide(context, { name }));
  }

  /** Asks about a collection, one owner's range, or one name in it. */
  #decide(
    context: AuthorizationRequestContext,
    scope: Pick<AuthorizationAttributes, 'owner' | 'name'> = {},
    recorded?: Recorded,
  ): Decision {
    const { requestInfo, caller, facts, entities } = context;
    const { kind, verb, namespace, subresource } = requestInfo;
    const action = actionOf(requestInfo);
    const asked = { caller, action, verb, kind, namespace, subresource, facts, entities, ...scope };
    return decideFor(context, this.#authorizer, asked, recorded);
  }
}
