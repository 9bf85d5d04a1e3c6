import type { Server } from '../../../apiserver/server.js';
import { labelled, observeServer } from '../../../apiserver/server-metrics.js';
import { mailLimits } from '../../../kinds/interaction/email-challenge.js';
import { PhaseMetrics } from '../../../kinds/interaction/phase-metrics.js';
import type { SettingsIndex } from '../../../kinds/settings/settings-index.js';
import { wrongCodes } from '../../../kinds/signin/code-throttle.js';
import type { Log } from '../../../observability/log.js';
import type { Metrics } from '../../../observability/metrics/metrics.js';
import { MetricsPort } from '../../../observability/metrics/server.js';
import type { PolicyAuthorizer } from '../../../policy/policy-service.js';
import type { Outbox } from '../../../registry/store/outbox.js';
import type { Store } from '../../../registry/store/store.js';
import type { DisposableStack } from '../../../security/disposable-stack.js';
import type { Config } from '../options/config.js';
import type { AuditLog } from './audit-log.js';
import type { ManifestController } from './manifests/manifest-controller.js';
import { urlOf } from './tls/serving.js';

/** The parts that a scrape reads; other metrics are counted where they happen. */
export interface MetricsSources {
  readonly server: Server;
  readonly store: Store;
  readonly policy: PolicyAuthorizer;
  readonly outbox: Outbox;
  readonly manifests: ManifestController | undefined;
  readonly audit: AuditLog | undefined;
  readonly settings: Pick<SettingsIndex, 'current'>;
}

/** Opens the metrics port until the stop, and returns its URL. */
export async function openMetricsPort(
  config: Config,
  metrics: Metrics,
  sources: MetricsSources,
  log: Log,
  disposables: DisposableStack,
): Promise<string> {
  const phases = new PhaseMetrics(sources.store, metrics.interactions, log);
  disposables.add(() => phases.stop());
  void phases.start();
  observeServer(metrics, sources, disposables);
  registerServiceMetrics(metrics, sources);
  registerPolicyMetrics(metrics, sources);
  metrics.onScrape(metrics.manifestApplied, () =>
    labelled(
      'file',
      (sources.manifests?.files ?? []).map(
        ({ file, state }) => [file, Number(state === 'Applied')] as const,
      ),
    ),
  );
  const port = new MetricsPort(metrics, () => sources.settings.current.displayed, log);
  disposables.add(() => port.close());
  return urlOf('http', await port.listen(config.metricsPort!, config.bindAddress));
}

function registerServiceMetrics(metrics: Metrics, { audit, store, outbox }: MetricsSources): void {
  metrics.onScrape(metrics.auditEvents, () => audit?.counts.events ?? 0);
  metrics.onScrape(metrics.auditErrors, () =>
    labelled('plugin', [['log', audit?.counts.errors ?? 0]]),
  );
  metrics.onScrape(metrics.limitSpent, async () => labelled('limit', await limitRatios(store)));
  metrics.onScrape(metrics.mailOutbox, () => outbox.pending('mail').rows);
  metrics.onScrape(metrics.mailOutboxOldest, () => {
    const { since } = outbox.pending('mail');
    return since === undefined ? 0 : Math.max(0, Date.now() - since) / 1000;
  });
}

/** Returns the used share of each service-wide limit. */
async function limitRatios({
  networkLimits,
  settings: { limits },
}: Store): Promise<[string, number][]> {
  const now = Date.now();
  return [
    ['wrong_codes', await networkLimits.ratio(wrongCodes(limits), now)],
    ['mails', await networkLimits.ratio(mailLimits(limits, 'stranger').network, now)],
  ];
}

function registerPolicyMetrics(metrics: Metrics, { policy }: MetricsSources): void {
  metrics.onScrape(metrics.policyDecisions, () => {
    const { permits, refusals } = policy.counts();
    return labelled('decision', Object.entries({ Permit: permits, Refuse: refusals }));
  });
  metrics.onScrape(metrics.policyDecisionCache, () => {
    const { hits, misses, bypasses } = policy.counts();
    return labelled('result', Object.entries({ hit: hits, miss: misses, bypass: bypasses }));
  });
  metrics.onScrape(metrics.policyShadowDecisions, () =>
    labelled('result', Object.entries(policy.shadowCounts())),
  );
  metrics.onScrape(metrics.policyFaults, () => {
    const { errors, overruns } = policy.counts();
    return labelled('kind', Object.entries({ error: errors, overrun: overruns }));
  });
}
