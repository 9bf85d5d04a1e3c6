import type { Caller, Decision, Ports, RequestFacts } from './kind.js';
import type { EncodedObject } from './encoded-object.js';

/** The facts of one call. */
export interface CallFacts {
  caller: Caller;
  request: RequestFacts;
  ports: Ports;
  dryRun?: boolean;
  target?: AuthorizedTarget;
  decision?: Decision;
}

/** The object that a request was authorized for, at the version that was read. */
export interface AuthorizedTarget {
  readonly stored: EncodedObject;
  /** Whether it came from a cache, so that only a commit proves it. */
  readonly fromCache?: boolean;
  /** Authorizes the request for the current object; throws if it is refused. */
  readonly authorize: (stored: EncodedObject | undefined) => Decision;
}
