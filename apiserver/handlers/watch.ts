import { setTimeout as pause } from 'node:timers/promises';
import type { Store } from '../../registry/store.js';
import type { Authorization } from '../chain/authorization.js';
import type { AuthorizedRequest, ApiRequest, ApiResponse } from '../http/message.js';
import type { Encoder } from '../http/response.js';
import { requestLabels } from '../chain/metrics.js';
import type { Metrics } from '../../observability/metrics/metrics.js';
import { WatchQuota } from './watch-quota.js';
import type { ResourceRequestInfo } from '../request/request-info.js';
import { parseWatchOptions } from './watch-options.js';
import { WatchStream } from './watch-stream.js';

/** Serves watches: one JSON event a line (docs/design/kubernetes.md#watches). */
export class Watcher {
  readonly #store: Store;
  readonly #authorization: Authorization;
  readonly #encoder: Encoder;
  readonly #reauthorize: (req: ApiRequest) => Promise<AuthorizedRequest>;
  readonly #quota: WatchQuota;
  readonly #streams = new Set<WatchStream>();
  readonly #metrics: Metrics | undefined;

  /** `reauthorize` authenticates and authorizes the request of an open watch again. */
  constructor(
    store: Store,
    authorization: Authorization,
    encoder: Encoder,
    reauthorize: (req: ApiRequest) => Promise<AuthorizedRequest>,
    metrics?: Metrics,
  ) {
    this.#store = store;
    this.#quota = new WatchQuota(store.settings.limits);
    this.#authorization = authorization;
    this.#encoder = encoder;
    this.#reauthorize = reauthorize;
    this.#metrics = metrics;
  }

  async watch(req: ApiRequest, res: ApiResponse): Promise<void> {
    const authorized = req.authorized!;
    const options = parseWatchOptions(
      authorized.requestInfo as ResourceRequestInfo,
      authorized.target?.name ?? (authorized.requestInfo as ResourceRequestInfo).name,
      this.#store.settings.limits.watchTimeout,
    );
    const release = this.#quota.acquire(authorized.caller, req.network);
    const labels = requestLabels(authorized.requestInfo, req.method!);
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
        () => this.#isStillAuthorized(req),
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
    return this.#endStreams([...this.#streams], 5_000);
  }

  /**
   * Ends the streams of kinds with a `decorate` hook, over up to a second: the policy changed what
   * a GET shows.
   */
  endDecoratedWatches(): void {
    void this.#endStreams(
      [...this.#streams].filter(({ hasDecoration }) => hasDecoration),
      1_000,
    );
  }

  async #endStreams(all: readonly WatchStream[], maxSpreadMs: number): Promise<void> {
    const spread = Math.min(maxSpreadMs, all.length * 10);
    await Promise.all(
      all.map(async (stream, i) => {
        await pause(spread * (i / all.length));
        stream.finish();
      }),
    );
  }

  async #isStillAuthorized(req: ApiRequest): Promise<boolean> {
    const { caller, owner } = req.authorized!;
    const current = await this.#reauthorize(req).catch(() => undefined);
    return (
      current !== undefined &&
      JSON.stringify([current.caller, current.owner]) === JSON.stringify([caller, owner])
    );
  }
}
