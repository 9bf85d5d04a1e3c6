import { X509Certificate } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { qualified } from '../../../apiserver/chain/metrics.js';
import type { Server } from '../../../apiserver/server.js';
import type { AuditLog } from './audit-log.js';
import type { Config } from '../options/config.js';
import type { DisposableStack } from './disposables.js';
import { mailLimits } from '../../../kinds/interaction/email-challenge.js';
import { PhaseMetrics } from '../../../kinds/interaction/phase-metrics.js';
import { wrongCodes } from '../../../kinds/signin/code-throttle.js';
import type { PolicyAuthorizer } from '../../../policy/policy-service.js';
import type { StorageCounters } from './counters.js';
import {
  Exposition,
  type Sample,
  type MetricSources,
} from '../../../observability/metrics/exposition.js';
import { MetricsPort } from '../../../observability/metrics/server.js';
import type { IdentityProvider } from '../../../provider/provider.js';
import { countObjects } from '../../../registry/object-count.js';
import { group, version } from '../../../registry/kind.js';
import type { ClockSkew } from './clock-skew.js';
import { CachedProbe } from './cached-probe.js';
import type { Log } from '../../../observability/log.js';
import type { Outbox } from '../../../registry/outbox.js';
import type { Store } from '../../../registry/store.js';
import { release } from '../../../observability/build-info.js';
import type { Size } from '../../../storage/storage.js';

/** Where everything that is told is kept. */
export interface Observed {
  readonly meters: StorageCounters;
  readonly server: Server;
  readonly store: Store;
  readonly policy: PolicyAuthorizer;
  readonly provider: IdentityProvider;
  readonly outbox: Outbox;
  readonly clocks: ClockSkew | undefined;
  readonly audit: AuditLog | undefined;
  /** The certificate of the secure port, in PEM. */
  readonly serving: (() => string) | undefined;
}

/** Opens the metrics port; given back at the stop. */
export async function observe(
  config: Config,
  observed: Observed,
  log: Log,
  held: DisposableStack,
): Promise<AddressInfo> {
  const phases = new PhaseMetrics(observed.store);
  const { storage, registry } = observed.store;
  const counted: Counted = {
    objects: new CachedProbe(() => countObjects(storage, registry.kinds)),
    sizes: new CachedProbe(async () => (await storage.sizes?.()) ?? new Map()),
  };
  held.add(async () => {
    phases.stop();
    await counted.objects.settled();
    await counted.sizes.settled();
  });
  void phases.start();
  const exposition = new Exposition(
    {
      ...ofRequests(observed),
      ...ofStore(observed, counted),
      ...ofSignIns(observed, phases),
      ...ofPolicy(observed),
      ...ofSurroundings(observed),
    },
    (metric, error) => log.warn({ err: error, metric }, 'a metric could not be told'),
  );
  const port = new MetricsPort(exposition, config.shown, log);
  held.add(() => port.close());
  return port.listen(config.metricsPort!, config.bindAddress);
}

/** What the store is asked for at a scrape, once a minute. */
interface Counted {
  readonly objects: CachedProbe<ReadonlyMap<string, number>>;
  readonly sizes: CachedProbe<ReadonlyMap<string, Size>>;
}

const one = (value: Sample['value']): Sample[] => [{ value }];
const by = (label: string, counts: Iterable<readonly [string, number]>): Sample[] =>
  [...counts].map(([of, value]) => ({ labels: { [label]: of }, value }));

function ofRequests({ meters: { server: meter }, server, audit }: Observed) {
  return {
    apiserver_request_total: () =>
      [...meter.all()].flatMap(({ labels, codes }) =>
        [...codes].map(([code, value]) => ({ labels: { ...labels, code: String(code) }, value })),
      ),
    apiserver_request_duration_seconds: () =>
      [...meter.all()].map(({ labels, seconds }) => ({ labels: { ...labels }, value: seconds })),
    apiserver_response_sizes: () =>
      [...meter.all()].flatMap(({ labels, bytes }) =>
        bytes ? [{ labels: { ...labels }, value: bytes }] : [],
      ),
    apiserver_current_inflight_requests: () =>
      by('request_kind', [
        ['readOnly', server.inflight.reads],
        ['mutating', server.inflight.changes],
      ]),
    vestibule_memory_used_ratio: () =>
      by(
        'limit',
        server.memory.use().map(({ limit, ratio }) => [limit, ratio] as const),
      ),
    vestibule_memory_refused_total: () => by('kind', server.memory.refused.entries()),
    apiserver_longrunning_requests: () =>
      [...meter.all()]
        .filter(({ labels }) => labels.verb === 'WATCH')
        .map(({ labels, open }) => ({ labels: { ...labels }, value: open })),
    apiserver_watch_events_total: () =>
      [...meter.watchEvents.entries()].map(([resource, value]) => ({
        labels: { group, version, resource },
        value,
      })),
    apiserver_terminated_watchers_total: () =>
      by(
        'resource',
        [...meter.terminated.entries()].map(
          ([resource, count]) => [qualified(resource), count] as const,
        ),
      ),
    apiserver_audit_event_total: () => one(audit?.counts.events ?? 0),
    apiserver_audit_error_total: () => [
      { labels: { plugin: 'log' }, value: audit?.counts.errors ?? 0 },
    ],
    authentication_attempts: () => by('result', meter.authentications.entries()),
    kubernetes_healthcheck: async () =>
      (await server.checks()).map(({ type, name, good }) => ({
        labels: { type, name },
        value: Number(good),
      })),
  } satisfies Partial<MetricSources>;
}

function ofStore({ meters, store: { watchCache: hub } }: Observed, { objects, sizes }: Counted) {
  const sized = async (of: (size: Size) => number | undefined): Promise<Sample[]> =>
    by(
      'storage_cluster_id',
      [...(await sizes.value())].flatMap(([name, size]) => {
        const bytes = of(size);
        return bytes === undefined ? [] : [[name, bytes] as const];
      }),
    );
  return {
    apiserver_storage_objects: async () =>
      by(
        'resource',
        [...(await objects.value())].map(
          ([resource, count]) => [qualified(resource), count] as const,
        ),
      ),
    apiserver_storage_size_bytes: () => sized(({ bytes }) => bytes),
    vestibule_storage_size_in_use_bytes: () => sized(({ inUse }) => inUse),
    vestibule_storage_quota_bytes: () => sized(({ quota }) => quota),
    etcd_request_duration_seconds: () =>
      [...meters.calls].map(([operation, { seconds }]) => ({
        labels: { operation },
        value: seconds,
      })),
    etcd_request_errors_total: () =>
      by(
        'operation',
        [...meters.calls].map(([operation, { errors }]) => [operation, errors] as const),
      ),
    vestibule_commit_batch_size: () => one(meters.batches),
    vestibule_commits_total: () => by('result', meters.commits.entries()),
    vestibule_watch_cache_lag_seconds: () => one(hub.lagMs / 1000),
    vestibule_watch_cache_watchers: () => one(hub.watchers),
    vestibule_storage_version_supported: () => one(Number(meters.isSupported)),
  } satisfies Partial<MetricSources>;
}

/** What the provider counts under names that begin so, by what follows; `known` begin at 0. */
function counted(
  provider: IdentityProvider,
  prefix: string,
  known: readonly string[],
): [string, number][] {
  const found = [...provider.counts]
    .filter(([event]) => event.startsWith(prefix))
    .map(([event, count]): [string, number] => [event.slice(prefix.length), count]);
  return [...new Map([...known.map((name): [string, number] => [name, 0]), ...found])];
}

/** How much of each ceiling of the whole service is spent now. */
async function ceilings({
  networkLimits,
  settings: { limits },
}: Store): Promise<[string, number][]> {
  const now = Date.now();
  return [
    ['wrong_codes', await networkLimits.ratio(wrongCodes(limits), now)],
    ['mails', await networkLimits.ratio(mailLimits(limits, 'stranger').network, now)],
  ];
}

function ofSignIns({ meters, provider, outbox, store }: Observed, phases: PhaseMetrics) {
  const { signIns } = provider;
  const oldest = (): number => {
    const { since } = outbox.waiting('mail');
    return since === undefined ? 0 : Math.max(0, Date.now() - since) / 1000;
  };
  return {
    vestibule_sign_ins_total: () =>
      [...signIns.tries.entries()].map(([tried, value]) => {
        const [method, outcome] = tried.split(' ') as [string, string];
        return { labels: { method, outcome }, value };
      }),
    vestibule_sign_in_duration_seconds: () => one(signIns.seconds),
    vestibule_interactions: () => by('phase', phases.entries()),
    vestibule_single_use_refused_total: () =>
      by('kind', [
        ...signIns.refused.entries(),
        ...counted(provider, 'reuse.', [
          'AuthorizationCode',
          'RefreshToken',
          'DeviceCode',
          'PushedAuthorizationRequest',
          'ReplayDetection',
        ]),
      ]),
    vestibule_limit_spent_ratio: async () => by('limit', await ceilings(store)),
    vestibule_mail_total: () => by('outcome', meters.mail.entries()),
    vestibule_mail_outbox: () => one(outbox.waiting('mail').rows),
    vestibule_mail_outbox_oldest_seconds: () => one(oldest()),
    vestibule_claims_reviews_total: () =>
      by(
        'outcome',
        counted(provider, 'claims_review.', ['Answered', 'Refused', 'TimedOut', 'Failed']),
      ),
    vestibule_tokens_total: () =>
      by(
        'grant_type',
        counted(provider, 'token.', ['authorization_code', 'refresh_token', 'device_code']),
      ),
    vestibule_provider_faults_total: () => one(provider.counts.get('server_error') ?? 0),
  } satisfies Partial<MetricSources>;
}

function ofPolicy({ policy }: Observed) {
  return {
    vestibule_policy_decisions_total: () => {
      const { permits, refusals } = policy.counts();
      return by('decision', [
        ['Permit', permits],
        ['Refuse', refusals],
      ]);
    },
    vestibule_policy_evaluation_seconds: () => one(policy.evaluations),
    vestibule_policy_decision_cache_total: () => {
      const { hits, misses, unmemoised } = policy.counts();
      return by('result', [
        ['hit', hits],
        ['miss', misses],
        ['bypass', unmemoised],
      ]);
    },
    vestibule_policy_faults_total: () => {
      const { errors, overruns } = policy.counts();
      return by('kind', [
        ['error', errors],
        ['overrun', overruns],
      ]);
    },
  } satisfies Partial<MetricSources>;
}

function ofSurroundings({ meters, clocks, serving }: Observed) {
  const certificates = () => [
    ...meters.certificates,
    ...(serving ? [['serving', serving()] as const] : []),
  ];
  return {
    vestibule_clock_skew_seconds: () => one(clocks?.skew ?? 0),
    vestibule_certificate_expiry_seconds: () =>
      by(
        'name',
        certificates().map(
          ([name, pem]) =>
            [name, (Date.parse(new X509Certificate(pem).validTo) - Date.now()) / 1000] as const,
        ),
      ),
    vestibule_build_info: () => [{ labels: { version: release, node: process.version }, value: 1 }],
  } satisfies Partial<MetricSources>;
}
