import { type AuthorizationAttributes, type Authorizer, loaded } from './authorizer.js';
import type { EncodedObject } from './encoded-object.js';
import type {
  AnyKind,
  Awaitable,
  Call,
  Caller,
  Decision,
  KindObject,
  Ports,
  RequestFacts,
} from './kind.js';

/** The facts of one call. */
export interface CallFacts {
  caller: Caller;
  request: RequestFacts;
  ports: Ports;
  dryRun?: boolean;
  target?: AuthorizedTarget;
  outcome?: OutcomeAuthorizer;
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
  readonly authorize: (stored: EncodedObject | undefined) => Awaitable<Decision>;
}

/**
 * Authorizes a request again for the objects of its kind as its changes make them
 * (docs/design/policy.md#as-it-becomes).
 */
export interface OutcomeAuthorizer {
  readonly kind: AnyKind;
  /**
   * The name of the object that the request changes, as `namespacedName` has it; absent if it creates
   * objects.
   */
  readonly name?: string;
  /**
   * Returns the permitting decision; throws if the request is refused. The refusal is not recorded if
   * the try is `provisional`: made from a cache, and made again on what is stored.
   */
  authorize(object: KindObject, provisional: boolean): Awaitable<Decision>;
}

/** Returns how a call asks the policy: with where its request comes from. */
export function decisionsOf(
  { caller: own, request }: CallFacts,
  authorizer: Authorizer,
): Pick<Call, 'decide' | 'decideChange' | 'decideQuietly'> {
  const { site, network, auditID, userAgent } = request;
  const origin = {
    ...(site && { site }),
    ...(network && { network }),
    ...(userAgent && { userAgent }),
    auditID,
  };
  const asked: Ask = (
    action,
    { caller = own, kind, name, object, entities, explain, at, ...rest },
  ) =>
    loaded(authorizer, {
      caller,
      action,
      kind,
      name,
      object,
      entities,
      explain,
      at,
      facts: { ...origin, ...rest },
    } as AuthorizationAttributes);
  return {
    decide: async (action, facts) => authorizer.decide(await asked(action, facts)),
    decideChange: async (action, facts) => authorizer.decide(await asked(action, facts), 'change'),
    decideQuietly: async (action, facts) => authorizer.decideQuietly(await asked(action, facts)),
  };
}

type Ask = (action: string, facts: Record<string, unknown>) => Awaitable<AuthorizationAttributes>;

/** The facts of what the service does by itself. */
export const systemRequest: RequestFacts = {
  auditID: 'system',
  network: '',
  userAgent: '',
  acceptLanguage: '',
  browser: false,
};
