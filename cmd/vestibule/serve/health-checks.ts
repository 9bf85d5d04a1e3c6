import { type HealthCheck, storageCheck } from '../../../apiserver/health.js';
import type { PolicyAuthorizer } from '../../../policy/policy-service.js';
import type { Store } from '../../../registry/store/store.js';

/** Returns the readiness checks of a replica. */
export const healthChecks = (store: Store, policy: PolicyAuthorizer): HealthCheck[] => [
  storageCheck(store),
  { name: 'policy', run: () => policy.ready() },
];
