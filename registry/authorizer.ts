import type { AnyKind, Caller, Decision, KindObject } from './kind.js';

/**
 * The attributes of an authorization request: caller, action, object or kind, facts
 * (docs/design/api.md#policy).
 */
export interface AuthorizationAttributes {
  readonly caller: Caller;
  /**
   * A verb, an action's subresource as `<resource>/<subresource>`, or one of signUp, signIn, share,
   * discovery, health, page, provider.
   */
  readonly action: string;
  readonly kind?: AnyKind;
  readonly name?: string;
  /** The object, if it exists and was read. */
  readonly object?: KindObject;
  /** Asks for every object of the kind: permitted only if each one would be. */
  readonly every?: boolean;
  /** The owner whose range a list, watch or deletecollection is limited to. */
  readonly owner?: string;
  readonly facts?: Readonly<Record<string, unknown>>;
  /**
   * The permissions to record: only allowed ones, those of a change, or none. By default it follows
   * from the action.
   */
  readonly record?: 'allowed' | 'change' | 'never';
}

/** The message of a refusal if the policy has none. */
export const defaultRefusalMessage = 'Policy refuses it.';

/** Returns the message of a refusal: for a 403, a cause, the consent page. */
export const refusalMessage = ({ reasons }: Decision): string =>
  reasons[0]?.message || defaultRefusalMessage;

/** Authorizes a request or scope; what no policy permits is denied. Synchronous; never throws. */
export type Authorizer = (attributes: AuthorizationAttributes) => Decision;
