import type { ApiServerMetrics } from '../observability/metrics/api-server-metrics.js';
import { objectsRange } from '../registry/encoded-object.js';
import type { Store } from '../registry/store/store.js';
import type { DisposableStack } from '../security/disposable-stack.js';
import type { Size } from '../storage/storage.js';
import { CachedProbe } from './cached-probe.js';
import type { InFlightLimits } from './chain/max-in-flight.js';
import { qualifiedResource } from './chain/metrics.js';
import type { Health } from './health.js';
import type { MemoryGuard } from './http/memory-guard.js';

/** Returns series that differ in one label. */
export const labelled = <L extends string>(label: L, values: Iterable<readonly [string, number]>) =>
  [...values].map(([labelValue, value]) => [{ [label]: labelValue }, value] as const);

/** What is read of a server. */
interface ObservedServer {
  readonly inFlight: InFlightLimits;
  readonly memory: MemoryGuard;
  checks(): ReturnType<Health['outcomes']>;
}

/** Reads at each scrape what a server and its store are doing. */
export function observeServer(
  metrics: ApiServerMetrics,
  { server, store }: { readonly server: ObservedServer; readonly store: Store },
  disposables: DisposableStack,
): void {
  metrics.onScrape(metrics.inflightRequests, () =>
    labelled('request_kind', [
      ['readOnly', server.inFlight.reads],
      ['mutating', server.inFlight.changes],
    ]),
  );
  metrics.onScrape(metrics.memoryUsed, () =>
    labelled(
      'limit',
      server.memory.use().map(({ limit, ratio }) => [limit, ratio] as const),
    ),
  );
  metrics.onScrape(metrics.healthchecks, async () =>
    (await server.checks()).map(
      ({ type, name, isHealthy }) => [{ type, name }, Number(isHealthy)] as const,
    ),
  );
  observeStore(metrics, store, disposables);
  metrics.collectProcessMetrics();
}

/** Objects and sizes are read from the store at most once a minute. */
function observeStore(
  metrics: ApiServerMetrics,
  { storage, registry, watchCache, networkLimits }: Store,
  disposables: DisposableStack,
): void {
  const objects = new CachedProbe(() =>
    Promise.all(
      registry.kinds.map(
        async (kind) => [qualifiedResource(kind), await storage.count(objectsRange(kind))] as const,
      ),
    ),
  );
  const sizes = new CachedProbe(async () => [...((await storage.sizes?.()) ?? [])]);
  disposables.add(async () => {
    await objects.settled();
    await sizes.settled();
  });
  const sizeSeries = async (selectBytes: (size: Size) => number | undefined) =>
    labelled(
      'storage_cluster_id',
      (await sizes.value()).flatMap(([name, size]) => {
        const bytes = selectBytes(size);
        return bytes === undefined ? [] : [[name, bytes] as const];
      }),
    );
  metrics.onScrape(metrics.storageObjects, async () => labelled('resource', await objects.value()));
  metrics.onScrape(metrics.storageSize, () => sizeSeries(({ bytes }) => bytes));
  metrics.onScrape(metrics.storageSizeInUse, () => sizeSeries(({ inUse }) => inUse));
  metrics.onScrape(metrics.storageQuota, () => sizeSeries(({ quota }) => quota));
  metrics.onScrape(metrics.watchCacheLag, () => watchCache.lagMs / 1000);
  metrics.onScrape(metrics.watchCacheWatchers, () => watchCache.watchers);
  metrics.onScrape(metrics.limitRefusals, () => labelled('limit', networkLimits.refusals.totals()));
}
