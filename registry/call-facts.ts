import type { Caller, Decision, Ports, RequestFacts } from './kind.js';
import type { EncodedObject } from './encoded-object.js';

/** What differs from call to call. */
export interface CallFacts {
  caller: Caller;
  request: RequestFacts;
  ports: Ports;
  dryRun?: boolean;
  target?: AuthorizedTarget;
  decision?: Decision;
}

/** The object that a request was authorized for, as it was read then. */
export interface AuthorizedTarget {
  readonly stored: EncodedObject;
  /** It was not read but cached, so that only a commit proves it. */
  readonly fromCache?: boolean;
  /** Authorizes the request for the object as it stands now; throws what refuses it. */
  readonly authorize: (stored: EncodedObject | undefined) => Decision;
}
