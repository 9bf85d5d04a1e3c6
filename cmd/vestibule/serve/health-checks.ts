import type { HealthCheck } from '../../../apiserver/health.js';
import type { PolicyAuthorizer } from '../../../policy/policy-service.js';
import type { WatchCache } from '../../../registry/watchcache/watch-cache.js';
import type { Storage } from '../../../storage/storage.js';
import type { ClockSkew } from './replicas/clock-skew.js';

/** Returns the readiness checks of a replica. */
export function healthChecks({
  storage,
  watchCache,
  policy,
  clocks,
}: {
  storage: Storage;
  watchCache: WatchCache;
  policy: PolicyAuthorizer;
  clocks: ClockSkew | undefined;
}): HealthCheck[] {
  const checkStorage = async (): Promise<void> => {
    await storage.get('meta/ready');
    if (!watchCache.isReady)
      throw new Error('the watch cache has received nothing from storage for 10 s');
  };
  return [
    { name: 'storage', run: checkStorage },
    { name: 'policy', run: () => policy.ready() },
    { name: 'clock', run: () => clocks?.check() },
  ];
}
