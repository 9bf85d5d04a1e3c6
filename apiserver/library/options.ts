import type { Log } from '../../observability/log.js';
import type { Action } from '../../registry/action.js';
import type { Authenticator } from '../../registry/authenticator.js';
import type { AnyKind, Ports, Settings } from '../../registry/kind.js';
import type { Limits } from '../../registry/limits/limit-settings.js';
import type { Reconciler } from '../../registry/store/controller.js';
import type { Worker } from '../../registry/store/outbox.js';
import type { Keys } from '../../security/keyring.js';
import type { Storage } from '../../storage/storage.js';
import type { AuditSink } from '../chain/audit.js';
import type { ApiDescription } from '../discovery/api-description.js';
import type { HealthCheck } from '../health.js';
import type { ServingCertificate } from '../listener.js';
import type { ClientAuthority, RequestHeaderOptions } from './client-authority.js';
import type { Authorize } from './waiting-authorizer.js';

/** What a server serves, from where, and to whom; only kinds and storage are required. */
export interface ApiServerOptions extends ServedOptions, AccessOptions, ObservedOptions {}

/** What a server serves. */
interface ServedOptions {
  /**
   * The kinds, of one API group or of several: the first one is also served below `/api`, and gives
   * annotations of audit events their prefix.
   */
  readonly kinds: readonly AnyKind[];
  /** The store, which is closed with the server, or when the start fails. */
  readonly storage: Storage;
  readonly actions?: readonly Action[] | undefined;
  /** The port; by default, and if it is 0, a free one. */
  readonly port?: number | undefined;
  /** The address to listen on; 127.0.0.1 by default. */
  readonly address?: string | undefined;
  /** The origin under which clients reach the server; by default that of address and port. */
  readonly baseURL?: string | undefined;
  /**
   * Certificate and key in PEM, for https instead of http; `onChange` announces renewed ones. kubectl
   * sends tokens by https only.
   */
  readonly certificate?:
    | (Pick<ServingCertificate, 'cert' | 'key'> & Partial<ServingCertificate>)
    | undefined;
  /** The keys that seal continue tokens and outbox rows; by default new ones for each start. */
  readonly keys?: Keys | undefined;
  /** What kinds need from other components; `Ports` is extended by declaration merging. */
  readonly ports?: Partial<Ports> | undefined;
  /** Settings that kinds added to `Settings` by declaration merging. */
  readonly settings?: Partial<Settings> | undefined;
  /** The workers that run outbox rows. */
  readonly workers?: readonly Worker[] | undefined;
  /** What brings objects to what they ask for: a controller each. */
  readonly reconcilers?: readonly Reconciler<AnyKind>[] | undefined;
  /** Limits that differ from their defaults. */
  readonly limits?: Partial<Limits> | undefined;
  /** How long each revision stays readable at least, in milliseconds; 5 minutes by default. */
  readonly compactionIntervalMs?: number | undefined;
  /** The name of the server in events and managed fields; by default the group up to its first dot. */
  readonly component?: string | undefined;
  /** The version of the server's own code. */
  readonly release?: string | undefined;
  /** The title and description of the OpenAPI documents. */
  readonly description?: Pick<ApiDescription, 'title' | 'description' | 'license'> | undefined;
}

/** To whom a server serves what. */
interface AccessOptions {
  /**
   * The token of the only user, `operator`, who may do everything. Without it and without any other
   * way to authenticate, anyone who reaches the server may, and it listens on loopback only.
   */
  readonly token?: string | undefined;
  /** Who asks, instead of the user of `token`; the first that knows a credential decides. */
  readonly authenticators?: readonly Authenticator[] | undefined;
  /**
   * Front proxies that say who asks, such as the kube-apiserver in front of an APIService. Needs
   * `certificate` and `authorize`.
   *
   * @example
   * ```ts
   * const server = await startApiServer({
   *   kinds: [Fischer],
   *   storage,
   *   address: '0.0.0.0',
   *   port: 8443,
   *   certificate: { cert: readFileSync('tls.crt', 'utf8'), key: readFileSync('tls.key', 'utf8') },
   *   requestHeader: {
   *     ca: readFileSync('requestheader-client-ca.crt', 'utf8'),
   *     allowedNames: ['front-proxy-client'],
   *   },
   *   authorize: subjectAccessReviews(),
   * });
   * ```
   */
  readonly requestHeader?: RequestHeaderOptions | undefined;
  /**
   * The authority of users who have a client certificate: the common name is the user, the
   * organizations are the groups. Needs `certificate` and `authorize`.
   *
   * @example
   * ```ts
   * const server = await startApiServer({
   *   kinds: [Fischer],
   *   storage,
   *   certificate: { cert: readFileSync('tls.crt', 'utf8'), key: readFileSync('tls.key', 'utf8') },
   *   clientCA: { ca: readFileSync('clients.crt', 'utf8') },
   *   authorize: ({ caller }) => ({
   *     allowed: caller.type === 'ClusterUser' && caller.groups.includes('fishers'),
   *     reasons: [],
   *   }),
   * });
   * ```
   */
  readonly clientCA?: ClientAuthority | undefined;
  /**
   * Who may do what. By default everyone who is authenticated may do everything. It may return a
   * promise; an error that is no StatusError is 500, and a request is never permitted by one. It is
   * also asked what a caller might do next, such as whether they may read an object that they change.
   * Actions `discovery` and `health` are documents and health checks, which are the same for everyone:
   * it is asked about them for an anonymous caller, and kubectl needs the first.
   *
   * @example
   * ```ts
   * const server = await startApiServer({
   *   kinds: [Fischer],
   *   storage,
   *   token: 'a-token-of-the-operator',
   *   authorize: async ({ caller, action, name }) => {
   *     const answer = await fetch('https://policy.example.com/decide', {
   *       method: 'POST',
   *       body: JSON.stringify({ caller, action, name }),
   *     });
   *     return { allowed: answer.ok, reasons: [] };
   *   },
   * });
   * ```
   */
  readonly authorize?: Authorize | undefined;
}

/** What others see of a running server. */
interface ObservedOptions {
  /** By default warnings and errors on standard error. */
  readonly log?: Log | undefined;
  /**
   * Receives an event of each answered request but reads of documents, health checks and metrics: an
   * Event of audit.k8s.io/v1 at level Metadata. Mail addresses of users are replaced by their hash.
   *
   * @example
   * ```ts
   * const server = await startApiServer({
   *   kinds: [Fischer],
   *   storage,
   *   audit: { write: (event) => console.log(JSON.stringify(event)) },
   * });
   * ```
   */
  readonly audit?: AuditSink | undefined;
  /**
   * Whether `/metrics` is served, in Prometheus' text format; no by default. `authorize` decides who
   * may read it, as the action `metrics`.
   *
   * @example
   * ```ts
   * const server = await startApiServer({ kinds: [Fischer], storage, metrics: true });
   * ```
   */
  readonly metrics?: boolean | undefined;
  /**
   * Health checks besides those of the server: each is part of `/readyz`, and with `isLiveness` of
   * `/livez`. A check throws the reason if it fails. Names are of lower-case letters, digits and `-`.
   *
   * @example
   * ```ts
   * const server = await startApiServer({
   *   kinds: [Fischer],
   *   storage,
   *   checks: [{ name: 'pond', run: async () => void (await fetch('http://pond.example.com')) }],
   * });
   * ```
   */
  readonly checks?: readonly HealthCheck[] | undefined;
  /**
   * Milliseconds that a stopping server still takes requests while `/readyz` fails, so that a load
   * balancer finds out; 0 by default.
   *
   * @example
   * ```ts
   * const server = await startApiServer({ kinds: [Fischer], storage, shutdownDelayMs: 5_000 });
   * ```
   */
  readonly shutdownDelayMs?: number | undefined;
}
