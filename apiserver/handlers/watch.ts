import type { Store } from '../../registry/store.js';
import type { Admission } from '../chain/authorization.js';
import type { Admitted, Req, Res } from '../http/message.js';
import type { Encoder } from '../http/response.js';
import type { ServerMeter } from '../chain/metrics.js';
import { Places } from './watch-quota.js';
import type { ResourceAsk } from '../request/request-info.js';
import { parseWatchOptions } from './watch-options.js';
import { WatchStream } from './watch-stream.js';

/** Streams of changes, one JSON event a line (docs/design/kubernetes.md#watches). */
export class Watcher {
  readonly #store: Store;
  readonly #admission: Admission;
  readonly #encoder: Encoder;
  readonly #again: (req: Req) => Promise<Admitted>;
  readonly #places: Places;
  readonly #streams = new Set<WatchStream>();
  readonly #meter: ServerMeter | undefined;

  /**
   * `again` asks anew who sent a request and whether it may stay; `meter` counts, where somebody
   * wants to know.
   */
  constructor(
    store: Store,
    admission: Admission,
    encoder: Encoder,
    again: (req: Req) => Promise<Admitted>,
    meter?: ServerMeter,
  ) {
    this.#store = store;
    this.#places = new Places(store.settings.limits);
    this.#admission = admission;
    this.#encoder = encoder;
    this.#again = again;
    this.#meter = meter;
  }

  async watch(req: Req, res: Res): Promise<void> {
    const admitted = req.admitted!;
    const start = parseWatchOptions(
      admitted.ask as ResourceAsk,
      admitted.target?.name ?? (admitted.ask as ResourceAsk).name,
      this.#store.settings.limits.watchTimeout,
    );
    const release = this.#places.take(admitted.caller, req.network);
    const series = this.#meter?.of(admitted.ask, req.method!);
    if (series) series.open += 1;
    try {
      this.#encoder.begin(req, res, 200);
      const stream = new WatchStream(
        this.#store,
        this.#admission,
        admitted,
        start,
        res,
        () => this.#stays(req),
        this.#meter,
      );
      this.#streams.add(stream);
      await stream.run().finally(() => this.#streams.delete(stream));
    } finally {
      release();
      if (series) series.open -= 1;
    }
  }

  /**
   * Ends every stream cleanly, spread over up to five seconds so that not all come back at once.
   */
  stop(): Promise<void> {
    return this.#end([...this.#streams], 5_000);
  }

  /**
   * Ends the streams of kinds that `view` completes, over up to a second: what it would say may be
   * another thing now, and an ended stream leads to a GET.
   */
  renewViews(): void {
    void this.#end(
      [...this.#streams].filter(({ viewed }) => viewed),
      1_000,
    );
  }

  async #end(all: readonly WatchStream[], most: number): Promise<void> {
    const spread = Math.min(most, all.length * 10);
    await Promise.all(
      all.map(async (stream, i) => {
        await new Promise((resolve) => {
          setTimeout(resolve, spread * (i / all.length));
        });
        stream.finish();
      }),
    );
  }

  async #stays(req: Req): Promise<boolean> {
    const { caller, owner } = req.admitted!;
    const now = await this.#again(req).catch(() => undefined);
    return (
      now !== undefined &&
      JSON.stringify([now.caller, now.owner]) === JSON.stringify([caller, owner])
    );
  }
}
