import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { createLog, type Log } from '../../observability/log.js';
import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import type { Awaitable, Caller, Decision } from '../../registry/kind.js';
import { minuteMs } from '../../registry/schema/units.js';
import { unavailable } from '../../registry/status/status.js';
import { BoundedMap } from '../../security/bounded-map.js';
import { digest } from '../../security/keyring.js';
import { AccessReviewClient, type KubeApiServer } from './access-review-client.js';
import type { Authorize } from './waiting-authorizer.js';

/** Which kube-apiserver decides, and how long its answers count. */
export interface SubjectAccessReviewOptions extends Partial<KubeApiServer> {
  /** Milliseconds that a permission counts; 5 minutes by default, as in kube-apiserver. */
  readonly allowedMs?: number | undefined;
  /** Milliseconds that a refusal counts; 30 seconds by default. */
  readonly deniedMs?: number | undefined;
  /** By default warnings on standard error: the first of reviews that fail in a row. */
  readonly log?: Pick<Log, 'warn'> | undefined;
}

/** A decision, and until when it counts, as `performance.now()`. */
interface Answer {
  readonly decision: Decision;
  readonly until: number;
}

/** The most answers that are kept: about 2 MiB. */
const maxAnswers = 8192;

const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';
const accountFile = (name: string) => (): string => readFileSync(join(accountFolder, name), 'utf8');

/** Returns how a pod reaches its cluster's kube-apiserver; throws an Error outside of a cluster. */
function inCluster(): KubeApiServer {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  if (!host || !port) {
    throw new Error(
      'set `server` to the address of the kube-apiserver: this process runs in no pod',
    );
  }
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  return { server, ca: accountFile('ca.crt'), token: accountFile('token') };
}

/**
 * Returns an `authorize` that asks a kube-apiserver about each request (SubjectAccessReview of
 * authorization.k8s.io/v1), so that the roles of a cluster count. Without `server` it is that of the
 * pod's cluster, asked with the pod's service account, which needs the ClusterRole
 * `system:auth-delegator`. Discovery and health checks are permitted without a review. Where no answer
 * comes in time, the request is 503.
 *
 * @example
 * ```ts
 * const server = await startApiServer({
 *   kinds: [Fischer],
 *   storage,
 *   token: 'a-token-of-the-operator',
 *   authorize: subjectAccessReviews({ server: 'https://10.96.0.1:443', token: 'its-token' }),
 * });
 * ```
 */
export function subjectAccessReviews(options: SubjectAccessReviewOptions = {}): Authorize {
  const { server } = options;
  const reviews = new Reviews(server === undefined ? inCluster() : { ...options, server }, options);
  return (attributes) => reviews.decide(attributes);
}

const permitted: Decision = { allowed: true, reasons: [] };
const refused = (message: string): Decision => ({
  allowed: false,
  reasons: [{ rule: 'SubjectAccessReview', message }],
});

/** Runs `next` at once if there is nothing to wait for. */
const after = <T>(value: Awaitable<T>, next: (value: T) => Awaitable<T>): Awaitable<T> =>
  value instanceof Promise ? value.then(next) : next(value);

class Reviews {
  readonly #client: AccessReviewClient;
  readonly #allowedMs: number;
  readonly #deniedMs: number;
  readonly #log: Pick<Log, 'warn'>;
  readonly #answers = new BoundedMap<string, Answer>(maxAnswers);
  readonly #pending = new Map<string, Promise<Decision>>();
  #isFailing = false;

  constructor(server: KubeApiServer, options: SubjectAccessReviewOptions) {
    this.#client = new AccessReviewClient(server);
    this.#allowedMs = options.allowedMs ?? 5 * minuteMs;
    this.#deniedMs = options.deniedMs ?? minuteMs / 2;
    this.#log = options.log ?? createLog('warn');
  }

  decide(attributes: AuthorizationAttributes): Awaitable<Decision> {
    const { caller, action, kind, name, facts } = attributes;
    if (action === 'discovery' || action === 'health') return permitted;
    const user = userOf(caller);
    if (!user) return refused('only users of a cluster are authorized.');
    if (action === 'metrics') {
      return this.#answer({ ...user, nonResourceAttributes: { path: facts?.path, verb: 'get' } });
    }
    if (!kind) return refused(`${action} is nothing that a cluster authorizes.`);
    const resource = resourceOf(attributes);
    const about = (more: object) =>
      this.#answer({ ...user, resourceAttributes: { ...resource, ...more } });
    if (name === undefined || resource.verb === 'create') return about({});
    if (!collections.has(resource.verb)) return about({ name });
    // A role permits a whole collection, or the names that it lists.
    return after(about({}), (all) => (all.allowed ? all : about({ name })));
  }

  /** Returns the answer that still counts, else that of a review; equal reviews are asked once at a time. */
  #answer(spec: object): Awaitable<Decision> {
    const key = digest(JSON.stringify(spec));
    const known = this.#answers.get(key);
    if (known && performance.now() < known.until) return known.decision;
    const pending = this.#pending.get(key) ?? this.#ask(key, spec);
    this.#pending.set(key, pending);
    return pending;
  }

  async #ask(key: string, spec: object): Promise<Decision> {
    try {
      const { allowed, reason } = await this.#client.review(spec);
      const decision = allowed ? permitted : refused(reason || 'no role permits it.');
      const until = performance.now() + (allowed ? this.#allowedMs : this.#deniedMs);
      this.#answers.set(key, { decision, until });
      this.#isFailing = false;
      return decision;
    } catch (error) {
      if (!this.#isFailing) this.#log.warn({ err: error }, 'access reviews fail');
      this.#isFailing = true;
      throw unavailable('the authorizer cannot be asked');
    } finally {
      this.#pending.delete(key);
    }
  }
}

const collections: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection']);

/** Returns the ResourceAttributes of a request without its name. An action is a subresource. */
function resourceOf({ action, kind, verb, namespace, subresource }: AuthorizationAttributes) {
  return {
    verb: verb ?? (subresource === undefined ? action : 'create'),
    group: kind?.group,
    version: kind?.version,
    resource: kind?.resource,
    ...(namespace !== undefined && { namespace }),
    ...(subresource !== undefined && { subresource }),
  };
}

/**
 * Returns a caller as Kubernetes names users; undefined for one that a cluster does not know, and
 * without a credential: strangers must not be able to make it review what they like.
 */
function userOf(caller: Caller): object | undefined {
  if (caller.type !== 'ClusterUser') return undefined;
  const { user, groups, uid, extra } = caller;
  return { user, groups, ...(uid !== undefined && { uid }), ...(extra && { extra }) };
}
