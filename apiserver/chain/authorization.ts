import {
  refusalMessage,
  type Authorizer,
  type AuthorizationAttributes,
} from '../../registry/authorizer.js';
import type { Awaitable, Caller, Decision } from '../../registry/kind.js';
import {
  badRequest,
  forbidden,
  notFound,
  StatusError,
  unauthorized,
} from '../../registry/status.js';
import type { Store } from '../../registry/store.js';
import type { EncodedObject } from '../../registry/encoded-object.js';
import { isApply } from '../http/body.js';
import type { AuthorizedRequest } from '../http/message.js';
import type { NonResourceRequestInfo, ResourceRequestInfo } from '../request/request-info.js';
import { siteOf } from '../../security/fetch-metadata.js';
import type { Step } from './step.js';
import {
  collectionVerbs,
  actionOf,
  selectorOf,
  noFacts,
  factsOf,
  type AuthorizationRequestContext,
  ObjectAttributes,
  objectAttributes,
} from './authorization-attributes.js';
import { isOwnerLookup, forbiddenError, withDecision } from './authorization-errors.js';

const anonymous: Caller = { type: 'Anonymous' };

/**
 * Loads the object and authorizes the request; 401, 403 and 404 as in docs/design/api.md#refusals.
 */
export class Authorization {
  readonly #store: Store;
  readonly #authorize: Authorizer;

  constructor(store: Store, authorize: Authorizer) {
    this.#store = store;
    this.#authorize = authorize;
  }

  /** Authorizes a request and keeps the decision and the object. */
  readonly step: Step = async (req) => {
    const requestInfo = req.requestInfo!;
    if (requestInfo.type === 'resource')
      req.authorized = await this.authorize(requestInfo, req.caller!, siteOf(req), {
        mayCreate: isApply(req),
      });
    else {
      const authorized = this.authorizeNonResource(requestInfo, siteOf(req));
      req.authorized =
        requestInfo.type === 'review' ? { ...authorized, caller: req.caller! } : authorized;
    }
  };

  /**
   * Authorizes a request for objects, or throws. `site` is the Sec-Fetch-Site of a browser. With
   * `isUnrecorded`, nothing is recorded. With `mayCreate`, a patch of an object that does not exist
   * is authorized as its creation.
   */
  authorize(
    requestInfo: ResourceRequestInfo,
    caller: Caller,
    site?: string,
    { isUnrecorded = false, mayCreate = false } = {},
  ): Awaitable<AuthorizedRequest> {
    return this.#authorizeResource({
      requestInfo,
      caller,
      facts: factsOf(requestInfo, site),
      isUnrecorded,
      mayCreate: mayCreate && !requestInfo.action,
    });
  }

  /** Returns whether a request would be authorized, and the reason; nothing is recorded. */
  async canDo(
    requestInfo: ResourceRequestInfo,
    caller: Caller,
    site?: string,
  ): Promise<AccessReviewResult> {
    return reviewResult(() =>
      this.#authorizeResource({
        requestInfo,
        caller,
        facts: factsOf(requestInfo, site),
        isUnrecorded: true,
        assumesExistence: true,
      }),
    );
  }

  /** Returns the same for other requests. */
  canDoNonResource(
    requestInfo: NonResourceRequestInfo,
    site?: string,
  ): Promise<AccessReviewResult> {
    return reviewResult(() => this.authorizeNonResource(requestInfo, site));
  }

  #authorizeResource(context: AuthorizationRequestContext): Awaitable<AuthorizedRequest> {
    const { requestInfo, caller } = context;
    if (requestInfo.name === '~') requestInfo.name = ownName(requestInfo, caller);
    if (requestInfo.name === undefined) return this.#authorizeCollection(context);
    if (
      requestInfo.kind.boundToCookie &&
      !(caller.type === 'Browser' && caller.interaction === requestInfo.name) &&
      requestInfo.verb !== 'list'
    )
      throw notFound(requestInfo.kind, requestInfo.name);
    return (
      this.#authorizeCached(context) ??
      this.#store
        .stored(requestInfo.kind, requestInfo.name)
        .then(
          (target) =>
            (target ? undefined : this.#authorizeCreation(context)) ??
            this.#authorizeObject(context, target),
        )
    );
  }

  /**
   * Authorizes the creation by an apply. A caller who may not create learns no more than for any
   * other request for an absent object.
   */
  #authorizeCreation(context: AuthorizationRequestContext): AuthorizedRequest | undefined {
    const { requestInfo, caller, facts } = context;
    const { kind } = requestInfo;
    if (!context.mayCreate || !kind.verbs.includes('create') || kind.nameSource === 'service')
      return undefined;
    const create = { ...context, requestInfo: { ...requestInfo, verb: 'create' as const } };
    const decision = this.#decide(create, {}, 'allowed');
    return decision.allowed
      ? { requestInfo, caller, facts, decision, createsObject: true }
      : undefined;
  }

  /**
   * Authorizes a change with the cached object. The commit proves that object; if it has changed,
   * the request is authorized again.
   */
  #authorizeCached(context: AuthorizationRequestContext): AuthorizedRequest | undefined {
    const { requestInfo, isUnrecorded, assumesExistence } = context;
    if (
      (requestInfo.verb !== 'update' && requestInfo.verb !== 'patch') ||
      requestInfo.action ||
      isUnrecorded ||
      assumesExistence ||
      requestInfo.query.has('dryRun')
    )
      return undefined;
    const target = this.#store.lastKnown(requestInfo.kind, requestInfo.name!);
    const decision = target && this.#decideObject(context, target);
    return decision?.allowed
      ? { ...this.#authorizedRequest(context, target, decision), fromCache: true }
      : undefined;
  }

  #authorizedRequest(
    context: AuthorizationRequestContext,
    target: EncodedObject | undefined,
    decision: Decision,
  ): AuthorizedRequest {
    const { requestInfo, caller, facts } = context;
    if (!target) return { requestInfo, caller, facts, decision };
    const reauthorize = (current: EncodedObject | undefined): Decision =>
      this.#authorizeObject(context, current).decision;
    return { requestInfo, caller, facts, decision, target, reauthorize };
  }

  /** Authorizes other requests, for any caller. */
  authorizeNonResource(requestInfo: NonResourceRequestInfo, site?: string): AuthorizedRequest {
    const action = requestInfo.type === 'review' ? 'discovery' : requestInfo.type;
    const decision = this.#authorize({
      caller: anonymous,
      action,
      facts: { path: requestInfo.path, ...(site !== undefined && { site }) },
    });
    if (!decision.allowed) throw withDecision(forbidden(refusalMessage(decision)), decision);
    return { requestInfo, caller: anonymous, decision };
  }

  /** Returns whether the caller may see one object of a list or watch. */
  canSee(authorized: AuthorizedRequest, stored: EncodedObject): boolean {
    return this.#authorize(objectAttributes(authorized, stored, 'never')).allowed;
  }

  /**
   * Returns whether the caller may see every object of the collection. If unknown, each object is
   * asked for.
   */
  canSeeAll({ requestInfo, caller, facts = noFacts }: AuthorizedRequest): boolean {
    const { kind } = requestInfo as ResourceRequestInfo;
    return this.#authorize({
      caller,
      action: actionOf(requestInfo as ResourceRequestInfo),
      kind,
      facts,
      every: true,
      record: 'never',
    }).allowed;
  }

  /** Authorizes the deletion of one object of a collection. */
  decide(authorized: AuthorizedRequest, stored: EncodedObject): Decision {
    return this.#authorize(objectAttributes(authorized, stored, 'allowed'));
  }

  /** Decides about the requested object, or about its absence. */
  #decideObject(context: AuthorizationRequestContext, target: EncodedObject | undefined): Decision {
    return this.#authorize(
      new ObjectAttributes(
        context,
        target,
        context.requestInfo.name!,
        'allowed',
      ) as AuthorizationAttributes,
    );
  }

  #authorizeObject(
    context: AuthorizationRequestContext,
    target: EncodedObject | undefined,
  ): AuthorizedRequest {
    const { requestInfo } = context;
    const decision = this.#decideObject(context, target);
    if (!decision.allowed) throw this.#refusalError(context, target);
    if (
      !target &&
      !context.assumesExistence &&
      (requestInfo.verb !== 'watch' || requestInfo.kind.boundToCookie)
    )
      throw notFound(requestInfo.kind, requestInfo.name!);
    return this.#authorizedRequest(context, target, decision);
  }

  /**
   * Authorizes a collection: the whole kind, else the caller's own range; deletecollection the
   * other way round.
   */
  #authorizeCollection(context: AuthorizationRequestContext): AuthorizedRequest {
    const { requestInfo, caller } = context;
    const { kind, verb } = requestInfo;
    const selector = collectionVerbs.has(verb) ? selectorOf(requestInfo) : undefined;
    if (selector?.name !== undefined && verb !== 'deletecollection')
      return this.#authorizeNamed(context, selector.name, selector.owner);
    const ownAccount = kind.owner && caller.type === 'Account' ? caller.account : undefined;
    if (verb === 'deletecollection' && kind.owner)
      return this.#authorizeRange(context, selector?.owner ?? ownAccount);
    if (selector?.owner !== undefined) return this.#authorizeRange(context, selector.owner);
    const kindDecision = this.#decide(context, {}, 'allowed');
    if (kindDecision.allowed) return { ...context, decision: kindDecision };
    const hasRange = collectionVerbs.has(verb) || (context.assumesExistence && verb !== 'create');
    if (ownAccount === undefined || !hasRange)
      throw forbiddenError(requestInfo, caller, this.#decide(context));
    return this.#authorizeRange(context, ownAccount);
  }

  #authorizeRange(
    context: AuthorizationRequestContext,
    owner: string | undefined,
  ): AuthorizedRequest {
    const { requestInfo, caller } = context;
    if (caller.type === 'Anonymous') throw unauthorized();
    if (owner === undefined)
      throw badRequest(`name the owner: fieldSelector=${requestInfo.kind.owner}=<account>`);
    const decision = this.#decide(context, { owner });
    if (!decision.allowed) throw forbiddenError(requestInfo, caller, decision);
    return { ...context, decision, owner };
  }

  /** Authorizes a list or watch of one name like a request for that name. */
  #authorizeNamed(
    context: AuthorizationRequestContext,
    name: string,
    owner: string | undefined,
  ): AuthorizedRequest {
    const { requestInfo, caller } = context;
    const decision = this.#decide(context, { name }, 'allowed');
    const ownerRange = owner === undefined ? {} : { owner };
    if (decision.allowed) return { ...context, decision, ...ownerRange };
    const whole = this.#decide(context, {}, 'allowed');
    if (whole.allowed || (requestInfo.kind.owner && caller.type === 'Account'))
      return { ...context, decision: whole, ...ownerRange };
    throw forbiddenError(requestInfo, caller, this.#decide(context, { name }));
  }

  /** Asks about a collection, one owner's range, or one name in it. */
  #decide(
    { requestInfo, caller, facts, isUnrecorded }: AuthorizationRequestContext,
    scope: Pick<AuthorizationAttributes, 'owner' | 'name'> = {},
    record?: 'allowed',
  ): Decision {
    const recorded = isUnrecorded ? 'never' : record;
    return this.#authorize({
      caller,
      action: actionOf(requestInfo),
      kind: requestInfo.kind,
      facts,
      ...scope,
      ...(recorded && { record: recorded }),
    });
  }

  /**
   * Returns the recorded refusal, 401, 403 or 404. The record of a caller that may not know the
   * object does not reveal it either.
   */
  #refusalError(context: AuthorizationRequestContext, target: EncodedObject | undefined): Error {
    const { requestInfo, caller } = context;
    const record = (visible: EncodedObject | undefined): Decision =>
      this.#authorize(
        new ObjectAttributes(context, visible, requestInfo.name!) as AuthorizationAttributes,
      );
    if (caller.type === 'Anonymous') return withDecision(unauthorized(), record(undefined));
    const readContext: AuthorizationRequestContext = {
      ...context,
      requestInfo: {
        type: 'resource',
        kind: requestInfo.kind,
        verb: 'get',
        name: requestInfo.name!,
        query: requestInfo.query,
        representation: requestInfo.representation,
      },
    };
    const canRead =
      target &&
      this.#authorize(
        new ObjectAttributes(
          readContext,
          target,
          requestInfo.name!,
          'never',
        ) as AuthorizationAttributes,
      ).allowed;
    const decision = record(canRead ? target : undefined);
    return canRead || isOwnerLookup(context)
      ? forbiddenError(requestInfo, caller, decision)
      : withDecision(notFound(requestInfo.kind, requestInfo.name!), decision);
  }
}

/** The result of an access review. */
export interface AccessReviewResult {
  readonly allowed: boolean;
  /** A rule forbids it; otherwise no rule permits it. */
  readonly denied?: true;
  readonly reason?: string;
}

/** The reasons of a refusal that no rule of the policy's text determined. */
const withoutRule: ReadonlySet<string | undefined> = new Set([undefined, 'default', 'error']);

async function reviewResult(
  authorize: () => Awaitable<AuthorizedRequest>,
): Promise<AccessReviewResult> {
  try {
    await authorize();
    return { allowed: true };
  } catch (error) {
    if (error instanceof StatusError && error.code < 500)
      return {
        allowed: false,
        ...(!withoutRule.has(error.decision?.reasons[0]?.rule) && { denied: true }),
        reason: error.message,
      };
    throw error;
  }
}

function ownName({ kind }: ResourceRequestInfo, caller: Caller): string {
  if (caller.type !== 'Account') throw unauthorized();
  const name = kind.resource === 'sessions' ? caller.session : caller.account;
  if (name === undefined) throw unauthorized();
  return name;
}
