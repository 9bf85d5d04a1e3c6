import { policyName, readNewestPolicy } from '../../../../kinds/policy/policy.js';
import type { Log } from '../../../../observability/log.js';
import type { Store } from '../../../../registry/store/store.js';
import { isLoopback } from '../../../../security/loopback.js';

/**
 * Logs a warning if anyone on the internet can sign up because no one decided who may: the base URL
 * is not loopback, and no Policy was written after the first, which the service creates.
 */
export async function warnOfOpenSignUp(store: Store, log: Log): Promise<void> {
  const { baseURL } = store.settings;
  if (isLoopback(new URL(baseURL).hostname)) return;
  const newest = await store.change(store.systemCall(), (tx) => readNewestPolicy(tx));
  if (newest?.number !== 1) return;
  log.warn(
    { baseURL, policy: policyName(newest.number), docs: 'docs/how-to/policies.md#who-may-sign-up' },
    'anyone can sign up: the policy is the default; create a Policy that says who may sign up',
  );
}
