import { setTimeout as pause } from 'node:timers/promises';
import type { ApiServerMetrics } from '../../../observability/metrics/api-server-metrics.js';
import type { AuthorityChanges } from '../../../registry/authority-changes.js';
import { anonymous } from '../../../registry/caller.js';
import type { Caller } from '../../../registry/kind.js';
import { plainName } from '../../../registry/schema/namespaced-name.js';
import type { Store } from '../../../registry/store/store.js';
import type { Authorization } from '../../chain/authorization.js';
import { requestLabels } from '../../chain/metrics.js';
import { keepOpen } from '../../http/keep-open.js';
import type {
  ApiRequest,
  ApiResponse,
  AuthorizedResourceRequest,
  ResourceRequest,
} from '../../http/message.js';
import type { Encoder } from '../../http/response.js';
import { WatchAuthority } from './watch-authority.js';
import { parseWatchOptions } from './watch-options.js';
import { WatchQuota } from './watch-quota.js';
import { WatchStream } from './watch-stream.js';

const empty = Buffer.alloc(0);

/**
 * Reports whether a request asks for a WebSocket, which is not served. A client that asks for one goes
 * on without it after an answer that is whole; Java's would wait for the end of a stream.
 */
const asksForWebSocket = ({ headers }: ApiRequest): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket';

/** Serves watches: one JSON event a line (docs/design/kubernetes.md#watches). */
export class Watcher {
  readonly #store: Store;
  readonly #authorization: Authorization;
  readonly #encoder: Encoder;
  readonly #reauthorize: (req: ApiRequest) => Promise<AuthorizedResourceRequest>;
  readonly #quota: WatchQuota;
  readonly #streams = new Set<WatchStream>();
  /** Responses that stay open without events. */
  readonly #idle = new Set<{ finish(): void }>();
  readonly #metrics: ApiServerMetrics | undefined;
  readonly #authority: AuthorityChanges | undefined;
  /** When the last change was noticed, as `performance.now()`. */
  #changedAt = performance.now();

  /** `reauthorize` authenticates and authorizes the request of an open watch again. */
  constructor(
    store: Store,
    authorization: Authorization,
    encoder: Encoder,
    reauthorize: (req: ApiRequest) => Promise<AuthorizedResourceRequest>,
    authority?: AuthorityChanges,
    metrics?: ApiServerMetrics,
  ) {
    this.#store = store;
    this.#quota = new WatchQuota(store.settings.limits, store.networkLimits.refusals);
    this.#authorization = authorization;
    this.#encoder = encoder;
    this.#reauthorize = reauthorize;
    this.#metrics = metrics;
    this.#authority = authority;
    authority?.subscribe((concerns) => {
      this.#changedAt = performance.now();
      for (const stream of this.#streams) if (concerns(stream.caller)) stream.invalidate();
    });
  }

  async watch(req: ResourceRequest, res: ApiResponse): Promise<void> {
    const { authorized } = req;
    const options = parseWatchOptions(
      authorized.requestInfo,
      authorized.target ? plainName(authorized.target.name) : authorized.requestInfo.name,
      this.#store.settings.limits.watchTimeout,
    );
    if (asksForWebSocket(req)) return this.#encoder.send(req, res, 200, empty);
    const release = this.#quota.acquire(authorized.caller, req.network);
    const labels = requestLabels(authorized.requestInfo, req.method);
    this.#metrics?.initializeWatchSeries(labels);
    this.#metrics?.longrunningRequests.inc(labels);
    try {
      this.#encoder.begin(req, res, 200);
      const stream = new WatchStream(
        this.#store,
        this.#authorization,
        authorized,
        options,
        res,
        new WatchAuthority(
          () => this.#callerNow(req),
          authorized.caller,
          this.#authority,
          req.receivedAt > this.#changedAt,
        ),
        this.#metrics,
      );
      this.#streams.add(stream);
      await stream.run().finally(() => this.#streams.delete(stream));
    } finally {
      release();
      this.#metrics?.longrunningRequests.dec(labels);
    }
  }

  /** Ends all streams cleanly, over up to five seconds, so that clients do not return at once. */
  stop(): Promise<void> {
    return this.#endStreams([...this.#streams, ...this.#idle], 5_000);
  }

  /**
   * Ends the streams of kinds of pages with a `decorate` hook, over up to a second: the policy changed what
   * a GET shows.
   */
  endDecoratedWatches(): void {
    void this.#endStreams(
      [...this.#streams].filter(({ hasDecoration }) => hasDecoration),
      1_000,
    );
  }

  /**
   * Begins the response to a watch of what never changes, sends `events` and ends it after
   * `timeoutMs`. Throws 429 if too many watches are open.
   */
  async idle(
    req: ApiRequest,
    res: ApiResponse,
    events: readonly object[],
    timeoutMs: number,
  ): Promise<void> {
    if (asksForWebSocket(req)) return this.#encoder.send(req, res, 200, empty);
    const release = this.#quota.acquire(req.caller ?? anonymous, req.network);
    this.#encoder.begin(req, res, 200);
    const restore = keepOpen(req.socket);
    for (const event of events) res.write(`${JSON.stringify(event)}\n`);
    await new Promise<void>((finish) => {
      const stream = { finish };
      this.#idle.add(stream);
      const timer = setTimeout(finish, timeoutMs);
      res.once('close', () => {
        clearTimeout(timer);
        this.#idle.delete(stream);
        release();
        finish();
      });
    });
    restore();
    res.end();
  }

  async #endStreams(all: readonly { finish(): void }[], maxSpreadMs: number): Promise<void> {
    const spread = Math.min(maxSpreadMs, all.length * 10);
    await Promise.all(
      all.map(async (stream, i) => {
        await pause(spread * (i / all.length));
        stream.finish();
      }),
    );
  }

  /** Returns the caller if the request is still authorized, as the same caller for the same range. */
  async #callerNow(req: ResourceRequest): Promise<Caller | undefined> {
    const { caller, owner } = req.authorized;
    const current = await this.#reauthorize(req).catch(() => undefined);
    return current && identity(current.caller, current.owner) === identity(caller, owner)
      ? current.caller
      : undefined;
  }
}

/** Returns equal texts for equal callers, whenever their sessions end. */
const identity = (caller: Caller, owner: string | undefined): string =>
  JSON.stringify([{ ...caller, expires: undefined }, owner]);
