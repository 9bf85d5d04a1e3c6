import { authorizeLoaded, type AuthorizationAttributes, type Authorizer } from './authorizer.js';
import type { Call, Caller, Decision, Ports, RequestFacts } from './kind.js';
import type { EncodedObject } from './encoded-object.js';

/** The facts of one call. */
export interface CallFacts {
  caller: Caller;
  request: RequestFacts;
  ports: Ports;
  dryRun?: boolean;
  target?: AuthorizedTarget;
  decision?: Decision;
  /** Sends a message of `Call.warn` to the caller; by default nowhere. */
  warn?: (message: string) => void;
}

/** The object that a request was authorized for, at the version that was read. */
export interface AuthorizedTarget {
  readonly stored: EncodedObject;
  /** Whether it came from a cache, so that only a commit proves it. */
  readonly fromCache?: boolean;
  /** Authorizes the request for the current object; throws if it is refused. */
  readonly authorize: (stored: EncodedObject | undefined) => Decision;
}

/** Returns how a call asks the policy: with the site and the network of its request. */
export function decideFor(
  { caller: own, request }: CallFacts,
  authorize: Authorizer,
): Call['decide'] {
  const { site, network } = request;
  return async (
    action,
    {
      caller = own,
      kind,
      name,
      object,
      entities,
      record,
      explain,
      ...rest
    }: Record<string, unknown>,
  ) =>
    authorizeLoaded(authorize, {
      caller,
      action,
      kind,
      name,
      object,
      entities,
      record,
      explain,
      facts: { ...(site && { site }), ...(network && { network }), ...rest },
    } as AuthorizationAttributes);
}
