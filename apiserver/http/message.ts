import { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express } from 'express';
import type { Caller, Decision } from '../../registry/kind.js';
import type { DecisionSummary } from '../../registry/status.js';
import type { EncodedObject } from '../../registry/encoded-object.js';
import type { AssertedHeaders } from '../request/asserted-user.js';
import type { MemoryGuard } from './memory-guard.js';
import type { RequestInfo } from '../request/request-info.js';

/** What the steps before the handlers found out. */
export interface AuthorizedRequest {
  readonly requestInfo: RequestInfo;
  readonly caller: Caller;
  readonly decision: Decision;
  /** The object the path names, as it was when the decision was made. */
  readonly target?: EncodedObject;
  /** It was not read but cached, so that only a commit proves it. */
  readonly fromCache?: boolean;
  /** Authorizes the same request for the target as it stands now; throws what refuses it. */
  readonly reauthorize?: (target: EncodedObject | undefined) => Decision;
  /** What policy was told of the request besides. */
  readonly facts?: Readonly<Record<string, unknown>>;
  /** The owner to whose range a list, watch or deletecollection is narrowed. */
  readonly owner?: string;
}

/**
 * A request as a class, so that V8 keeps its shape: Express's methods stand on its prototype
 * instead of being put on each object.
 */
export class ApiRequest extends IncomingMessage {
  auditID = '';
  network = '';
  /** Header fields as they were sent. */
  fieldCount = 0;
  /** What is asked, once that is known. */
  requestInfo: RequestInfo | undefined;
  /** Who asks, once that is known; of what anyone may ask, it stays open. */
  caller: Caller | undefined;
  /**
   * The Client that a request to the provider was about, for the log alone: it need not have proved
   * itself.
   */
  clientName: string | undefined;
  /** The decision that refused it, where policy did. */
  refusal: DecisionSummary | undefined;
  authorized: AuthorizedRequest | undefined;
  /** Ends the request with a 504, where it came with a `timeout`. */
  deadline: NodeJS.Timeout | undefined;
  /** What a front proxy says of who sent it. */
  claim: AssertedHeaders | undefined;
  /** Refuses a body that turns out to be large, while memory is short. */
  memory: MemoryGuard | undefined;
  /** Asks for the body, once, where the client waits to be asked (RFC 9110 10.1.1). */
  welcome: (() => void) | undefined;

  /** Called when someone begins to read the body. */
  override _read(size: number): void {
    const { welcome } = this;
    this.welcome = undefined;
    welcome?.();
    super._read(size);
  }
}

/** The response's counterpart. */
export class ApiResponse extends ServerResponse<ApiRequest> {
  /** Bytes of the body sent so far. */
  bytes = 0;
}

/**
 * An Express application whose prototypes are those of our classes. Otherwise Express sets the
 * prototypes of both objects on every request, and V8 no longer knows their shapes.
 */
export function createApp(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  for (const [ours, theirs] of [
    [ApiRequest, express.request],
    [ApiResponse, express.response],
  ] as const)
    for (const key of Reflect.ownKeys(theirs))
      Object.defineProperty(ours.prototype, key, Object.getOwnPropertyDescriptor(theirs, key)!);
  (app as { request: unknown }).request = ApiRequest.prototype;
  (app as { response: unknown }).response = ApiResponse.prototype;
  for (const prototype of [ApiRequest.prototype, ApiResponse.prototype])
    Object.defineProperty(prototype, 'app', { configurable: true, writable: true, value: app });
  return app;
}
