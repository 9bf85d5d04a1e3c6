import { IncomingMessage, ServerResponse } from 'node:http';
import type { LoadedEntities } from '../../registry/authorizer.js';
import type { OutcomeAuthorizer } from '../../registry/call-facts.js';
import type { EncodedObject } from '../../registry/encoded-object.js';
import type { Awaitable, Caller, Decision } from '../../registry/kind.js';
import type { DecisionSummary } from '../../registry/status/status.js';
import type { AssertedHeaders } from '../request/asserted-user.js';
import type {
  ObjectRequestInfo,
  RequestInfo,
  ResourceRequestInfo,
} from '../request/request-info.js';
import type { MemoryGuard } from './memory-guard.js';

/** What was authorized: by default any request. */
export interface AuthorizedRequest<Info extends RequestInfo = RequestInfo> {
  readonly requestInfo: Info;
  readonly caller: Caller;
  readonly decision: Decision;
  /** The requested object at the version that was authorized. */
  readonly target?: EncodedObject;
  /** Whether an apply was authorized to create the object, because it does not exist. */
  readonly createsObject?: boolean;
  /** Whether the target came from a cache, so that only a commit proves it. */
  readonly fromCache?: boolean;
  /** Authorizes the request for the current target; throws if it is refused. */
  readonly reauthorize?: (target: EncodedObject | undefined) => Awaitable<Decision>;
  /** Authorizes a change again for what it makes. */
  readonly outcome?: OutcomeAuthorizer;
  /** Further facts for the policy. */
  readonly facts?: Readonly<Record<string, unknown>>;
  /** The entities that were loaded for the policy. */
  readonly entities?: LoadedEntities | undefined;
  /** The owner whose range limits a list, watch or deletecollection. */
  readonly owner?: string;
}

/** A request for objects of a kind that was authorized. */
export type AuthorizedResourceRequest = AuthorizedRequest<ResourceRequestInfo>;

/**
 * A request as a class, so that V8 knows its shape: Express's methods are on the prototype instead
 * of on each object.
 */
export class ApiRequest extends IncomingMessage {
  declare method: string;
  declare url: string;
  auditID = '';
  /** When the service began to serve it, as `performance.now()`. */
  readonly receivedAt = performance.now();
  network = '';
  /** The number of header fields that were sent. */
  fieldCount = 0;
  /** The cookies by name, once cookie-parser has read them. */
  cookies: Readonly<Record<string, unknown>> | undefined;
  /** The parsed request, once known. */
  requestInfo: RequestInfo | undefined;
  /** The caller, once known; stays undefined if the response does not depend on it. */
  caller: Caller | undefined;
  /** The Client of a provider request, for the log only: it need not have authenticated. */
  clientName: string | undefined;
  /** The decision of a policy refusal. */
  refusal: DecisionSummary | undefined;
  authorized: AuthorizedRequest | undefined;
  /** The timer of the request's `timeout`, which ends it with 504. */
  deadline: NodeJS.Timeout | undefined;
  /** Identity headers of a front proxy. */
  assertedHeaders: AssertedHeaders | undefined;
  /** Refuses a large body when memory is short. */
  memory: MemoryGuard | undefined;
  /** Sends 100 Continue once, if the client waits for it (RFC 9110 §10.1.1). */
  sendContinue: (() => void) | undefined;

  /** Called when reading of the body starts. */
  override _read(size: number): void {
    const { sendContinue } = this;
    this.sendContinue = undefined;
    sendContinue?.();
    super._read(size);
  }
}

/** A request whose method, path and query were read. */
export interface ParsedRequest extends ApiRequest {
  requestInfo: RequestInfo;
}

/** A request that was authenticated and authorized. */
export interface PermittedRequest<Info extends RequestInfo = RequestInfo> extends ParsedRequest {
  authorized: AuthorizedRequest<Info>;
}

/** A permitted request for objects of a kind. */
export type ResourceRequest = PermittedRequest<ResourceRequestInfo>;

/** A permitted request for one object, which may be absent. */
export type ObjectRequest = PermittedRequest<ObjectRequestInfo>;

/** A permitted request for one object that was found. */
export interface FoundRequest extends ObjectRequest {
  authorized: AuthorizedRequest<ObjectRequestInfo> & { readonly target: EncodedObject };
}

/** The response class. */
export class ApiResponse extends ServerResponse<ApiRequest> {
  /** Bytes of the body sent so far. */
  bytes = 0;
}
