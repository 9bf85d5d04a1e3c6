import type { AddressInfo } from 'node:net';
import { withSpan } from '../observability/tracer.js';
import type { Authenticator } from '../registry/authenticator.js';
import type { AuthorityChanges } from '../registry/authority-changes.js';
import type { Authorizer } from '../registry/authorizer.js';
import type { Ports } from '../registry/kind.js';
import type { NetworkLimits } from '../registry/limits/network-limits.js';
import {
  internalError,
  noSuchPath,
  StatusError,
  unauthorized,
  unsupportedEncoding,
} from '../registry/status/status.js';
import type { Store } from '../registry/store/store.js';
import type { CidrList } from '../security/cidr-list.js';
import { showRefusal } from '../security/cross-origin.js';
import { AccessLog, type AccessLogParts } from './chain/access-log.js';
import { assignAuditID } from './chain/assign-audit-id.js';
import { Authentication, boundName } from './chain/authentication.js';
import { Authorization } from './chain/authorization.js';
import { originOf } from './chain/authorization-attributes.js';
import { checkOrigin } from './chain/cross-site.js';
import { startDeadline } from './chain/deadline.js';
import { InFlight, type InFlightLimits } from './chain/max-in-flight.js';
import { checkMessageSyntax } from './chain/message-syntax.js';
import { type AllowedHost, checkHost } from './chain/own-host.js';
import { checkQuery, readRequestInfo } from './chain/read-request.js';
import { refuseUntilReady } from './chain/readiness.js';
import { type Step, stepsOf } from './chain/step.js';
import { withinSpan } from './chain/tracing.js';
import type { ApiDescription } from './discovery/api-description.js';
import type { SpendBudget } from './handlers/body-reader.js';
import { Watcher } from './handlers/watch/watch.js';
import { Health, type HealthCheck } from './health.js';
import { prepareRefusal } from './http/body.js';
import { fromLibrary } from './http/library-error.js';
import { MemoryGuard } from './http/memory-guard.js';
import {
  ApiRequest,
  ApiResponse,
  type AuthorizedResourceRequest,
  type ParsedRequest,
  type PermittedRequest,
  type ResourceRequest,
} from './http/message.js';
import { pageOfRefused, pageRedirect } from './http/page-redirect.js';
import { Encoder } from './http/response.js';
import { Listener, lingerUntil, type ServingCertificate } from './listener.js';
import { ApiPaths } from './request/api-paths.js';
import { parseRequest, type ResourceRequestInfo } from './request/request-info.js';
import { RequestHeaderAuthenticator } from './requestheader/authenticator.js';
import { ClientCertificates } from './requestheader/client-certificates.js';
import type { AuthoritySource, TrustSource } from './requestheader/trust.js';
import { type Api, createApi } from './router.js';
import { isPageVisit, type Pages } from './static-pages.js';

/** The dependencies of the server; what wires it provides them. */
interface ServerDependencies extends AccessLogParts {
  readonly store: Store;
  readonly baseURL: string;
  /**
   * The only host that is served, apart from health checks and front proxies; any host if unset.
   */
  readonly allowedHost?: AllowedHost | undefined;
  readonly release: string;
  /** What the OpenAPI documents say of the API. */
  readonly description: ApiDescription;
  readonly authenticators: readonly Authenticator[];
  /** Trusted front proxies. Identity headers are ignored when unset. */
  readonly proxyTrust?: TrustSource;
  /** The authorities of users with a client certificate; certificates name no one when unset. */
  readonly clientAuthorities?: AuthoritySource;
  readonly authorizer: Authorizer;
  /** The ports of the kinds for a request; none by default. */
  readonly ports?: (req: ApiRequest, res: ApiResponse) => Ports;
  readonly limits: NetworkLimits;
  /** Counts changes with a body; by default they are not. */
  readonly spendBudget?: SpendBudget;
  /** When what open watches were permitted by changes; without it they are checked at intervals. */
  readonly authority?: AuthorityChanges;
  /** Health checks besides those of the server itself. */
  readonly checks?: readonly HealthCheck[];
  /** Whether `metrics` are served at `/metrics` to those whom the authorizer permits. */
  readonly servesMetrics?: boolean;
  /** The pages and their files; without them their paths are 404. */
  readonly pages?: Pages;
  /**
   * Serves the OpenID Connect endpoints; returns the name of the Client for the log. Without it
   * their paths are 404.
   */
  readonly provider?: (req: ApiRequest, res: ApiResponse) => Promise<string | undefined>;
  /** Renders the error page for browsers outside the API, which get a Status without it. */
  readonly errorPage?: (status: number, auditID: string, request: ApiRequest) => string;
  /** The networks of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies?: CidrList;
  readonly maxInFlight?: InFlightLimits;
}

/** The HTTP server: the request chain, start and stop. */
export class Server {
  readonly #parts: ServerDependencies;
  readonly #paths: ApiPaths;
  readonly #encoder: Encoder;
  readonly #frontProxy: RequestHeaderAuthenticator;
  readonly #accessLog: AccessLog;
  readonly #authentication: Authentication;
  readonly #authorization: Authorization;
  readonly #health: Health;
  readonly #pages: Pages | undefined;
  readonly #watcher: Watcher;
  readonly #api: Api;
  readonly #chain: readonly Step[];
  /** How many steps at the start of the chain decide whether the message is what it says. */
  readonly #messageStepCount: number;
  readonly #listeners: Listener[] = [];
  readonly #inFlight: InFlight;
  /** Refuses watches and large bodies when memory is short. */
  readonly memory: MemoryGuard;
  #isReady = false;
  #isStopping = false;

  constructor(parts: ServerDependencies) {
    this.#parts = parts;
    this.#paths = new ApiPaths(
      parts.store.registry,
      parts.description.documents?.map(({ name }) => name),
      parts.servesMetrics,
    );
    this.memory = new MemoryGuard(parts.store.settings.limits, parts.metrics?.memoryRefused);
    this.#inFlight = new InFlight(this.memory, parts.maxInFlight);
    this.#encoder = new Encoder(parts.baseURL);
    this.#frontProxy = new RequestHeaderAuthenticator(parts.proxyTrust, parts.log);
    this.#accessLog = new AccessLog(parts, this.#frontProxy, parts.store.registry.group);
    this.#authentication = new Authentication(
      parts.authenticators,
      this.#frontProxy,
      new ClientCertificates(parts.clientAuthorities),
      parts.metrics?.authenticationAttempts,
    );
    this.#authorization = new Authorization(parts.store, parts.authorizer);
    this.#health = new Health(
      [
        { name: 'ping', isLiveness: true, run() {} },
        ...(parts.checks ?? []),
        {
          name: 'startup',
          run: () => {
            if (!this.#isReady) throw new Error('the service is starting');
          },
        },
        {
          name: 'shutdown',
          run: () => {
            if (this.#isStopping) throw new Error('the service is stopping');
          },
        },
      ],
      this.#encoder,
    );
    this.#pages = parts.pages;
    this.#watcher = new Watcher(
      parts.store,
      this.#authorization,
      this.#encoder,
      (req) => this.#reauthorize(req),
      parts.authority,
      parts.metrics,
    );
    this.#api = createApi({
      ...parts,
      ports: parts.ports ?? (() => ({}) as Ports),
      registry: parts.store.registry,
      paths: this.#paths,
      authorization: this.#authorization,
      encoder: this.#encoder,
      watcher: this.#watcher,
    });
    const message = this.#messageChain(parts);
    this.#messageStepCount = message.length;
    this.#chain = [...message, ...this.#requestChain(parts)];
  }

  /**
   * The first steps of every request. After an answer that one of them gives, where the message ends
   * is not sure, or for whom it is: the connection closes, and nothing else on it runs.
   */
  #messageChain(parts: ServerDependencies): readonly Step[] {
    return [
      assignAuditID(parts.trustedProxies, () => this.#isStopping),
      (req, res) => this.#frontProxy.takeIdentityHeaders(req, res),
      checkMessageSyntax,
      checkHost(parts.allowedHost),
    ];
  }

  /** The other steps of every request, in the order in which they run. */
  #requestChain(parts: ServerDependencies): readonly Step[] {
    return [
      readRequestInfo(parts.store.registry, this.#paths),
      ...stepsOf<ParsedRequest>(
        refuseUntilReady(() => this.#isReady),
        checkOrigin(parts.baseURL),
        this.#authentication.step,
        this.#authorization.step,
        checkQuery,
        startDeadline((req, res, error) => this.#fail(req, res, error)),
        this.#inFlight.step,
      ),
      ...stepsOf<PermittedRequest>(this.#dispatch),
    ];
  }

  /** The requests in flight, without watches and health checks. */
  get inFlight(): InFlightLimits {
    return this.#inFlight;
  }

  /** Returns the outcome of each health check by path. */
  checks(): ReturnType<Health['outcomes']> {
    return this.#health.outcomes();
  }

  /** Ends watches whose representation depends on the policy, so that clients read again. */
  endDecoratedWatches(): void {
    this.#watcher.endDecoratedWatches();
  }

  /**
   * Listens on one more port, with TLS if `certificate` is given. Until `ready`, every request except
   * a health check is 503, and /readyz fails.
   */
  listen(port: number, address: string, certificate?: ServingCertificate): Promise<AddressInfo> {
    const { limits } = this.#parts.store.settings;
    const { proxyTrust, clientAuthorities } = this.#parts;
    const listener = new Listener(
      {
        serve: (req, res) =>
          void withinSpan(req, this.#parts.trustedProxies, () => this.#serve(req, res)),
        unread: (socket, refusal) => this.#accessLog.unread(socket, refusal),
      },
      { maxHeaderBytes: limits.requestHeaderSize, timeoutMs: limits.requestTimeout },
      certificate,
      [proxyTrust, clientAuthorities].filter((source) => source !== undefined),
    );
    this.#listeners.push(listener);
    return listener.listen(port, address);
  }

  ready(): void {
    this.#isReady = true;
  }

  /**
   * Fails readiness at once, gives requests in flight ten seconds and ends watches cleanly, all
   * within 25 s plus the delay (docs/design/operations.md#start-and-stop). Keeps idle connections
   * open for 1 s after watches end: a proxy may already have sent its next request on one, and
   * would fail it.
   */
  async stop(options: { delayMs?: number } = {}): Promise<void> {
    this.#isStopping = true;
    await new Promise((resolve) => setTimeout(resolve, options.delayMs ?? 0));
    const closed = Promise.all(this.#listeners.map((listener) => listener.close()));
    const closeConnections = (which: 'idle' | 'all') => {
      for (const listener of this.#listeners) listener.closeConnections(which);
    };
    await this.#watcher.stop();
    await lingerUntil(closed);
    closeConnections('idle');
    const late = setTimeout(closeConnections, 10_000, 'all');
    const idle = setInterval(closeConnections, 50, 'idle');
    await closed;
    clearTimeout(late);
    clearInterval(idle);
  }

  async #serve(req: ApiRequest, res: ApiResponse): Promise<void> {
    const startedAt = this.#parts.audit ? Date.now() : 0;
    let index = 0;
    try {
      // By index: an iterator would allocate for each step.
      for (; index < this.#chain.length; index++) {
        const pending = this.#chain[index]?.(req, res);
        if (pending) await pending;
      }
    } catch (error) {
      if (index < this.#messageStepCount) res.shouldKeepAlive = false;
      this.#fail(req, res, error);
    } finally {
      clearTimeout(req.deadline);
      this.#accessLog.record(req, res, performance.now() - req.receivedAt, startedAt);
    }
  }

  /** Authenticates and authorizes the request of an open watch again. */
  async #reauthorize(req: ApiRequest): Promise<AuthorizedResourceRequest> {
    const { registry } = this.#parts.store;
    const requestInfo = parseRequest(req, registry, this.#paths) as ResourceRequestInfo;
    if (this.#isStopping) throw unauthorized();
    req.caller = await this.#authentication.caller(req, boundName(requestInfo), true);
    return this.#authorization.authorize(requestInfo, req.caller, originOf(req), {
      isUnrecorded: true,
    });
  }

  /** Answers a request that passed every step. */
  readonly #dispatch: Step<PermittedRequest> = (req, res) => {
    const { requestInfo } = req.authorized;
    switch (requestInfo.type) {
      case 'health':
        return this.#health.respond(
          req,
          res,
          requestInfo.path,
          new URLSearchParams(req.url.split('?')[1]),
        );
      case 'metrics':
        return this.#sendMetrics(req, res);
      case 'provider':
        return this.#provider(req, res);
      case 'page':
        return this.#pageFiles().page(req, res, requestInfo.path);
      case 'asset':
        return this.#pageFiles().asset(req, res, requestInfo.path);
      case 'resource':
        return this.#api.resource(req as ResourceRequest, res);
      default:
        return this.#route(req, res);
    }
  };

  async #sendMetrics(req: ApiRequest, res: ApiResponse): Promise<void> {
    const { metrics } = this.#parts;
    if (!metrics) throw noSuchPath();
    const headers = ['Cache-Control', 'no-store', 'Content-Type', metrics.contentType];
    this.#encoder.send(req, res, 200, Buffer.from(await metrics.text()), headers);
  }

  #pageFiles(): Pages {
    if (!this.#pages) throw noSuchPath();
    return this.#pages;
  }

  async #provider(req: ApiRequest, res: ApiResponse): Promise<void> {
    const { provider } = this.#parts;
    if (!provider) throw noSuchPath();
    if (req.headers['content-encoding'] !== undefined) throw unsupportedEncoding();
    req.clientName = await withSpan('provider', () => provider(req, res));
  }

  #route(req: ApiRequest, res: ApiResponse): Promise<void> {
    return new Promise((resolve) => {
      res.once('close', resolve);
      this.#api.route(req, res, (error) => {
        this.#fail(req, res, error ?? internalError());
        resolve();
      });
    });
  }

  /**
   * Sends one response for any error. Errors other than StatusError are logged with the Audit-ID.
   */
  #fail(req: ApiRequest, res: ApiResponse, thrown: unknown): void {
    const error = asRequested(req, fromLibrary(thrown));
    if (error instanceof StatusError) {
      req.refusal = error.decision;
    } else {
      this.#parts.log.error({ err: error, auditID: req.auditID }, 'internal error');
    }
    if (res.writableEnded) return;
    if (res.headersSent) return void req.socket.destroy();
    prepareRefusal(req, res);
    if (this.#parts.provider) showRefusal(req, res);
    if (error instanceof StatusError && error.headers.Connection === 'close') {
      res.shouldKeepAlive = false;
    }
    const { pages, errorPage } = this.#parts;
    const refusedPage = pages && pageOfRefused(req);
    if (refusedPage !== undefined) {
      return void this.#encoder.send(req, res, 303, Buffer.alloc(0), pageRedirect(refusedPage));
    }
    if (pages && errorPage && isPageVisit(req)) {
      const status = error instanceof StatusError ? error : internalError();
      pages.error(req, res, status, errorPage(status.code, req.auditID, req));
    } else {
      this.#encoder.error(req, res, error);
    }
  }
}

/** Returns an error with the fields as the version of the request has them. */
function asRequested({ requestInfo }: ApiRequest, error: unknown): unknown {
  const names = requestInfo?.type === 'resource' ? requestInfo.view.names : undefined;
  return names && error instanceof StatusError && !error.hasFieldsAsSent
    ? error.withFields((path) => names.path(path))
    : error;
}
