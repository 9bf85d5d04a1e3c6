import { authenticationClaims } from '../../kinds/people/session/acr.js';
import type { Method } from '../../kinds/people/session/session.js';
import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import { AuthorizationRequest, type DecisionEnvironment } from '../model/authorization-request.js';

/** A request at a time, as it is or as it could have been. */
export interface World {
  readonly attributes: AuthorizationAttributes;
  /** Milliseconds since the epoch. */
  readonly timeMs: number;
}

/** Returns the request of a world. */
export const requestIn = (
  { attributes, timeMs }: World,
  environment: DecisionEnvironment,
): AuthorizationRequest => new AuthorizationRequest(attributes, { ...environment, timeMs });

/** Returns a world with facts of the request replaced. They precede those of the caller's sign-in. */
export const withFacts = (world: World, facts: Readonly<Record<string, unknown>>): World => ({
  ...world,
  attributes: { ...world.attributes, facts: { ...world.attributes.facts, ...facts } },
});

/**
 * Returns a world in which the caller has just signed in, by `method` or as before. Who signs in
 * with a passkey has one.
 */
export function withSignIn(world: World, method: Method | undefined): World {
  const request = new AuthorizationRequest(world.attributes);
  const passkeys = request.fact('passkeys');
  return withFacts(world, {
    authenticated: Math.floor(world.timeMs / 1000),
    signedInRecently: true,
    ...(method && { methods: [method], assurance: authenticationClaims(method).acr }),
    ...(method && request.fact('method') !== undefined && { method }),
    ...(method === 'Passkey' &&
      typeof passkeys === 'number' && { passkeys: Math.max(1, passkeys) }),
  });
}

/** Returns a world in which the principal is in these groups. */
export function withGroups(world: World, groups: readonly string[]): World {
  const { caller } = world.attributes;
  return caller.type === 'Account' || caller.type === 'ClusterUser'
    ? { ...world, attributes: { ...world.attributes, caller: { ...caller, groups } } }
    : withFacts(world, { groups });
}
