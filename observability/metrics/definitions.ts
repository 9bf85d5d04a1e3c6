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

/**
 * Every metric of this service beside those of the process: Kubernetes' names where there is one,
 * else our own.
 */
export const definitions = [
  {
    name: 'apiserver_request_total',
    type: 'counter',
    labels: [...request, 'code'],
    help: 'Requests answered. What is no object’s request has no resource: its subresource is an endpoint of the provider, or page, asset, discovery, review, /livez and the like.',
  },
  {
    name: 'apiserver_request_duration_seconds',
    type: 'histogram',
    labels: request,
    help: 'How long answers took; of a watch, how long it was open.',
  },
  {
    name: 'apiserver_response_sizes',
    type: 'histogram',
    labels: request,
    help: 'Bytes of the answers to reads of objects.',
  },
  {
    name: 'apiserver_current_inflight_requests',
    type: 'gauge',
    labels: ['request_kind'],
    help: 'Requests being answered, readOnly or mutating; watches and health apart.',
  },
  { name: 'apiserver_longrunning_requests', type: 'gauge', labels: request, help: 'Watches open.' },
  {
    name: 'apiserver_storage_objects',
    type: 'gauge',
    labels: ['resource'],
    help: 'Objects in the store, counted once a minute while somebody looks; those that have expired are among them until they are collected.',
  },
  {
    name: 'apiserver_storage_size_bytes',
    type: 'gauge',
    labels: ['storage_cluster_id'],
    help: 'Bytes that the database of a member of etcd takes on its disk, asked once a minute while somebody looks; etcd-0 is the first of --etcd-servers.',
  },
  {
    name: 'apiserver_watch_events_total',
    type: 'counter',
    labels: ['group', 'version', 'resource'],
    help: 'Watch events sent.',
  },
  {
    name: 'apiserver_terminated_watchers_total',
    type: 'counter',
    labels: ['resource'],
    help: 'Watches cut off since their reader was too slow.',
  },
  {
    name: 'apiserver_audit_event_total',
    type: 'counter',
    labels: [],
    help: 'Audit events taken for the audit log.',
  },
  {
    name: 'apiserver_audit_error_total',
    type: 'counter',
    labels: ['plugin'],
    help: 'Audit events lost.',
  },
  {
    name: 'etcd_request_duration_seconds',
    type: 'histogram',
    labels: ['operation'],
    help: 'How long calls to etcd took.',
  },
  {
    name: 'etcd_request_errors_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Calls to etcd that failed.',
  },
  {
    name: 'authentication_attempts',
    type: 'counter',
    labels: ['result'],
    help: 'Requests with a credential: success, failure, or error where it could not be told.',
  },
  {
    name: 'kubernetes_healthcheck',
    type: 'gauge',
    labels: ['type', 'name'],
    help: '1 where a check of livez or readyz passes, else 0; asked at each scrape.',
  },
  {
    name: 'vestibule_sign_ins_total',
    type: 'counter',
    labels: ['method', 'outcome'],
    help: 'Tries to sign in: SignedIn, Wrong, Expired (used, replaced, expired, no tries left), Refused, Limited, Failed.',
  },
  {
    name: 'vestibule_sign_in_duration_seconds',
    type: 'histogram',
    labels: [],
    help: 'From the beginning of an Interaction to the proof that was accepted, most of which is a person’s time.',
  },
  {
    name: 'vestibule_interactions',
    type: 'gauge',
    labels: ['phase'],
    help: 'Interactions in the store; those that are over count until they are collected.',
  },
  {
    name: 'vestibule_policy_decisions_total',
    type: 'counter',
    labels: ['decision'],
    help: 'Decisions of policy, Permit or Refuse, those asked for lists and watches included.',
  },
  {
    name: 'vestibule_policy_evaluation_seconds',
    type: 'histogram',
    labels: [],
    help: 'How long Cedar took where memory had no answer.',
  },
  {
    name: 'vestibule_policy_decision_cache_total',
    type: 'counter',
    labels: ['result'],
    help: 'Policy decisions by where they came from: the cache (hit), an evaluation that was cached (miss), or one that is never cached (bypass).',
  },
  {
    name: 'vestibule_policy_faults_total',
    type: 'counter',
    labels: ['kind'],
    help: 'Decisions refused since a rule failed (error) or took over 100 ms (overrun).',
  },
  {
    name: 'vestibule_commit_batch_size',
    type: 'histogram',
    labels: [],
    help: 'Commits handed to the store together.',
  },
  {
    name: 'vestibule_commits_total',
    type: 'counter',
    labels: ['result'],
    help: 'Commits made (ok), lost to another, perhaps made (unknown), certainly not made (refused).',
  },
  {
    name: 'vestibule_storage_size_in_use_bytes',
    type: 'gauge',
    labels: ['storage_cluster_id'],
    help: 'Of apiserver_storage_size_bytes what is in use; the rest is free inside the file.',
  },
  {
    name: 'vestibule_storage_quota_bytes',
    type: 'gauge',
    labels: ['storage_cluster_id'],
    help: 'Size of its database at which a member of etcd takes no more writes; told by etcd 3.6 and later.',
  },
  {
    name: 'vestibule_watch_cache_lag_seconds',
    type: 'gauge',
    labels: [],
    help: 'Staleness of the watch cache in seconds; normally below 2.',
  },
  {
    name: 'vestibule_watch_cache_watchers',
    type: 'gauge',
    labels: [],
    help: 'Watches and caches told of changes at once.',
  },
  {
    name: 'vestibule_single_use_refused_total',
    type: 'counter',
    labels: ['kind'],
    help: 'What is good for one use and came again, or too late: emailed codes and links, challenges of passkeys, codes, tokens and proofs of the provider.',
  },
  {
    name: 'vestibule_limit_spent_ratio',
    type: 'gauge',
    labels: ['limit'],
    help: 'How much of a ceiling of the whole service is spent in its window, from 0 to 1: wrong_codes, mails.',
  },
  {
    name: 'vestibule_memory_used_ratio',
    type: 'gauge',
    labels: ['limit'],
    help: 'How much of a limit of memory is in use, from 0 to 1: heap, cgroup; pages of files that the kernel can take back do not count.',
  },
  {
    name: 'vestibule_memory_refused_total',
    type: 'counter',
    labels: ['kind'],
    help: 'Requests refused since memory was short: a new watch, a large body.',
  },
  {
    name: 'vestibule_mail_total',
    type: 'counter',
    labels: ['outcome'],
    help: 'Mails Sent, Kept in the mock mailbox, Deferred (tried again later), Failed, or Unknown (perhaps sent, never repeated).',
  },
  { name: 'vestibule_mail_outbox', type: 'gauge', labels: [], help: 'Mails waiting to be sent.' },
  {
    name: 'vestibule_mail_outbox_oldest_seconds',
    type: 'gauge',
    labels: [],
    help: 'For how long this replica has known the oldest of them; 0 where there is none.',
  },
  {
    name: 'vestibule_claims_reviews_total',
    type: 'counter',
    labels: ['outcome'],
    help: 'Questions to the services that supply claims.',
  },
  {
    name: 'vestibule_tokens_total',
    type: 'counter',
    labels: ['grant_type'],
    help: 'Grants redeemed for tokens.',
  },
  {
    name: 'vestibule_provider_faults_total',
    type: 'counter',
    labels: [],
    help: 'Faults of the OpenID Connect provider itself, each a bug.',
  },
  {
    name: 'vestibule_clock_skew_seconds',
    type: 'gauge',
    labels: [],
    help: 'By how much this clock is ahead of the other replicas’ (negative: behind).',
  },
  {
    name: 'vestibule_certificate_expiry_seconds',
    type: 'gauge',
    labels: ['name'],
    help: 'Until a certificate in use expires: serving, etcd-client, etcd-ca.',
  },
  {
    name: 'vestibule_storage_version_supported',
    type: 'gauge',
    labels: [],
    help: '1 where the store is of a release that is supported, else 0.',
  },
  {
    name: 'vestibule_build_info',
    type: 'gauge',
    labels: ['version', 'node'],
    help: 'Always 1; the release and the Node it runs on.',
  },
] as const satisfies readonly Definition[];

export type MetricName = (typeof definitions)[number]['name'];
