import {
  refusalMessage,
  type Authorizer,
  type AuthorizationAttributes,
} from '../../registry/authorizer.js';
import type { Caller, Decision } from '../../registry/kind.js';
import {
  badRequest,
  forbidden,
  notFound,
  StatusError,
  unauthorized,
} from '../../registry/status.js';
import type { Store } from '../../registry/store.js';
import type { EncodedObject } from '../../registry/encoded-object.js';
import type { AuthorizedRequest } from '../http/message.js';
import type { NonResourceRequestInfo, ResourceRequestInfo } from '../request/request-info.js';
import { siteOf } from '../../security/fetch-metadata.js';
import type { Step } from './step.js';
import {
  collective,
  actionOf,
  selectorOf,
  noFacts,
  factsOf,
  type AuthorizationRequestContext,
  ObjectAttributes,
  objectAttributes,
} from './authorization-attributes.js';
import { sweeps, refused, because } from './authorization-errors.js';

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
      req.authorized = await this.authorize(requestInfo, req.caller!, siteOf(req));
    else {
      const authorized = this.authorizeNonResource(requestInfo, siteOf(req));
      req.authorized =
        requestInfo.type === 'review' ? { ...authorized, caller: req.caller! } : authorized;
    }
  };

  /**
   * Authorizes a request for objects, or throws. `site` is the Sec-Fetch-Site of a browser. With
   * `quiet`, nothing is recorded.
   */
  authorize(
    requestInfo: ResourceRequestInfo,
    caller: Caller,
    site?: string,
    quiet = false,
  ): Promise<AuthorizedRequest> {
    return this.#admit({ requestInfo, caller, facts: factsOf(requestInfo, site), quiet });
  }

  /** Returns whether a request would be authorized, and the reason; nothing is recorded. */
  async canDo(
    requestInfo: ResourceRequestInfo,
    caller: Caller,
    site?: string,
  ): Promise<AccessReviewResult> {
    return answerOf(() =>
      this.#admit({
        requestInfo,
        caller,
        facts: factsOf(requestInfo, site),
        quiet: true,
        supposed: true,
      }),
    );
  }

  /** Returns the same for other requests. */
  canDoNonResource(
    requestInfo: NonResourceRequestInfo,
    site?: string,
  ): Promise<AccessReviewResult> {
    return answerOf(() => this.authorizeNonResource(requestInfo, site));
  }

  async #admit(asking: AuthorizationRequestContext): Promise<AuthorizedRequest> {
    const { requestInfo, caller } = asking;
    if (requestInfo.name === '~') requestInfo.name = mine(requestInfo, caller);
    if (requestInfo.name === undefined) return this.#collection(asking);
    if (
      requestInfo.kind.boundToCookie &&
      !(caller.type === 'Browser' && caller.interaction === requestInfo.name) &&
      requestInfo.verb !== 'list'
    )
      throw notFound(requestInfo.kind, requestInfo.name);
    const held = this.#store.peek(requestInfo.kind, requestInfo.name);
    if (held) return this.#object(asking, held.stored);
    return (
      this.#fromCache(asking) ??
      this.#object(asking, await this.#store.stored(requestInfo.kind, requestInfo.name))
    );
  }

  /**
   * Authorizes a change with the cached object. The commit proves that object; if it has changed,
   * the request is authorized again.
   */
  #fromCache(asking: AuthorizationRequestContext): AuthorizedRequest | undefined {
    const { requestInfo, quiet, supposed } = asking;
    if (
      (requestInfo.verb !== 'update' && requestInfo.verb !== 'patch') ||
      requestInfo.action ||
      quiet ||
      supposed ||
      requestInfo.query.has('dryRun')
    )
      return undefined;
    const target = this.#store.cachedExisting(requestInfo.kind, requestInfo.name!);
    const decision =
      target &&
      this.#authorize(
        new ObjectAttributes(
          asking,
          target,
          requestInfo.name!,
          'allowed',
        ) as AuthorizationAttributes,
      );
    return decision?.allowed
      ? { ...this.#permitted(asking, target, decision), fromCache: true }
      : undefined;
  }

  #permitted(
    asking: AuthorizationRequestContext,
    target: EncodedObject | undefined,
    decision: Decision,
  ): AuthorizedRequest {
    const { requestInfo, caller, facts } = asking;
    if (!target) return { requestInfo, caller, facts, decision };
    const reauthorize = (now: EncodedObject | undefined): Decision =>
      this.#object(asking, now).decision;
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
    if (!decision.allowed) throw because(forbidden(refusalMessage(decision)), decision);
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

  #object(
    asking: AuthorizationRequestContext,
    target: EncodedObject | undefined,
  ): AuthorizedRequest {
    const { requestInfo } = asking;
    const decision = this.#authorize(
      new ObjectAttributes(asking, target, requestInfo.name!, 'allowed') as AuthorizationAttributes,
    );
    if (!decision.allowed) throw this.#refusal(asking, target);
    if (
      !target &&
      !asking.supposed &&
      (requestInfo.verb !== 'watch' || requestInfo.kind.boundToCookie)
    )
      throw notFound(requestInfo.kind, requestInfo.name!);
    return this.#permitted(asking, target, decision);
  }

  /**
   * Authorizes a collection: the whole kind, else the caller's own range; deletecollection the
   * other way round.
   */
  #collection(asking: AuthorizationRequestContext): AuthorizedRequest {
    const { requestInfo, caller } = asking;
    const { kind, verb } = requestInfo;
    const selector = collective.has(verb) ? selectorOf(requestInfo) : undefined;
    if (selector?.name !== undefined && verb !== 'deletecollection')
      return this.#pinned(asking, selector.name, selector.owner);
    const own = kind.owner && caller.type === 'Account' ? caller.account : undefined;
    if (verb === 'deletecollection' && kind.owner)
      return this.#range(asking, selector?.owner ?? own);
    if (selector?.owner !== undefined) return this.#range(asking, selector.owner);
    const whole = this.#ask(asking, {}, 'allowed');
    if (whole.allowed) return { ...asking, decision: whole };
    const ranges = collective.has(verb) || (asking.supposed && verb !== 'create');
    if (own === undefined || !ranges) throw refused(requestInfo, caller, this.#ask(asking));
    return this.#range(asking, own);
  }

  #range(asking: AuthorizationRequestContext, owner: string | undefined): AuthorizedRequest {
    const { requestInfo, caller } = asking;
    if (caller.type === 'Anonymous') throw unauthorized();
    if (owner === undefined)
      throw badRequest(`name the owner: fieldSelector=${requestInfo.kind.owner}=<account>`);
    const decision = this.#ask(asking, { owner });
    if (!decision.allowed) throw refused(requestInfo, caller, decision);
    return { ...asking, decision, owner };
  }

  /** Authorizes a list or watch of one name like a request for that name. */
  #pinned(
    asking: AuthorizationRequestContext,
    name: string,
    owner: string | undefined,
  ): AuthorizedRequest {
    const { requestInfo, caller } = asking;
    const decision = this.#ask(asking, { name }, 'allowed');
    const within = owner === undefined ? {} : { owner };
    if (decision.allowed) return { ...asking, decision, ...within };
    const whole = this.#ask(asking, {}, 'allowed');
    if (whole.allowed || (requestInfo.kind.owner && caller.type === 'Account'))
      return { ...asking, decision: whole, ...within };
    throw refused(requestInfo, caller, this.#ask(asking, { name }));
  }

  /** Asks about a collection, one owner's range, or one name in it. */
  #ask(
    { requestInfo, caller, facts, quiet }: AuthorizationRequestContext,
    where: Pick<AuthorizationAttributes, 'owner' | 'name'> = {},
    record?: 'allowed',
  ): Decision {
    const recorded = quiet ? 'never' : record;
    return this.#authorize({
      caller,
      action: actionOf(requestInfo),
      kind: requestInfo.kind,
      facts,
      ...where,
      ...(recorded && { record: recorded }),
    });
  }

  /**
   * Returns the recorded refusal, 401, 403 or 404. The record of a caller that may not know the
   * object does not reveal it either.
   */
  #refusal(asking: AuthorizationRequestContext, target: EncodedObject | undefined): Error {
    const { requestInfo, caller } = asking;
    const record = (known: EncodedObject | undefined): Decision =>
      this.#authorize(
        new ObjectAttributes(asking, known, requestInfo.name!) as AuthorizationAttributes,
      );
    if (caller.type === 'Anonymous') return because(unauthorized(), record(undefined));
    const reading: AuthorizationRequestContext = {
      ...asking,
      requestInfo: {
        type: 'resource',
        kind: requestInfo.kind,
        verb: 'get',
        name: requestInfo.name!,
        query: requestInfo.query,
        view: requestInfo.view,
      },
    };
    const seen =
      target &&
      this.#authorize(
        new ObjectAttributes(
          reading,
          target,
          requestInfo.name!,
          'never',
        ) as AuthorizationAttributes,
      ).allowed;
    const decision = record(seen ? target : undefined);
    return seen || sweeps(asking)
      ? refused(requestInfo, caller, decision)
      : because(notFound(requestInfo.kind, requestInfo.name!), decision);
  }
}

/** The result of an access review. */
export interface AccessReviewResult {
  readonly allowed: boolean;
  readonly reason?: string;
}

async function answerOf(
  admit: () => AuthorizedRequest | Promise<AuthorizedRequest>,
): Promise<AccessReviewResult> {
  try {
    await admit();
    return { allowed: true };
  } catch (error) {
    if (error instanceof StatusError && error.code < 500)
      return { allowed: false, reason: error.message };
    throw error;
  }
}

function mine({ kind }: ResourceRequestInfo, caller: Caller): string {
  if (caller.type !== 'Account') throw unauthorized();
  const name = kind.resource === 'sessions' ? caller.session : caller.account;
  if (name === undefined) throw unauthorized();
  return name;
}
