import type { Authorizer } from '../../registry/authorizer.js';

/** Returns an authorizer that decides by a function and records nothing. */
export const authorizerOf = (decide: Authorizer['decideQuietly']): Authorizer => ({
  decide: (attributes) => decide(attributes),
  decideQuietly: decide,
});
