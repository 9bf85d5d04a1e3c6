import type { AddressInfo } from 'node:net';
import type { AddressList } from '../security/cidr-list.js';
import type { Authenticator } from '../registry/authenticator.js';
import type { Authorize } from '../registry/authorizer.js';
import type { Ports } from '../registry/kind.js';
import type { NetworkLimits } from '../registry/network-limits.js';
import { internalError, StatusError, unauthorized } from '../registry/status.js';
import { siteOf } from '../security/fetch-metadata.js';
import type { Store } from '../registry/store.js';
import { traced } from '../observability/tracer.js';
import { Admission } from './chain/authorization.js';
import { AccessLog, type AccessLogParts } from './chain/access-log.js';
import { Authentication, boundName } from './chain/authentication.js';
import { identify } from './chain/identify.js';
import { checkMessageSyntax } from './chain/message-syntax.js';
import { refuseUntilReady } from './chain/readiness.js';
import { checkQuery, readRequestInfo } from './chain/request-info.js';
import type { Step } from './chain/step.js';
import { createApi, type Api } from './router.js';
import { refuseBody } from './http/body.js';
import { Req, Res, type Admitted } from './http/message.js';
import { startDeadline } from './chain/deadline.js';
import { Encoder } from './http/response.js';
import { Health, type Check } from './health.js';
import { InFlight, type Bounds } from './chain/max-in-flight.js';
import { fromLibrary } from './http/library-error.js';
import { lingered, Listener, type Identity } from './listener.js';
import { MemoryGuard } from './http/memory-guard.js';
import { FrontProxy } from './requestheader/authenticator.js';
import type { TrustSource } from './requestheader/trust.js';
import { checkHost } from './chain/own-host.js';
import { checkOrigin } from './chain/cross-site.js';
import { isVisit, type Pages } from './static-pages.js';
import { parseRequest, type ResourceAsk } from './request/request-info.js';
import { withinSpan } from './chain/tracing.js';
import { Watcher } from './handlers/watch.js';

/** What cmd/vestibule/main.ts puts together. */
interface ServerParts extends AccessLogParts {
  readonly store: Store;
  readonly baseURL: string;
  /**
   * The only host whose requests are answered, beside health and what a front proxy sends; any
   * where absent.
   */
  readonly ownHost?: URL | undefined;
  readonly release: string;
  readonly authenticators: readonly Authenticator[];
  /** Whose word about callers counts; nobody's where there is none. */
  readonly proxyTrust?: TrustSource;
  readonly authorize: Authorize;
  readonly ports: (req: Req, res: Res) => Ports;
  readonly limits: NetworkLimits;
  readonly checks: readonly Check[];
  readonly pages: Pages;
  /**
   * The OpenID Connect provider's own paths; the name of the Client that a request was about, for
   * the log.
   */
  readonly provider: (req: Req, res: Res) => Promise<string | undefined>;
  /** The page a person sees in place of a Status, outside the API. */
  readonly errorPage: (status: number, auditID: string) => string;
  /** Networks whose `X-Forwarded-For` counts. */
  readonly trustedProxies?: AddressList;
  readonly inflight?: Bounds;
}

/** The HTTP server: the whole chain of a request, and its life. */
export class Server {
  readonly #parts: ServerParts;
  readonly #encoder: Encoder;
  readonly #frontProxy: FrontProxy;
  readonly #accessLog: AccessLog;
  readonly #authentication: Authentication;
  readonly #admission: Admission;
  readonly #health: Health;
  readonly #pages: Pages;
  readonly #watcher: Watcher;
  readonly #api: Api;
  readonly #chain: readonly Step[];
  readonly #listeners: Listener[] = [];
  readonly #inflight: InFlight;
  /** Refuses watches and large bodies while memory is short. */
  readonly memory: MemoryGuard;
  #ready = false;
  #stopping = false;

  constructor(parts: ServerParts) {
    this.#parts = parts;
    this.memory = new MemoryGuard(parts.store.settings.limits);
    this.#inflight = new InFlight(this.memory, parts.inflight);
    this.#encoder = new Encoder(parts.baseURL);
    this.#frontProxy = new FrontProxy(parts.proxyTrust, parts.log);
    this.#accessLog = new AccessLog(parts, this.#frontProxy);
    this.#authentication = new Authentication(
      parts.authenticators,
      this.#frontProxy,
      parts.meter?.authentications,
    );
    this.#admission = new Admission(parts.store, parts.authorize);
    this.#health = new Health(
      [
        { name: 'ping', live: true, run() {} },
        ...parts.checks,
        {
          name: 'startup',
          run: () => {
            if (!this.#ready) throw new Error('starting');
          },
        },
        {
          name: 'shutdown',
          run: () => {
            if (this.#stopping) throw new Error('stopping');
          },
        },
      ],
      this.#encoder,
    );
    this.#pages = parts.pages;
    this.#watcher = new Watcher(
      parts.store,
      this.#admission,
      this.#encoder,
      (req) => this.#again(req),
      parts.meter,
    );
    this.#api = createApi({
      ...parts,
      registry: parts.store.registry,
      admission: this.#admission,
      encoder: this.#encoder,
      watcher: this.#watcher,
    });
    this.#chain = this.#chainOf(parts);
  }

  /** The steps of every request, in the order in which they run. */
  #chainOf(parts: ServerParts): readonly Step[] {
    return [
      identify(parts.trustedProxies, () => this.#stopping),
      (req) => this.#frontProxy.receive(req),
      checkMessageSyntax,
      readRequestInfo(parts.store.registry),
      refuseUntilReady(() => this.#ready),
      checkOrigin(parts.baseURL),
      checkHost(parts.ownHost),
      this.#authentication.step,
      this.#admission.step,
      checkQuery,
      startDeadline((...failed) => this.#fail(...failed)),
      this.#inflight.step,
      this.#answer,
    ];
  }

  /** Requests being answered now, watches and health apart. */
  get inflight(): Bounds {
    return this.#inflight;
  }

  /** What each check says now, by the path that asks it. */
  checks(): ReturnType<Health['outcomes']> {
    return this.#health.outcomes();
  }

  get stylesheet(): string {
    return this.#pages.stylesheet;
  }

  /**
   * Another policy has come into force: watches whose objects are shown as policy sees them end, so
   * that they are read anew.
   */
  renewViews(): void {
    this.#watcher.renewViews();
  }

  /**
   * Begins to listen on one more port, by TLS where there is an identity to prove; until `ready`
   * everything but health checks is 503, and /readyz fails.
   */
  listen(port: number, address: string, identity?: Identity): Promise<AddressInfo> {
    const { limits } = this.#parts.store.settings;
    const listener = new Listener(
      {
        serve: (req, res) =>
          void withinSpan(req, this.#parts.trustedProxies, () => this.#serve(req, res)),
        unread: (socket, refusal) => this.#accessLog.unread(socket, refusal),
      },
      { headerSize: limits.requestHeaderSize, timeout: limits.requestTimeout },
      identity,
      this.#parts.proxyTrust,
    );
    this.#listeners.push(listener);
    return listener.listen(port, address);
  }

  ready(): void {
    this.#ready = true;
  }

  /**
   * Unready at once, requests in flight get ten seconds, watches end cleanly; all within 25 s and
   * the delay (docs/design/operations.md#start-and-stop). A connection whose watch has ended is the
   * one that a proxy takes for its next request, and what is sent while it is hung up on fails
   * there for good where it may not be repeated: so connections are left alone for a second more,
   * in which such a request is answered, with the word that the connection is closed.
   */
  async stop(options: { delay?: number } = {}): Promise<void> {
    this.#stopping = true;
    await new Promise((resolve) => setTimeout(resolve, options.delay ?? 0));
    const closed = Promise.all(this.#listeners.map((one) => one.close()));
    const hangUp = (which: 'idle' | 'all') => {
      for (const one of this.#listeners) one.hangUp(which);
    };
    await this.#watcher.stop();
    await lingered(closed);
    hangUp('idle');
    const late = setTimeout(hangUp, 10_000, 'all');
    const idle = setInterval(hangUp, 50, 'idle');
    await closed;
    clearTimeout(late);
    clearInterval(idle);
  }

  async #serve(req: Req, res: Res): Promise<void> {
    const began = performance.now();
    const at = this.#parts.audit ? Date.now() : 0;
    try {
      for (const step of this.#chain) {
        const pending = step(req, res);
        if (pending) await pending;
      }
    } catch (error) {
      this.#fail(req, res, error);
    } finally {
      clearTimeout(req.deadline);
      this.#accessLog.record(req, res, performance.now() - began, at);
    }
  }

  /** Who sent an old request, and whether it may stay: for watches. */
  async #again(req: Req): Promise<Admitted> {
    const ask = parseRequest(req, this.#parts.store.registry) as ResourceAsk;
    if (this.#stopping) throw unauthorized();
    req.caller = await this.#authentication.caller(req, boundName(ask), true);
    return this.#admission.admit(ask, req.caller, siteOf(req), true);
  }

  /** Answers a request that every step let pass. */
  readonly #answer: Step = (req, res) => {
    const { ask } = req.admitted!;
    switch (ask.type) {
      case 'health':
        return this.#health.answer(req, res, ask.path, new URLSearchParams(req.url!.split('?')[1]));
      case 'provider':
        return this.#provider(req, res);
      case 'page':
        return this.#pages.page(req, res, ask.path);
      case 'asset':
        return this.#pages.asset(req, res, ask.path);
      case 'resource':
        return ask.verb === 'watch' || (ask.name === undefined && ask.verb !== 'list')
          ? this.#route(req, res)
          : this.#api.object(req, res);
      default:
        return this.#route(req, res);
    }
  };

  async #provider(req: Req, res: Res): Promise<void> {
    if (req.headers['content-encoding'] !== undefined)
      throw new StatusError('UnsupportedMediaType', 'encoded bodies are not accepted');
    req.clientName = await traced('provider', () => this.#parts.provider(req, res));
  }

  #route(req: Req, res: Res): Promise<void> {
    return new Promise((resolve) => {
      res.once('close', resolve);
      this.#api.route(req, res, (error) => {
        this.#fail(req, res, error ?? internalError());
        resolve();
      });
    });
  }

  /**
   * One answer for whatever was thrown; what is not a StatusError is logged once, with the
   * Audit-ID.
   */
  #fail(req: Req, res: Res, thrown: unknown): void {
    const error = fromLibrary(thrown);
    if (error instanceof StatusError) req.refusal = error.decision;
    else this.#parts.log.error({ err: error, auditID: req.auditID }, 'internal error');
    if (res.writableEnded) return;
    if (res.headersSent) return void req.socket.destroy();
    refuseBody(req, res);
    if (error instanceof StatusError && error.headers.Connection === 'close')
      res.shouldKeepAlive = false;
    if (isVisit(req)) {
      const status = error instanceof StatusError ? error : internalError();
      this.#pages.error(req, res, status, this.#parts.errorPage(status.code, req.auditID));
    } else this.#encoder.error(req, res, error);
  }
}
