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

/**
 * What a request is about, as it was read for its decision; `fromCache` where it is but remembered,
 * so that only a commit proves it.
 */
export interface AuthorizedTarget {
  readonly stored: EncodedObject;
  readonly fromCache?: boolean;
}
