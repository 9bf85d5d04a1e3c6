import type { AnyKind, Caller, Decision, KindObject } from './kind.js';

/**
 * What policy is asked: who, what, on which object or kind, under which facts
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
  /** The object, where there is one and it was read. */
  readonly object?: KindObject;
  /**
   * Every object of the kind is asked for at once: permitted only where each of them would be,
   * whatever it is.
   */
  readonly every?: boolean;
  /** The owner whose range a list, watch or deletecollection is narrowed to. */
  readonly owner?: string;
  readonly facts?: Readonly<Record<string, unknown>>;
  /**
   * What is to be recorded of the answer, where it is not what follows from the action: a
   * permission alone, the part of a change that is about to be made, or nothing, since nothing
   * comes of it.
   */
  readonly record?: 'allowed' | 'change' | 'never';
}

/** What a refusal says where its rule has no words. */
export const noWords = 'Policy refuses it.';

/**
 * Why a decision refuses: the very words of its record, for an answer of 403, a cause, a consent
 * screen.
 */
export const whyRefused = ({ reasons }: Decision): string => reasons[0]?.message || noWords;

/**
 * The policy: every request and every scope is put to it, and whatever it does not permit is
 * refused. Answers at once and never throws.
 */
export type Authorizer = (question: AuthorizationAttributes) => Decision;
