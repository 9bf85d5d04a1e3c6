import { X509Certificate } from 'node:crypto';
import client, { type Counter, type Gauge, type Histogram } from 'prom-client';
import { release } from '../build-info.js';
import type { Log } from '../log.js';

/**
 * One metric: its name, what it counts, and what its series are told apart by: never a person, an
 * object, a caller's address, or a Client that a caller chose (docs/design/operations.md#metrics).
 */
export interface Definition {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
}

type Labels<L extends string> = Partial<Record<L, string | number>>;

/** The series of a metric that is read at each scrape; a number where it has no labels. */
export type Samples<L extends string> = number | Iterable<readonly [Labels<L>, number]>;

const request = [
  'verb',
  'dry_run',
  'group',
  'version',
  'resource',
  'subresource',
  'scope',
  'component',
] as const;

/** Seconds, as a kube-apiserver sorts its answers and its calls to etcd by. */
export const requestSeconds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45,
  60,
];
/** Bytes, likewise. */
export const responseBytes = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
/** Seconds from the beginning of a sign-in to the proof, which are a person's. */
const signInSeconds = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];
const evaluationSeconds = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
];
const batchSizes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/**
 * Every metric of this service beside those of the process: Kubernetes' names where there is one,
 * else our own. Made only with a metrics port: no one else pays for it.
 */
export class Metrics {
  readonly definitions: Definition[] = [];
  /** Certificates in use, in PEM, by what they are for; their expiry is read at each scrape. */
  readonly certificates = new Map<string, () => Buffer | string>();
  readonly #registry = new client.Registry();
  readonly #log: Pick<Log, 'warn'> | undefined;
  readonly #watches = new Set<string>();
  #scrape: Promise<string> | undefined;

  readonly requests = this.#counter(
    'apiserver_request_total',
    'Requests answered. What is no object’s request has no resource: its subresource is an endpoint of the provider, or page, asset, discovery, review, /livez and the like.',
    [...request, 'code'],
  );
  readonly requestDuration = this.#histogram(
    'apiserver_request_duration_seconds',
    'How long answers took; of a watch, how long it was open.',
    requestSeconds,
    request,
  );
  readonly responseSizes = this.#histogram(
    'apiserver_response_sizes',
    'Bytes of the answers to reads of objects.',
    responseBytes,
    request,
  );
  readonly inflightRequests = this.#gauge(
    'apiserver_current_inflight_requests',
    'Requests being answered, readOnly or mutating; watches and health apart.',
    ['request_kind'],
  );
  readonly longrunningRequests = this.#gauge(
    'apiserver_longrunning_requests',
    'Watches open.',
    request,
  );
  readonly storageObjects = this.#gauge(
    'apiserver_storage_objects',
    'Objects in the store, counted once a minute while someone looks; those that have expired are among them until they are collected.',
    ['resource'],
  );
  readonly storageSize = this.#gauge(
    'apiserver_storage_size_bytes',
    'Bytes that the database of a member of etcd takes on its disk, asked once a minute while someone looks; etcd-0 is the first of --etcd-servers.',
    ['storage_cluster_id'],
  );
  readonly watchEvents = this.#counter('apiserver_watch_events_total', 'Watch events sent.', [
    'group',
    'version',
    'resource',
  ]);
  readonly terminatedWatchers = this.#counter(
    'apiserver_terminated_watchers_total',
    'Watches cut off since their reader was too slow.',
    ['resource'],
  );
  readonly auditEvents = this.#counter(
    'apiserver_audit_event_total',
    'Audit events taken for the audit log.',
  );
  readonly auditErrors = this.#counter('apiserver_audit_error_total', 'Audit events lost.', [
    'plugin',
  ]);
  readonly etcdRequestDuration = this.#histogram(
    'etcd_request_duration_seconds',
    'How long calls to etcd took.',
    requestSeconds,
    ['operation'],
  );
  readonly etcdRequestErrors = this.#counter(
    'etcd_request_errors_total',
    'Calls to etcd that failed.',
    ['operation'],
  );
  readonly authenticationAttempts = this.#counter(
    'authentication_attempts',
    'Requests with a credential: success, failure, or error where it could not be told.',
    ['result'],
    { result: ['success', 'failure', 'error'] },
  );
  readonly healthchecks = this.#gauge(
    'kubernetes_healthcheck',
    '1 where a check of livez or readyz passes, else 0; asked at each scrape.',
    ['type', 'name'],
  );
  readonly signIns = this.#counter(
    'vestibule_sign_ins_total',
    'Tries to sign in: SignedIn, Wrong, Expired (used, replaced, expired, no tries left), Refused, Limited, Failed.',
    ['method', 'outcome'],
    {
      method: ['EmailCode', 'EmailLink', 'Passkey'],
      outcome: ['SignedIn', 'Wrong', 'Expired', 'Refused', 'Limited', 'Failed'],
    },
  );
  readonly signInDuration = this.#histogram(
    'vestibule_sign_in_duration_seconds',
    'From the beginning of an Interaction to the proof that was accepted, most of which is a person’s time.',
    signInSeconds,
  );
  readonly interactions = this.#gauge(
    'vestibule_interactions',
    'Interactions in the store; those that are over count until they are collected.',
    ['phase'],
  );
  readonly policyDecisions = this.#counter(
    'vestibule_policy_decisions_total',
    'Decisions of policy, Permit or Refuse, those asked for lists and watches included.',
    ['decision'],
  );
  readonly policyEvaluation = this.#histogram(
    'vestibule_policy_evaluation_seconds',
    'How long Cedar took where memory had no answer.',
    evaluationSeconds,
  );
  readonly policyDecisionCache = this.#counter(
    'vestibule_policy_decision_cache_total',
    'Policy decisions by where they came from: the cache (hit), an evaluation that was cached (miss), or one that is never cached (bypass).',
    ['result'],
  );
  readonly policyFaults = this.#counter(
    'vestibule_policy_faults_total',
    'Decisions refused since a rule failed (error) or took over 100 ms (overrun).',
    ['kind'],
  );
  readonly commitBatchSize = this.#histogram(
    'vestibule_commit_batch_size',
    'Commits handed to the store together.',
    batchSizes,
  );
  readonly commits = this.#counter(
    'vestibule_commits_total',
    'Commits made (ok), lost to another, perhaps made (unknown), certainly not made (refused).',
    ['result'],
    { result: ['ok', 'lost', 'unknown', 'refused'] },
  );
  readonly storageSizeInUse = this.#gauge(
    'vestibule_storage_size_in_use_bytes',
    'Of apiserver_storage_size_bytes what is in use; the rest is free inside the file.',
    ['storage_cluster_id'],
  );
  readonly storageQuota = this.#gauge(
    'vestibule_storage_quota_bytes',
    'Size of its database at which a member of etcd takes no more writes; told by etcd 3.6 and later.',
    ['storage_cluster_id'],
  );
  readonly watchCacheLag = this.#gauge(
    'vestibule_watch_cache_lag_seconds',
    'Staleness of the watch cache in seconds; normally below 2.',
  );
  readonly watchCacheWatchers = this.#gauge(
    'vestibule_watch_cache_watchers',
    'Watches and caches told of changes at once.',
  );
  readonly singleUseRefused = this.#counter(
    'vestibule_single_use_refused_total',
    'What is good for one use and came again, or too late: emailed codes and links, challenges of passkeys, codes, tokens and proofs of the provider.',
    ['kind'],
    {
      kind: [
        'EmailCode',
        'EmailLink',
        'PasskeyChallenge',
        'AuthorizationCode',
        'RefreshToken',
        'DeviceCode',
        'PushedAuthorizationRequest',
        'ReplayDetection',
      ],
    },
  );
  readonly limitSpent = this.#gauge(
    'vestibule_limit_spent_ratio',
    'How much of a ceiling of the whole service is spent in its window, from 0 to 1: wrong_codes, mails.',
    ['limit'],
  );
  readonly memoryUsed = this.#gauge(
    'vestibule_memory_used_ratio',
    'How much of a limit of memory is in use, from 0 to 1: heap, cgroup; pages of files that the kernel can take back do not count.',
    ['limit'],
  );
  readonly memoryRefused = this.#counter(
    'vestibule_memory_refused_total',
    'Requests refused since memory was short: a new watch, a large body.',
    ['kind'],
    { kind: ['watch', 'body'] },
  );
  readonly mail = this.#counter(
    'vestibule_mail_total',
    'Mails Sent, Kept in the mock mailbox, Deferred (tried again later), Failed, or Unknown (perhaps sent, never repeated).',
    ['outcome'],
    { outcome: ['Sent', 'Kept', 'Deferred', 'Failed', 'Unknown'] },
  );
  readonly mailOutbox = this.#gauge('vestibule_mail_outbox', 'Mails waiting to be sent.');
  readonly mailOutboxOldest = this.#gauge(
    'vestibule_mail_outbox_oldest_seconds',
    'For how long this replica has known the oldest of them; 0 where there is none.',
  );
  readonly claimsReviews = this.#counter(
    'vestibule_claims_reviews_total',
    'Questions to the services that supply claims.',
    ['outcome'],
    { outcome: ['Answered', 'Refused', 'TimedOut', 'Failed'] },
  );
  readonly tokens = this.#counter(
    'vestibule_tokens_total',
    'Grants redeemed for tokens.',
    ['grant_type'],
    { grant_type: ['authorization_code', 'refresh_token', 'device_code'] },
  );
  readonly providerFaults = this.#counter(
    'vestibule_provider_faults_total',
    'Faults of the OpenID Connect provider itself, each a bug.',
  );
  readonly clockSkew = this.#gauge(
    'vestibule_clock_skew_seconds',
    'By how much this clock is ahead of the other replicas’ (negative: behind).',
  );
  readonly certificateExpiry = this.#gauge(
    'vestibule_certificate_expiry_seconds',
    'Until a certificate in use expires: serving, etcd-client, etcd-ca.',
    ['name'],
  );
  readonly storageVersionSupported = this.#gauge(
    'vestibule_storage_version_supported',
    '1 where the store is of a release that is supported, else 0.',
  );
  readonly buildInfo = this.#gauge(
    'vestibule_build_info',
    'Always 1; the release and the Node it runs on.',
    ['version', 'node'],
  );

  /** `log` hears of what could not be read at a scrape. */
  constructor(log?: Pick<Log, 'warn'>) {
    this.#log = log;
    this.storageVersionSupported.set(1);
    this.buildInfo.set({ version: release, node: process.version }, 1);
    this.onScrape(this.certificateExpiry, () =>
      [...this.certificates].map(([name, pem]) => [{ name }, secondsUntilExpiry(pem())] as const),
    );
  }

  /**
   * Reads a metric again at each scrape. Where that fails it is left without a value, and all others
   * are as ever.
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
        this.#log?.warn({ err: error, metric: name }, 'a metric could not be told');
      }
    };
    Object.assign(metric, { collect });
  }

  /** Begins the series of a sort of watch at 0, once: its duration is told while the first is open. */
  showWatch(labels: Labels<(typeof request)[number]>): void {
    const series = JSON.stringify(labels);
    if (this.#watches.has(series)) return;
    this.#watches.add(series);
    this.longrunningRequests.set(labels, 0);
    this.requestDuration.zero(labels);
  }

  /** Tells of the process, too, from now on. */
  collectProcessMetrics(): void {
    client.collectDefaultMetrics({ register: this.#registry });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Prometheus' text format 0.0.4, as of now; anyone who asks while it is made shares it. */
  text(): Promise<string> {
    this.#scrape ??= this.#registry.metrics().finally(() => {
      this.#scrape = undefined;
    });
    return this.#scrape;
  }

  /** A counter; the series of all `known` values of its labels begin at 0. */
  #counter<const L extends string>(
    name: string,
    help: string,
    labels: readonly L[] = [],
    known?: Readonly<Record<L, readonly string[]>>,
  ): Counter<L> {
    const counter = new client.Counter(this.#define('counter', name, help, labels));
    for (const series of known ? combinationsOf(known) : []) counter.inc(series, 0);
    return counter;
  }

  #gauge<const L extends string>(name: string, help: string, labels: readonly L[] = []): Gauge<L> {
    return new client.Gauge(this.#define('gauge', name, help, labels));
  }

  #histogram<const L extends string>(
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

/** Every combination of the values of these labels. */
const combinationsOf = <L extends string>(values: Readonly<Record<L, readonly string[]>>) =>
  (Object.keys(values) as L[]).reduce<Labels<L>[]>(
    (series, label) =>
      series.flatMap((one) => values[label].map((value) => ({ ...one, [label]: value }))),
    [{}],
  );
