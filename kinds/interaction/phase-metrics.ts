import type { Log } from '../../observability/log.js';
import type { Metrics } from '../../observability/metrics/metrics.js';
import { type EncodedObject, encodedObjectOf } from '../../registry/encoded-object.js';
import type { Store } from '../../registry/store/store.js';
import type { Subscription } from '../../registry/watchcache/watch-cache.js';
import { Interaction, type InteractionObject } from './interaction.js';
import { Phase } from './schema.js';

type PhaseName = InteractionObject['status']['phase'];

const retryMs = 1_000;

/**
 * Counts the Interactions in the store by phase, from the watch cache. Expired ones count until
 * they are collected.
 */
export class PhaseMetrics {
  readonly #store: Store;
  readonly #log: Log;
  readonly #gauge: Metrics['interactions'];
  #subscription: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(store: Store, gauge: Metrics['interactions'], log: Log) {
    this.#store = store;
    this.#log = log;
    this.#gauge = gauge;
    this.#reset(new Map());
  }

  /**
   * Counts the stored Interactions page by page and then follows the watch cache. Retries after an
   * error.
   */
  async start(): Promise<void> {
    try {
      const counts = new Map<PhaseName, number>();
      const revision = await this.#store.eachPage(Interaction, (page) => {
        for (const entry of page) {
          const phase = phaseOf(encodedObjectOf(Interaction, entry));
          if (phase) counts.set(phase, (counts.get(phase) ?? 0) + 1);
        }
      });
      if (this.#stopped) return;
      this.#reset(counts);
      this.#subscription = this.#store.watchCache.subscribe(Interaction.resource, revision, {
        event: ({ before, after }) => {
          this.#adjust(before, -1);
          this.#adjust(after, 1);
        },
        end: () => this.#retryLater(),
      });
    } catch (error) {
      this.#log.warn({ err: error }, 'interactions could not be counted; trying again');
      this.#retryLater();
    }
  }

  /** Stops following; call it before the watch cache stops. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#subscription?.leave();
  }

  #reset(counts: ReadonlyMap<PhaseName, number>): void {
    for (const phase of Phase.options) this.#gauge.set({ phase }, counts.get(phase) ?? 0);
  }

  #adjust(stored: EncodedObject | undefined, by: 1 | -1): void {
    const phase = stored && phaseOf(stored);
    if (phase) this.#gauge.inc({ phase }, by);
  }

  #retryLater(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.start(), retryMs);
    this.#timer.unref();
  }
}

/** Returns undefined for an object that cannot be decoded; requests for it report the error. */
function phaseOf(stored: EncodedObject): PhaseName | undefined {
  try {
    return (stored.object as InteractionObject).status.phase;
  } catch {
    return undefined;
  }
}
