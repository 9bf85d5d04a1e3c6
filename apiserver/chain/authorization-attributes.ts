import type {
  AuthorizationAttributes,
  Authorizer,
  LoadedEntities,
  Recorded,
} from '../../registry/authorizer.js';
import type { EncodedObject } from '../../registry/encoded-object.js';
import type { AnyKind, Caller, Decision, KindObject, Verb } from '../../registry/kind.js';
import { namespaceOf, plainName } from '../../registry/schema/namespaced-name.js';
import { unauthorized } from '../../registry/status/status.js';
import { siteOf } from '../../security/fetch-metadata.js';
import { parseSelector, type Selector } from '../codec/selectors.js';
import type { ApiRequest, AuthorizedResourceRequest } from '../http/message.js';
import type { ObjectRequestInfo, ResourceRequestInfo } from '../request/request-info.js';

export const collectionVerbs = new Set(['list', 'watch', 'deletecollection']);

/** Returns the action name: the verb, or `<resource>/<subresource>`. */
export const actionOf = ({ kind, verb, action }: ResourceRequestInfo): string =>
  action ? `${kind.resource}/${action.subresource}` : verb;

/**
 * Returns the selector of a request; undefined if it is malformed, which is an error for authorized
 * callers only.
 */
export function selectorOf({ query, kind, view }: ResourceRequestInfo): Selector | undefined {
  try {
    return parseSelector(query, kind, view.names);
  } catch {
    return undefined;
  }
}

export type Facts = Readonly<Record<string, unknown>>;

export const noFacts = Object.freeze({});

/**
 * Where a request comes from: the value of Sec-Fetch-Site, if known, the client's network and program,
 * and its Audit-ID.
 */
export interface RequestOrigin {
  readonly site?: string | undefined;
  readonly network?: string | undefined;
  readonly auditID?: string;
  readonly userAgent?: string;
}

/** Returns the program that sent a request, by its User-Agent header; empty without one. */
export const userAgentOf = (req: ApiRequest): string =>
  String(req.headers['user-agent'] ?? '').slice(0, 512);

/** Returns where a request comes from. */
export const originOf = (req: ApiRequest): RequestOrigin => ({
  site: siteOf(req),
  network: req.network,
  auditID: req.auditID,
  userAgent: userAgentOf(req),
});

/** Returns the facts about where a request comes from. */
export const originFacts = ({ site, network, auditID, userAgent }: RequestOrigin): Facts => ({
  ...(site && { site }),
  ...(network && { network }),
  ...(auditID && { auditID }),
  ...(userAgent && { userAgent }),
});

/** Returns the facts of a request: where it comes from, and whether it is for metadata only. */
export const factsOf = ({ representation }: ResourceRequestInfo, origin: RequestOrigin): Facts => ({
  ...originFacts(origin),
  ...(representation.metadataOnly && { metadataOnly: true }),
});

/** The inputs of the authorization of a request for objects. */
export interface AuthorizationRequestContext<
  Info extends ResourceRequestInfo = ResourceRequestInfo,
> {
  readonly requestInfo: Info;
  readonly caller: Caller;
  readonly facts: Facts;
  /** Whether the decision is not recorded, for a re-check or an access review. */
  readonly isUnrecorded?: boolean;
  /** Whether an absent object is authorized as if it existed, for an access review. */
  readonly assumesExistence?: boolean;
  /** Whether an apply creates the object if it is absent. */
  readonly mayCreate?: boolean;
  readonly entities?: LoadedEntities | undefined;
}

/** The inputs of the authorization of a request for one object. */
export type ObjectRequestContext = AuthorizationRequestContext<ObjectRequestInfo>;

/** Reports whether a request is for one object. */
export const isForObject = (
  context: AuthorizationRequestContext,
): context is ObjectRequestContext => context.requestInfo.name !== undefined;

/** Authorization attributes of one object, which is decoded only if a rule reads it. */
export class ObjectAttributes implements AuthorizationAttributes {
  readonly caller: Caller;
  readonly action: string;
  readonly verb: Verb;
  readonly kind: AnyKind;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly subresource: string | undefined;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly entities: LoadedEntities | undefined;
  readonly #target: EncodedObject | undefined;

  /** `name` is that of the request, or as `namespacedName` has it. */
  constructor(
    { requestInfo, caller, facts, entities }: AuthorizationRequestContext,
    target: EncodedObject | undefined,
    name: string,
  ) {
    this.caller = caller;
    this.action = actionOf(requestInfo);
    this.verb = requestInfo.verb;
    this.kind = requestInfo.kind;
    this.name = plainName(name);
    this.namespace = namespaceOf(name) ?? requestInfo.namespace;
    this.subresource = requestInfo.subresource;
    this.facts = facts;
    this.entities = entities;
    this.#target = target;
  }

  get object(): KindObject | undefined {
    return this.#target?.object;
  }
}

/** Returns the attributes of one object of a collection. */
export const objectAttributes = (
  { requestInfo, caller, facts = noFacts, entities }: AuthorizedResourceRequest,
  stored: EncodedObject,
): AuthorizationAttributes =>
  new ObjectAttributes({ requestInfo, caller, facts, entities }, stored, stored.name);

/** Decides about a request, and records it unless the request is a re-check or an access review. */
export const decideFor = (
  { isUnrecorded }: AuthorizationRequestContext,
  authorizer: Authorizer,
  attributes: AuthorizationAttributes,
  recorded?: Recorded,
): Decision =>
  isUnrecorded ? authorizer.decideQuietly(attributes) : authorizer.decide(attributes, recorded);

/** Returns the name that `~` means for the caller; throws 401 without one. */
export function ownName({ kind }: ResourceRequestInfo, caller: Caller): string {
  const name = kind.ownName?.(caller);
  if (name === undefined) throw unauthorized();
  return name;
}
