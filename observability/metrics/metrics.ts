import { release } from '../build-info.js';
import type { Log } from '../log.js';
import { ApiServerMetrics, requestSeconds } from './api-server-metrics.js';
import { batchSizes, evaluationSeconds, signInSeconds } from './buckets.js';

export * from './api-server-metrics.js';

/** Every metric of this service besides those of the process. Created only with a metrics port. */
export class Metrics extends ApiServerMetrics {
  readonly etcdRequestDuration = this.histogram(
    'etcd_request_duration_seconds',
    'Duration of calls to etcd in seconds.',
    requestSeconds,
    ['operation'],
  );
  readonly etcdRequestErrors = this.counter(
    'etcd_request_errors_total',
    'Calls to etcd that failed.',
    ['operation'],
  );
  readonly signIns = this.counter(
    'vestibule_sign_ins_total',
    'Sign-in attempts by outcome: SignedIn, Wrong, Expired (used, replaced, expired, no tries left), Refused, Limited, Failed.',
    ['method', 'outcome'],
    {
      method: ['EmailCode', 'EmailLink', 'Passkey'],
      outcome: ['SignedIn', 'Wrong', 'Expired', 'Refused', 'Limited', 'Failed'],
    },
  );
  readonly signInDuration = this.histogram(
    'vestibule_sign_in_duration_seconds',
    'Seconds from the start of an Interaction to the accepted proof; most of it is a person’s time.',
    signInSeconds,
  );
  readonly interactions = this.gauge(
    'vestibule_interactions',
    'Interactions in the store; ended ones count until they are collected.',
    ['phase'],
  );
  readonly policyDecisions = this.counter(
    'vestibule_policy_decisions_total',
    'Policy decisions, Permit or Refuse, including those for lists and watches.',
    ['decision'],
  );
  readonly policyEvaluation = this.histogram(
    'vestibule_policy_evaluation_seconds',
    'Duration of Cedar evaluations in seconds; cached decisions have none.',
    evaluationSeconds,
  );
  readonly policyDecisionCache = this.counter(
    'vestibule_policy_decision_cache_total',
    'Policy decisions by where they came from: the cache (hit), an evaluation that was cached (miss), or one that is never cached (bypass).',
    ['result'],
  );
  readonly policyFaults = this.counter(
    'vestibule_policy_faults_total',
    'Requests denied because a rule failed (error) or took over 100 ms (overrun).',
    ['kind'],
  );
  readonly policyShadowDecisions = this.counter(
    'vestibule_policy_shadow_decisions_total',
    'Decisions that a Policy in mode Shadow evaluated too, by what it would have changed.',
    ['result'],
  );
  readonly commitBatchSize = this.histogram(
    'vestibule_commit_batch_size',
    'Commits written to the store together.',
    batchSizes,
  );
  readonly commits = this.counter(
    'vestibule_commits_total',
    'Commits by result: made (ok), lost to a concurrent one (lost), perhaps made (unknown), certainly not made (refused).',
    ['result'],
    { result: ['ok', 'lost', 'unknown', 'refused'] },
  );
  readonly singleUseRefused = this.counter(
    'vestibule_single_use_refused_total',
    'Single-use values refused because they were already used or expired: emailed codes and links, passkey challenges, codes, tokens and proofs of the provider.',
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
  readonly manifestApplied = this.gauge(
    'vestibule_manifest_applied',
    '1 if a file of --manifests was applied as it is now, 0 if it has a fault.',
    ['file'],
  );
  readonly limitSpent = this.gauge(
    'vestibule_limit_spent_ratio',
    'Used share of a limit of the whole service in its window, from 0 to 1: wrong_codes, mails.',
    ['limit'],
  );
  readonly mail = this.counter(
    'vestibule_mail_total',
    'Mails Sent, Kept in the mock mailbox, Deferred (tried again later), Failed, or Unknown (perhaps sent, never repeated).',
    ['outcome'],
    { outcome: ['Sent', 'Kept', 'Deferred', 'Failed', 'Unknown'] },
  );
  readonly mailOutbox = this.gauge('vestibule_mail_outbox', 'Mails waiting to be sent.');
  readonly mailOutboxOldest = this.gauge(
    'vestibule_mail_outbox_oldest_seconds',
    'Seconds since this replica first saw the oldest waiting mail; 0 if there is none.',
  );
  readonly claimsReviews = this.counter(
    'vestibule_claims_reviews_total',
    'Requests to the services that supply claims.',
    ['outcome'],
    { outcome: ['Answered', 'Refused', 'TimedOut', 'Failed'] },
  );
  readonly tokens = this.counter(
    'vestibule_tokens_total',
    'Grants redeemed for tokens.',
    ['grant_type'],
    { grant_type: ['authorization_code', 'refresh_token', 'device_code'] },
  );
  readonly providerFaults = this.counter(
    'vestibule_provider_faults_total',
    'Internal errors of the OpenID Connect provider; each is a bug.',
  );
  readonly storageVersionSupported = this.gauge(
    'vestibule_storage_version_supported',
    '1 if the version of the store is supported, else 0.',
  );
  readonly buildInfo = this.gauge(
    'vestibule_build_info',
    'Always 1, with the release and the version of Node.js as labels.',
    ['version', 'node'],
  );

  /** Logs failures of reads at a scrape to `log`. */
  constructor(log?: Pick<Log, 'warn'>) {
    super(log);
    this.storageVersionSupported.set(1);
    this.buildInfo.set({ version: release, node: process.version }, 1);
  }
}
