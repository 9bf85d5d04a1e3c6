import { X509Certificate } from 'node:crypto';
import client, { type Counter, type Gauge, type Histogram } from 'prom-client';
import type { Log } from '../log.js';

/**
 * One metric. Its labels never identify a person, an object, a caller's address, or a Client that a
 * caller chose (docs/design/operations.md#metrics).
 */
export interface Definition {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
}

type Labels<L extends string> = Partial<Record<L, string | number>>;

/** The series of a metric that is read at each scrape; a number for a metric without labels. */
export type Samples<L extends string> = number | Iterable<readonly [Labels<L>, number]>;

const requestLabels = [
  'verb',
  'dry_run',
  'group',
  'version',
  'resource',
  'subresource',
  'scope',
  'component',
] as const;

/** Buckets in seconds, as in kube-apiserver for requests and calls to etcd. */
export const requestSeconds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45,
  60,
];
/** Buckets in bytes, as in kube-apiserver. */
export const responseBytes = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/**
 * The metrics of an API server besides those of the process. Uses Kubernetes' name where one exists.
 */
export class ApiServerMetrics {
  readonly definitions: Definition[] = [];
  /** PEM certificates in use by purpose; their expiry is read at each scrape. */
  readonly certificates = new Map<string, () => Buffer | string>();
  readonly #registry = new client.Registry();
  readonly #log: Pick<Log, 'warn'> | undefined;
  readonly #watches = new Set<string>();
  #scrape: Promise<string> | undefined;

  readonly requests = this.counter(
    'apiserver_request_total',
    'Requests answered. Requests that are not about an object have no resource; their subresource is an endpoint of the provider, or page, asset, discovery, review, /livez and the like.',
    [...requestLabels, 'code'],
  );
  readonly requestDuration = this.histogram(
    'apiserver_request_duration_seconds',
    'Duration of requests in seconds; for a watch, how long it was open.',
    requestSeconds,
    requestLabels,
  );
  readonly responseSizes = this.histogram(
    'apiserver_response_sizes',
    'Size of responses to reads of objects in bytes.',
    responseBytes,
    requestLabels,
  );
  readonly inflightRequests = this.gauge(
    'apiserver_current_inflight_requests',
    'Requests in flight, readOnly or mutating, without watches and health checks.',
    ['request_kind'],
  );
  readonly longrunningRequests = this.gauge(
    'apiserver_longrunning_requests',
    'Open watches.',
    requestLabels,
  );
  readonly storageObjects = this.gauge(
    'apiserver_storage_objects',
    'Objects in the store, counted once a minute while metrics are scraped; expired objects count until they are collected.',
    ['resource'],
  );
  readonly storageSize = this.gauge(
    'apiserver_storage_size_bytes',
    'Size of the database of an etcd member on disk in bytes, read once a minute while metrics are scraped; etcd-0 is the first of --etcd-servers.',
    ['storage_cluster_id'],
  );
  readonly watchEvents = this.counter('apiserver_watch_events_total', 'Watch events sent.', [
    'group',
    'version',
    'resource',
  ]);
  readonly terminatedWatchers = this.counter(
    'apiserver_terminated_watchers_total',
    'Watches ended because their reader was too slow.',
    ['resource'],
  );
  readonly auditEvents = this.counter(
    'apiserver_audit_event_total',
    'Audit events accepted for the audit log.',
  );
  readonly auditErrors = this.counter('apiserver_audit_error_total', 'Audit events lost.', [
    'plugin',
  ]);
  readonly authenticationAttempts = this.counter(
    'authentication_attempts',
    'Requests with a credential by result: success, failure, or error if it could not be verified.',
    ['result'],
    { result: ['success', 'failure', 'error'] },
  );
  readonly healthchecks = this.gauge(
    'kubernetes_healthcheck',
    '1 if a check of livez or readyz passes, else 0; checked at each scrape.',
    ['type', 'name'],
  );
  readonly storageSizeInUse = this.gauge(
    'vestibule_storage_size_in_use_bytes',
    'The part of apiserver_storage_size_bytes in use, in bytes; the rest is free space in the file.',
    ['storage_cluster_id'],
  );
  readonly storageQuota = this.gauge(
    'vestibule_storage_quota_bytes',
    'Database size at which an etcd member accepts no more writes, in bytes; reported by etcd 3.6 and later.',
    ['storage_cluster_id'],
  );
  readonly watchCacheLag = this.gauge(
    'vestibule_watch_cache_lag_seconds',
    'Staleness of the watch cache in seconds; normally below 2.',
  );
  readonly watchCacheWatchers = this.gauge(
    'vestibule_watch_cache_watchers',
    'Watches and caches that receive changes.',
  );
  readonly limitRefusals = this.counter(
    'vestibule_limit_refusals_total',
    'Requests that a limit refused, by limit; one that ends in -all is the ceiling for all networks.',
    ['limit'],
  );
  readonly memoryUsed = this.gauge(
    'vestibule_memory_used_ratio',
    'Used share of a memory limit, from 0 to 1: heap, cgroup; file pages that the kernel can reclaim do not count.',
    ['limit'],
  );
  readonly memoryRefused = this.counter(
    'vestibule_memory_refused_total',
    'Requests refused because memory was low: a new watch, a large body.',
    ['kind'],
    { kind: ['watch', 'body'] },
  );
  readonly certificateExpiry = this.gauge(
    'vestibule_certificate_expiry_seconds',
    'Seconds until a certificate in use expires: serving, etcd-client, etcd-ca.',
    ['name'],
  );

  /** Logs failures of reads at a scrape to `log`. */
  constructor(log?: Pick<Log, 'warn'>) {
    this.#log = log;
    this.onScrape(this.certificateExpiry, () =>
      [...this.certificates].map(([name, pem]) => [{ name }, secondsUntilExpiry(pem())] as const),
    );
  }

  /**
   * Reads a metric at each scrape. If that fails, the metric has no value; others are not affected.
   */
  onScrape<L extends string>(
    metric: Counter<L> | Gauge<L>,
    read: () => Samples<L> | Promise<Samples<L>>,
  ): void {
    const { name } = metric as unknown as Definition;
    const collect = async (): Promise<void> => {
      try {
        const samples = await read();
        metric.reset();
        const series = typeof samples === 'number' ? [[{}, samples] as const] : samples;
        for (const [labels, value] of series) metric.inc(labels, value);
      } catch (error) {
        metric.reset();
        this.#log?.warn({ err: error, metric: name }, 'metric could not be read');
      }
    };
    Object.assign(metric, { collect });
  }

  /**
   * Initializes the series of a type of watch to 0, so that its duration exists while the first is
   * open.
   */
  initializeWatchSeries(labels: Labels<(typeof requestLabels)[number]>): void {
    const series = JSON.stringify(labels);
    if (this.#watches.has(series)) return;
    this.#watches.add(series);
    this.longrunningRequests.set(labels, 0);
    this.requestDuration.zero(labels);
  }

  /** Adds the metrics of the process. */
  collectProcessMetrics(): void {
    client.collectDefaultMetrics({ register: this.#registry });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Returns the metrics in Prometheus' text format 0.0.4; concurrent callers share one scrape. */
  text(): Promise<string> {
    this.#scrape ??= this.#registry.metrics().finally(() => {
      this.#scrape = undefined;
    });
    return this.#scrape;
  }

  /** Creates a counter; series of all `known` label values start at 0. */
  protected counter<const L extends string>(
    name: string,
    help: string,
    labels: readonly L[] = [],
    known?: Readonly<Record<L, readonly string[]>>,
  ): Counter<L> {
    const counter = new client.Counter(this.#define('counter', name, help, labels));
    for (const series of known ? combinationsOf(known) : []) counter.inc(series, 0);
    return counter;
  }

  /** Creates a gauge. */
  protected gauge<const L extends string>(
    name: string,
    help: string,
    labels: readonly L[] = [],
  ): Gauge<L> {
    return new client.Gauge(this.#define('gauge', name, help, labels));
  }

  /** Creates a histogram with upper bounds of its buckets. */
  protected histogram<const L extends string>(
    name: string,
    help: string,
    buckets: number[],
    labels: readonly L[] = [],
  ): Histogram<L> {
    return new client.Histogram({ ...this.#define('histogram', name, help, labels), buckets });
  }

  #define<L extends string>(
    type: Definition['type'],
    name: string,
    help: string,
    labels: readonly L[],
  ) {
    this.definitions.push({ name, type, help, labels });
    return { name, help, labelNames: labels, registers: [this.#registry] };
  }
}

const secondsUntilExpiry = (pem: Buffer | string): number =>
  (Date.parse(new X509Certificate(pem).validTo) - Date.now()) / 1000;

/** Returns every combination of the label values. */
const combinationsOf = <L extends string>(values: Readonly<Record<L, readonly string[]>>) =>
  (Object.keys(values) as L[]).reduce<Labels<L>[]>(
    (series, label) =>
      series.flatMap((labels) => values[label].map((value) => ({ ...labels, [label]: value }))),
    [{}],
  );
