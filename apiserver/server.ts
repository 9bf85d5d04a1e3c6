import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { AddressList } from '../security/cidr-list.js';
import type { Authenticator } from '../registry/authenticator.js';
import type { Authorize } from '../registry/authorizer.js';
import type { Caller, Ports } from '../registry/kind.js';
import type { NetworkLimits } from '../registry/network-limits.js';
import { internalError, StatusError, unauthorized, unavailable } from '../registry/status.js';
import { siteOf } from '../security/fetch-metadata.js';
import type { Store } from '../registry/store.js';
import { traced } from '../observability/tracer.js';
import { Admission } from './chain/authorization.js';
import { AccessLog, type AccessLogParts } from './chain/access-log.js';
import { Authentication, impersonates } from './chain/authentication.js';
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
import { clientNetwork } from './http/client-network.js';
import { FrontProxy } from './requestheader/authenticator.js';
import type { TrustSource } from './requestheader/trust.js';
import { refuseOtherHost } from './chain/own-host.js';
import { rawValues } from './http/headers.js';
import { exemptFromOrigin, refuseCrossSite } from './chain/cross-site.js';
import { isVisit, type Pages } from './static-pages.js';
import { refuseMalformed } from './codec/query.js';
import { parseRequest, type OtherAsk, type ResourceAsk } from './request/request-info.js';
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
  readonly #listeners: Listener[] = [];
  readonly #inflight: InFlight;
  /** Refuses watches and large bodies while memory is short. */
  readonly memory: MemoryGuard;
  #ready = false;
  #stopping = false;

  constructor(parts: ServerParts) {
    this.#parts = parts;
    this.#inflight = new InFlight(parts.inflight);
    this.memory = new MemoryGuard(parts.store.settings.limits);
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
   * everything but /livez is 503.
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
   * Unready at once, requests in flight get ten seconds, watches end cleanly; all within 25 s
   * (`operations.md` 4). A connection whose watch has ended is the one that a proxy takes for its
   * next request, and what is sent while it is hung up on fails there for good where it may not be
   * repeated: so connections are left alone for a second more, in which such a request is answered,
   * with the word that the connection is closed.
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

  /**
   * The chain: what is asked, from our own page, who asks, may they; then whoever answers
   * (`house.md`, One request).
   */
  async #serve(req: Req, res: Res): Promise<void> {
    const began = performance.now();
    const at = this.#parts.audit ? Date.now() : 0;
    const fields = req.rawHeaders.length / 2;
    let deadline: NodeJS.Timeout | undefined;
    try {
      this.#frontProxy.receive(req);
      this.#identify(req, res);
      this.#refuseOddMessage(req, fields);
      const ask = parseRequest(req, this.#parts.store.registry);
      req.ask = ask;
      if (!this.#ready && ask.type !== 'health') throw unavailable('starting');
      if (ask.type !== 'provider' || !exemptFromOrigin(ask.path))
        refuseCrossSite(
          req,
          this.#parts.baseURL,
          ask.type === 'resource' || ask.type === 'discovery' || ask.type === 'review',
        );
      if (this.#parts.ownHost && ask.type !== 'health' && !req.claim)
        refuseOtherHost(req.headers.host, this.#parts.ownHost);
      const admitted = this.#admit(req, ask);
      req.admitted = admitted instanceof Promise ? await admitted : admitted;
      refuseMalformed(ask);
      deadline = startDeadline(req, res, ask, (...failed) => this.#fail(...failed));
      this.#bound(req, res, ask);
      const answering = this.#answer(req, res, req.admitted);
      if (answering) await answering;
    } catch (error) {
      this.#fail(req, res, error);
    } finally {
      clearTimeout(deadline);
      this.#accessLog.record(req, res, performance.now() - began, at);
    }
  }

  #identify(req: Req, res: Res): void {
    const given = req.headers['audit-id'];
    req.auditID =
      typeof given === 'string' && /^[A-Za-z0-9-]{1,64}$/.test(given) ? given : randomUUID();
    req.network = clientNetwork(req, this.#parts.trustedProxies);
    if (this.#stopping || req.headers.upgrade !== undefined) res.shouldKeepAlive = false;
  }

  /**
   * Message syntax: whatever is unclear is refused and the connection closed (`security.md` 1.1).
   */
  #refuseOddMessage(req: Req, fields: number): void {
    const refuse = (message: string): never => {
      throw new StatusError('BadRequest', message, undefined, { Connection: 'close' });
    };
    if (!req.url!.startsWith('/')) refuse('the request target must be a path');
    if (fields > 200)
      throw new StatusError(
        'RequestHeaderFieldsTooLarge',
        'there are more than 200 header fields',
        undefined,
        { Connection: 'close' },
      );
    if (
      (req.headers.host === undefined && req.httpVersion === '1.1') ||
      rawValues(req, 'host').length > 1
    )
      refuse('one Host header is needed');
    if (!['chunked', undefined].includes(req.headers['transfer-encoding']?.toLowerCase()))
      refuse('the transfer encoding is not served');
    if (req.httpVersion !== '1.1' && req.httpVersion !== '1.0') refuse('only HTTP/1.1 is served');
    if (req.headers.expect !== undefined && req.httpVersion === '1.1' && !req.welcome)
      refuse('the expectation cannot be met');
  }

  #admit(req: Req, ask: ResourceAsk | OtherAsk, quiet = false): Admitted | Promise<Admitted> {
    if (ask.type !== 'resource') return this.#admitOther(req, ask);
    const caller = this.#authentication.caller(req, ask.kind.bound ? ask.name : undefined, quiet);
    return caller instanceof Promise
      ? caller.then((known) => this.#admitAs(req, ask, known, quiet))
      : this.#admitAs(req, ask, caller, quiet);
  }

  #admitAs(
    req: Req,
    ask: ResourceAsk,
    caller: Caller,
    quiet: boolean,
  ): Admitted | Promise<Admitted> {
    req.caller = caller;
    return this.#admission.admit(ask, caller, siteOf(req), quiet);
  }

  /**
   * A bad token is never "nobody", whatever it comes with; the provider judges its own, and health
   * stays open (`kubernetes.md` 7).
   */
  async #admitOther(req: Req, ask: OtherAsk): Promise<Admitted> {
    const judged =
      ask.type !== 'health' &&
      ask.type !== 'provider' &&
      (ask.type === 'review' || req.headers.authorization !== undefined || impersonates(req));
    const caller = judged ? await this.#authentication.caller(req, undefined) : undefined;
    req.caller = caller;
    const admitted = this.#admission.admitOther(ask, siteOf(req));
    return ask.type === 'review' ? { ...admitted, caller: caller! } : admitted;
  }

  /** Who sent an old request, and whether it may stay: for watches. */
  async #again(req: Req): Promise<Admitted> {
    const ask = parseRequest(req, this.#parts.store.registry) as ResourceAsk;
    if (this.#stopping) throw unauthorized();
    return this.#admit(req, ask, true);
  }

  /**
   * Requests in flight are bounded, the provider's and pages' included, watches and health apart
   * (`operations.md` 2).
   */
  #bound(req: Req, res: Res, ask: ResourceAsk | OtherAsk): void {
    if (ask.type === 'health') return;
    if (ask.type === 'resource' && ask.verb === 'watch') return this.memory.refuseWatch();
    this.memory.refuseBody(Number(req.headers['content-length'] ?? 0));
    req.memory = this.memory;
    this.#inflight.enter(req, res);
  }

  #answer(req: Req, res: Res, { ask }: Admitted): void | Promise<void> {
    switch (ask.type) {
      case 'health':
        return this.#health.answer(
          req,
          res,
          ask.path,
          new URLSearchParams(req.url!.split('?')[1] ?? ''),
        );
      case 'provider':
        if (req.headers['content-encoding'] !== undefined)
          throw new StatusError('UnsupportedMediaType', 'encoded bodies are not accepted');
        return traced('provider', () => this.#parts.provider(req, res)).then((name) => {
          req.clientName = name;
        });
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
