import type { PolicyAuthorizer } from '../../../policy/policy-service.js';
import type { IdentityProvider } from '../../../provider/provider.js';

/** Returns the counts since the start by name: `policy.…` for decisions, else the provider's. */
export const countsOf = (
  policy: PolicyAuthorizer,
  provider: IdentityProvider,
): ReadonlyMap<string, number> =>
  new Map([
    ...Object.entries(policy.counts()).map(([name, count]): [string, number] => [
      `policy.${name}`,
      count,
    ]),
    ...provider.counts,
  ]);
